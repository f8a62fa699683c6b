"""3. Broadcast: a two-dimensional grid, and a row that all rows of a tile share: Y = X * scale + bias."""

import numpy as np

import deep_accel.tile as T


@T.jit
def scale_and_shift(rows=64, columns=256):
    M, N = T.dynamic("M, N")

    @T.prim_func
    def main(
        X: T.Tensor((M, N), T.float32),
        Scale: T.Tensor((N,), T.float32),
        Bias: T.Tensor((N,), T.float32),
        Y: T.Tensor((M, N), T.float32),
    ):
        with T.Kernel(T.ceildiv(M, rows), T.ceildiv(N, columns)) as (bm, bn):
            x = T.alloc_fragment((rows, columns), T.float32)
            scale = T.alloc_fragment((columns,), T.float32)
            bias = T.alloc_fragment((columns,), T.float32)
            T.copy(X[bm * rows, bn * columns], x)
            T.copy(Scale[bn * columns], scale)
            T.copy(Bias[bn * columns], bias)
            for i, j in T.Parallel(rows, columns):
                x[i, j] = x[i, j] * scale[j] + bias[j]
            T.copy(x, Y[bm * rows, bn * columns])

    return main


def main():
    kernel, worst = scale_and_shift(), 0.0
    for m, n in ((1, 1), (63, 257), (200, 1000)):
        rng = np.random.default_rng(m)
        x = rng.standard_normal((m, n), dtype=np.float32)
        scale, bias = rng.standard_normal(n, dtype=np.float32), rng.standard_normal(n, dtype=np.float32)
        expected = x.astype(np.float64) * scale + bias
        bound = 2.0**-23 * (np.abs(x * scale) + np.abs(bias))  # the product and the sum are rounded, once or each
        worst = max(worst, (np.abs(kernel(x, scale, bias) - expected) / bound).max())
    assert worst <= 1
    print(f"broadcast: right, errors at most {worst:.2g} of their bound")


def measure():
    x, y = np.ones((2048, 4096), np.float32), np.zeros((2048, 4096), np.float32)
    row = np.ones(4096, np.float32)
    seconds = scale_and_shift().benchmark(x, row, row.copy(), y)
    print(f"2048 x 4096 in {seconds * 1e3:.2f} ms: {2 * x.nbytes / seconds * 1e-9:.1f} GB/s read and written")


if __name__ == "__main__":
    main()
    measure()
