"""5. Softmax: a few whole rows a block. The greatest of each row, the exponentials and their sum, the quotients.

The rows' length is a plain number here, so that a tile can hold them: one kernel for each length, compiled when first
asked for.
"""

import numpy as np

import deep_accel.tile as T


@T.jit
def softmax(N, rows=4):
    M = T.dynamic("M")

    @T.prim_func
    def main(X: T.Tensor((M, N), T.float32), Y: T.Tensor((M, N), T.float32)):
        with T.Kernel(T.ceildiv(M, rows)) as b:
            x = T.alloc_fragment((rows, N), T.float32)
            greatest = T.alloc_fragment((rows,), T.float32)
            total = T.alloc_fragment((rows,), T.float32)
            T.copy(X[b * rows, 0], x)
            T.reduce_max(x, greatest, dim=1)
            for i, j in T.Parallel(rows, N):
                x[i, j] = T.exp(x[i, j] - greatest[i])  # at most 1: no overflow
            T.reduce_sum(x, total, dim=1)
            for i, j in T.Parallel(rows, N):
                x[i, j] = x[i, j] / total[i]
            T.copy(x, Y[b * rows, 0])

    return main


def reference(x):
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def main():
    worst = 0.0
    for m, n in ((1, 1), (5, 100), (64, 1000)):
        x = 10 * np.random.default_rng(m).standard_normal((m, n), dtype=np.float32)
        # exp within 2 ulp, plus its argument's rounding, plus the sum of n terms.
        bound = (n + 64) * 2.0**-23 * reference(x) + 1e-37
        worst = max(worst, (np.abs(softmax(n)(x) - reference(x)) / bound).max())
    assert worst <= 1
    print(f"softmax: right, errors at most {worst:.2g} of their bound")


def measure():
    x, y = np.ones((2048, 4096), np.float32), np.zeros((2048, 4096), np.float32)
    seconds = softmax(4096).benchmark(x, y)
    print(f"2048 x 4096 in {seconds * 1e3:.2f} ms: {2 * x.nbytes / seconds * 1e-9:.1f} GB/s read and written")


if __name__ == "__main__":
    main()
    measure()
