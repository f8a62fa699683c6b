"""10. Dequantising product: B is 4 bits an element with a scale for each group of rows, and is decoded tile by tile.

Two elements stand in a byte, the even one low. A is f32 here; the product never sees the codes.
"""

import numpy as np

import deep_accel.tile as T


@T.jit
def dequant_product(N, K, group=32, block_m=64, block_n=64, block_k=64):
    M = T.dynamic("M")

    @T.prim_func
    def main(
        A: T.Tensor((M, K), T.float32),
        Codes: T.Tensor((N, K // 2), T.uint8),
        Scales: T.Tensor((N, K // group), T.float32),
        C: T.Tensor((M, N), T.float32),
    ):
        with T.Kernel(T.ceildiv(M, block_m), T.ceildiv(N, block_n)) as (bm, bn):
            a = T.alloc_shared((block_m, block_k), T.float32)
            codes = T.alloc_shared((block_n, block_k // 2), T.uint8)
            scales = T.alloc_shared((block_n, block_k // group), T.float32)
            b = T.alloc_shared((block_n, block_k), T.float32)
            acc = T.alloc_fragment((block_m, block_n), T.float32)
            T.clear(acc)
            for k in T.Pipelined(T.ceildiv(K, block_k), num_stages=2):
                T.copy(A[bm * block_m, k * block_k], a)
                T.copy(Codes[bn * block_n, k * (block_k // 2)], codes)
                T.copy(Scales[bn * block_n, k * (block_k // group)], scales)
                for i, j in T.Parallel(block_n, block_k):
                    code = (codes[i, j // 2] >> (j % 2 * 4)) & 15
                    b[i, j] = (code - 8) * scales[i, j // group]  # codes 0 to 15 stand for -8 to 7
                T.gemm(a, b, acc, transpose_B=True)
            T.copy(acc, C[bm * block_m, bn * block_n])

    return main


def main():
    worst = 0.0
    for m, n, k in ((1, 64, 64), (70, 100, 128)):
        rng = np.random.default_rng(m)
        a = rng.standard_normal((m, k), dtype=np.float32)
        codes = rng.integers(0, 16, (n, k), dtype=np.uint8)
        scales = rng.random((n, k // 32), dtype=np.float32)
        packed = codes[:, 0::2] | codes[:, 1::2] << 4
        b = (codes.astype(np.float64) - 8) * np.repeat(scales, 32, axis=1)
        bound = (k + 4) * 2.0**-24 * (np.abs(a) @ np.abs(b).T) * 1.001
        c = dequant_product(n, k)(a, packed, scales)
        worst = max(worst, (np.abs(c - a.astype(np.float64) @ b.T) / bound).max())
    assert worst <= 1
    print(f"dequantising product: right, errors at most {worst:.2g} of their bound")


def measure():
    n, group = 1024, 32
    a, c = np.ones((n, n), np.float32), np.zeros((n, n), np.float32)
    codes, scales = np.full((n, n // 2), 0x99, np.uint8), np.ones((n, n // group), np.float32)
    seconds = dequant_product(n, n, group).benchmark(a, codes, scales, c)
    print(f"{n} x {n} x {n} in {seconds * 1e3:.2f} ms: {2 * n**3 / seconds * 1e-9:.0f} GFLOP/s")


if __name__ == "__main__":
    main()
    measure()
