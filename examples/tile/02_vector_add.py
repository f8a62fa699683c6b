"""2. Vector addition: T.Parallel writes a formula for each element of a tile."""

import numpy as np

import deep_accel.tile as T


@T.jit
def add(block=1024):
    N = T.dynamic("N")

    @T.prim_func
    def main(A: T.Tensor((N,), T.float32), B: T.Tensor((N,), T.float32), C: T.Tensor((N,), T.float32)):
        with T.Kernel(T.ceildiv(N, block)) as b:
            a = T.alloc_fragment((block,), T.float32)
            other = T.alloc_fragment((block,), T.float32)
            T.copy(A[b * block], a)
            T.copy(B[b * block], other)
            for i in T.Parallel(block):
                a[i] += other[i]
            T.copy(a, C[b * block])

    return main


def main():
    kernel = add()
    for n in (1, 1000, 4096, 100_003):
        rng = np.random.default_rng(n)
        a, b = rng.standard_normal(n, dtype=np.float32), rng.standard_normal(n, dtype=np.float32)
        np.testing.assert_array_equal(kernel(a, b), a + b)
    print("vector add: right, every element as NumPy's")


def measure():
    a, b, c = (np.ones(1 << 23, np.float32) for _ in range(3))
    seconds = add().benchmark(a, b, c)
    print(f"8M elements in {seconds * 1e3:.2f} ms: {3 * a.nbytes / seconds * 1e-9:.1f} GB/s read and written")


if __name__ == "__main__":
    main()
    measure()
