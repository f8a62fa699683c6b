"""4. Row sums: T.reduce_sum, and a loop over a row that is longer than a tile."""

import numpy as np

import deep_accel.tile as T


@T.jit
def row_sum(rows=16, columns=512):
    M, N = T.dynamic("M, N")

    @T.prim_func
    def main(X: T.Tensor((M, N), T.float32), Y: T.Tensor((M,), T.float32)):
        with T.Kernel(T.ceildiv(M, rows)) as b:
            x = T.alloc_fragment((rows, columns), T.float32)
            total = T.alloc_fragment((rows,), T.float32)
            T.clear(total)
            for k in T.serial(T.ceildiv(N, columns)):
                T.copy(X[b * rows, k * columns], x)  # beyond the row's end: zeros, which add nothing
                T.reduce_sum(x, total, dim=1, clear=False)
            T.copy(total, Y[b * rows])

    return main


def main():
    kernel, worst = row_sum(), 0.0
    for m, n in ((1, 1), (17, 511), (64, 2000)):
        x = np.random.default_rng(m).standard_normal((m, n), dtype=np.float32)
        bound = n * 2.0**-24 * np.abs(x).sum(1)  # of a sum of n numbers, in any order
        worst = max(worst, (np.abs(kernel(x) - x.astype(np.float64).sum(1)) / bound).max())
    assert worst <= 1
    print(f"row sum: right, errors at most {worst:.2g} of their bound")


def measure():
    x, y = np.ones((2048, 4096), np.float32), np.zeros(2048, np.float32)
    seconds = row_sum().benchmark(x, y)
    print(f"2048 x 4096 in {seconds * 1e3:.2f} ms: {x.nbytes / seconds * 1e-9:.1f} GB/s read")


if __name__ == "__main__":
    main()
    measure()
