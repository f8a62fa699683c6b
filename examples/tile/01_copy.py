"""1. Copy: the shape of every kernel. A grid of blocks; each loads a tile, and stores it.

Sizes that are not a multiple of the tile need no care: what a load reads outside of a tensor is 0, and what a store
writes outside is dropped.
"""

import numpy as np

import deep_accel.tile as T


@T.jit
def copy(block=1024):
    N = T.dynamic("N")  # any size, decided at each call

    @T.prim_func
    def main(X: T.Tensor((N,), T.float32), Y: T.Tensor((N,), T.float32)):
        with T.Kernel(T.ceildiv(N, block)) as b:
            tile = T.alloc_fragment((block,), T.float32)
            T.copy(X[b * block], tile)
            T.copy(tile, Y[b * block])

    return main


def main():
    kernel = copy()
    for n in (1, 1000, 4096, 100_003):
        x = np.random.default_rng(n).standard_normal(n, dtype=np.float32)
        np.testing.assert_array_equal(kernel(x), x)  # an output that is left out is allocated and returned
    print("copy: right, every element the same")


def measure():
    x, y = np.ones(1 << 24, np.float32), np.zeros(1 << 24, np.float32)
    seconds = copy().benchmark(x, y)
    print(f"64 MiB in {seconds * 1e3:.2f} ms: {2 * x.nbytes / seconds * 1e-9:.1f} GB/s read and written")


if __name__ == "__main__":
    main()
    measure()
