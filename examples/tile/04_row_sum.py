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
    kernel = row_sum()
    for m, n in ((1, 1), (17, 511), (64, 2000)):
        x = np.random.default_rng(m).standard_normal((m, n), dtype=np.float32)
        bound = n * 2.0**-24 * np.abs(x).sum(1)  # of a sum of n numbers, in any order
        assert (np.abs(kernel(x) - x.astype(np.float64).sum(1)) <= bound).all()
    print("row sum: right")


if __name__ == "__main__":
    main()
