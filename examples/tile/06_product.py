"""6. Matrix product: tiles of A and B go by while a tile of C collects. T.Pipelined lets the compiler fetch ahead.

How tiles are laid out and packed, how registers are blocked and what is prefetched is the compiler's affair:
``kernel.explain()`` tells.
"""

import numpy as np

import deep_accel.tile as T


@T.jit
def product(block_m=256, block_n=256, block_k=256):
    M, N, K = T.dynamic("M, N, K")

    @T.prim_func
    def main(A: T.Tensor((M, K), T.float32), B: T.Tensor((K, N), T.float32), C: T.Tensor((M, N), T.float32)):
        with T.Kernel(T.ceildiv(M, block_m), T.ceildiv(N, block_n)) as (bm, bn):
            a = T.alloc_shared((block_m, block_k), T.float32)
            b = T.alloc_shared((block_k, block_n), T.float32)
            acc = T.alloc_fragment((block_m, block_n), T.float32)
            T.clear(acc)
            for k in T.Pipelined(T.ceildiv(K, block_k), num_stages=2):
                T.copy(A[bm * block_m, k * block_k], a)
                T.copy(B[k * block_k, bn * block_n], b)
                T.gemm(a, b, acc)
            T.copy(acc, C[bm * block_m, bn * block_n])

    return main


def main():
    kernel, worst = product(), 0.0
    for m, n, k in ((1, 1, 1), (100, 77, 300), (257, 255, 256)):
        rng = np.random.default_rng(m)
        a, b = rng.standard_normal((m, k), dtype=np.float32), rng.standard_normal((k, n), dtype=np.float32)
        bound = (k + 2) * 2.0**-24 * (np.abs(a) @ np.abs(b)) * 1.001
        worst = max(worst, (np.abs(kernel(a, b) - a.astype(np.float64) @ b.astype(np.float64)) / bound).max())
    assert worst <= 1
    print(f"product: right, errors at most {worst:.2g} of their bound")


def measure():
    n = 1024
    a, b, c = (np.ones((n, n), np.float32) for _ in range(3))
    seconds = product().benchmark(a, b, c)
    print(f"{n} x {n} x {n} in {seconds * 1e3:.2f} ms: {2 * n**3 / seconds * 1e-9:.0f} GFLOP/s")


if __name__ == "__main__":
    main()
    measure()
