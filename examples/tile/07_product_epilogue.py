"""7. Product with a fused epilogue: Y = gelu(A B + bias). The tile of C is worked on before it leaves the registers.

A macro is a piece of a kernel with a name: it is written in place of each call.
"""

import math

import numpy as np

import deep_accel.tile as T


@T.macro
def gelu(tile, rows, columns):
    for i, j in T.Parallel(rows, columns):
        tile[i, j] = 0.5 * tile[i, j] * (1.0 + T.erf(tile[i, j] * math.sqrt(0.5)))


@T.jit
def product_gelu(block_m=128, block_n=128, block_k=128):
    M, N, K = T.dynamic("M, N, K")

    @T.prim_func
    def main(
        A: T.Tensor((M, K), T.float32),
        B: T.Tensor((K, N), T.float32),
        Bias: T.Tensor((N,), T.float32),
        Y: T.Tensor((M, N), T.float32),
    ):
        with T.Kernel(T.ceildiv(M, block_m), T.ceildiv(N, block_n)) as (bm, bn):
            a = T.alloc_shared((block_m, block_k), T.float32)
            b = T.alloc_shared((block_k, block_n), T.float32)
            bias = T.alloc_fragment((block_n,), T.float32)
            acc = T.alloc_fragment((block_m, block_n), T.float32)
            T.clear(acc)
            for k in T.Pipelined(T.ceildiv(K, block_k), num_stages=2):
                T.copy(A[bm * block_m, k * block_k], a)
                T.copy(B[k * block_k, bn * block_n], b)
                T.gemm(a, b, acc)
            T.copy(Bias[bn * block_n], bias)
            for i, j in T.Parallel(block_m, block_n):
                acc[i, j] += bias[j]
            gelu(acc, block_m, block_n)
            T.copy(acc, Y[bm * block_m, bn * block_n])

    return main


def reference(a, b, bias):
    x = a.astype(np.float64) @ b.astype(np.float64) + bias
    return 0.5 * x * (1 + np.vectorize(math.erf)(x * math.sqrt(0.5)))


def main():
    kernel, worst = product_gelu(), 0.0
    for m, n, k in ((1, 1, 1), (100, 77, 65), (130, 128, 64)):
        rng = np.random.default_rng(m)
        a, b = rng.standard_normal((m, k), dtype=np.float32), rng.standard_normal((k, n), dtype=np.float32)
        bias = rng.standard_normal(n, dtype=np.float32)
        size = np.abs(a) @ np.abs(b) + np.abs(bias)
        # gelu's slope is below 1.13; its own operations add a few roundings of the value.
        bound = (k + 32) * 2.0**-23 * (size + 1)
        worst = max(worst, (np.abs(kernel(a, b, bias) - reference(a, b, bias)) / bound).max())
    assert worst <= 1
    print(f"product with epilogue: right, errors at most {worst:.2g} of their bound")


def measure():
    n = 1024
    a, b, y = (np.ones((n, n), np.float32) for _ in range(3))
    seconds = product_gelu().benchmark(a, b, np.ones(n, np.float32), y)
    print(f"{n} x {n} x {n} in {seconds * 1e3:.2f} ms: {2 * n**3 / seconds * 1e-9:.0f} GFLOP/s")


if __name__ == "__main__":
    main()
    measure()
