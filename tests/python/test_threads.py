"""Kernels that are written for the threads of a block, compiled and interpreted, against NumPy."""

import numpy as np
import pytest
from conftest import numbers

import deep_accel.tile as T

F = T.float32


def integers(*shape, seed=1, high=100):
    return np.random.default_rng(seed).integers(0, high, shape, dtype=np.int32)


def test_block_sum_in_a_tree(run):
    """The textbook's reduction: halves meet in shared memory, a barrier between the steps."""

    @T.prim_func
    def kernel(X: T.Tensor((3, 256), F), Y: T.Tensor((3,), F)):
        with T.Kernel(3, threads=256) as b:
            s = T.alloc_shared((256,), F)
            t = T.get_thread_binding()
            s[t] = X[b, t]
            T.sync_threads()
            for k in T.unroll(8):
                if t < 128 >> k:
                    s[t] = s[t] + s[t + (128 >> k)]
                T.sync_threads()
            if t == 0:
                Y[b] = s[0]

    x = numbers(3, 256)
    np.testing.assert_allclose(run(kernel, x), x.sum(1), rtol=1e-5, atol=1e-5)


def test_two_dimensions_of_threads(run):
    @T.prim_func
    def kernel(X: T.Tensor((32, 48), F), Y: T.Tensor((48, 32), F)):
        with T.Kernel(2, 3, threads=(16, 16)) as (bx, by):
            s = T.alloc_shared((16, 17), F)
            tx, ty = T.get_thread_bindings()
            s[ty, tx] = X[bx * 16 + ty, by * 16 + tx]
            T.sync_threads()
            Y[by * 16 + ty, bx * 16 + tx] = s[tx, ty]

    x = numbers(32, 48)
    np.testing.assert_array_equal(run(kernel, x), x.T)


def test_shuffles(run):
    @T.prim_func
    def kernel(X: T.Tensor((64,), T.int32), Y: T.Tensor((6, 64), T.int32)):
        with T.Kernel(1, threads=64):
            t = T.get_thread_binding(0)
            v = X[t] + 0
            Y[0, t] = T.shfl_sync(v, 5)
            Y[1, t] = T.shfl_up(v, 3)
            Y[2, t] = T.shfl_down(v, 3)
            Y[3, t] = T.shfl_xor(v, 9)
            Y[4, t] = T.shfl_xor(v, 1, 4)
            Y[5, t] = T.get_warp_idx() * 100 + T.get_lane_idx()

    x = integers(64)
    groups = x.reshape(2, 32)
    lane = np.arange(32)
    expected = [
        np.repeat(groups[:, 5], 32),
        np.where(lane < 3, groups, np.roll(groups, 3, 1)).ravel(),  # lanes without a source keep their own
        np.where(lane >= 29, groups, np.roll(groups, -3, 1)).ravel(),
        groups[:, lane ^ 9].ravel(),
        x[np.arange(64) ^ 1],
        np.arange(64) // 32 * 100 + np.arange(64) % 32,
    ]
    np.testing.assert_array_equal(run(kernel, x), expected)


def test_votes_and_ballots(run):
    @T.prim_func
    def kernel(X: T.Tensor((64,), T.int32), Y: T.Tensor((9, 64), T.int32)):
        with T.Kernel(1, threads=64):
            t = T.get_thread_binding(0)
            yes = X[t] > 50
            Y[0, t] = T.cast(T.any_sync(yes), "int32")
            Y[1, t] = T.cast(T.all_sync(yes), "int32")
            Y[2, t] = T.ballot_count(yes)
            Y[3, t] = T.ballot(yes)
            Y[4, t] = T.ballot_sync(0xFFFF, yes)
            Y[5, t] = T.cast(T.syncthreads_or(yes), "int32")
            Y[6, t] = T.cast(T.syncthreads_and(X[t] < 100), "int32")
            Y[7, t] = T.syncthreads_count(yes)
            Y[8, t] = T.activemask()

    x = integers(64)
    x[32:] //= 2  # nobody of the second group
    yes = (x > 50).reshape(2, 32)
    bits = (yes.astype(np.uint64) << np.arange(32, dtype=np.uint64)).sum(1).astype(np.uint32).view(np.int32)
    per_group = [yes.any(1), yes.all(1), yes.sum(1), bits, bits & 0xFFFF]
    per_block = [yes.any(), True, yes.sum(), -1]
    expected = [np.repeat(v, 32) for v in per_group] + [np.repeat(v, 64) for v in per_block]
    np.testing.assert_array_equal(run(kernel, x), np.array(expected, np.int32))


@pytest.mark.parametrize("name", ["sum", "max", "min"])
def test_reductions_of_groups(run, name):
    reduction = getattr(T, f"warp_reduce_{name}")

    @T.prim_func
    def kernel(X: T.Tensor((64,), F), Y: T.Tensor((64,), F)):
        with T.Kernel(1, threads=64):
            t = T.get_thread_binding(0)
            Y[t] = reduction(X[t])

    x = numbers(64)
    expected = np.repeat(getattr(np, name)(x.reshape(2, 32), 1), 32)
    np.testing.assert_allclose(run(kernel, x), expected, rtol=1e-5, atol=1e-6)


def test_bits_of_groups(run):
    @T.prim_func
    def kernel(X: T.Tensor((32,), T.int32), Y: T.Tensor((2, 32), T.int32)):
        with T.Kernel(1, threads=32):
            for t in T.thread_binding(32, thread="threadIdx.x"):
                Y[0, t] = T.warp_reduce_bitand(X[t])
                Y[1, t] = T.warp_reduce_bitor(X[t])

    x = integers(32, high=1 << 20) | 5
    expected = [np.repeat(np.bitwise_and.reduce(x), 32), np.repeat(np.bitwise_or.reduce(x), 32)]
    np.testing.assert_array_equal(run(kernel, x), expected)


def test_matrix_times_vector_as_published(run):
    """The published language's example of a product with a vector: threads along N, and some along K that meet."""
    N, K, block_n, reduce_threads = 40, 96, 8, 16

    @T.prim_func
    def gemv(A: T.Tensor((K,), F), B: T.Tensor((N, K), F), C: T.Tensor((N,), F)):
        with T.Kernel(T.ceildiv(N, block_n), threads=(block_n, reduce_threads)) as bn:
            tn = T.get_thread_binding(0)
            tk = T.get_thread_binding(1)
            accum = T.alloc_local((1,), F)
            total = T.alloc_local((1,), F)
            T.clear(accum)
            for k in T.serial(T.ceildiv(K, reduce_threads)):
                at = k * reduce_threads + tk
                accum[0] += A[at] * B[bn * block_n + tn, at]
            with T.attr(
                T.comm_reducer(lambda x, y: x + y, [T.Cast(F, 0)]),
                "reduce_scope",
                T.reinterpret(T.uint64(0), dtype="handle"),
            ):
                T.evaluate(T.tvm_thread_allreduce(T.uint32(1), accum[0], True, total[0], tk, dtype="handle"))
            if tk == 0:
                C[bn * block_n + tn] = total[0]

    a, b = numbers(K), numbers(N, K, seed=2)
    np.testing.assert_allclose(run(gemv, a, b), b @ a, rtol=1e-4, atol=1e-4)


def test_copies_and_fills_are_shared_by_the_threads(run):
    @T.prim_func
    def kernel(X: T.Tensor((4, 64), F), Y: T.Tensor((4, 64), F)):
        with T.Kernel(1, threads=32):
            s = T.alloc_shared((4, 64), F)
            own = T.alloc_local((2,), F)
            t = T.get_thread_binding(0)
            T.fill(s, 1.0)
            T.sync_threads()
            own[0] = s[0, t]
            own[1] = s[3, 63 - t]
            T.copy(X, s)
            for i, j in T.Parallel(4, 64):
                s[i, j] = s[i, j] * 2
            T.sync_threads()
            s[0, t] = s[0, t] + own[0] + own[1]
            T.copy(s, Y)

    x = numbers(4, 64)
    expected = 2 * x
    expected[0, :32] += 2
    np.testing.assert_allclose(run(kernel, x), expected, rtol=2.0**-22)  # the three are added in any order


def test_local_variables_and_loops_of_threads(run):
    """Each thread counts for itself: Collatz steps, which differ from thread to thread."""

    @T.prim_func
    def kernel(X: T.Tensor((64,), T.int32), Y: T.Tensor((64,), T.int32)):
        with T.Kernel(1, threads=64):
            t = T.get_thread_binding(0)
            n = T.alloc_var("int32", X[t])
            steps = T.alloc_var("int32", init=0)
            while n != 1:
                if n % 2 == 0:
                    n = n // 2
                else:
                    n = 3 * n + 1
                steps += 1
            Y[t] = steps

    def collatz(n):
        steps = 0
        while n != 1:
            n, steps = (n // 2 if n % 2 == 0 else 3 * n + 1), steps + 1
        return steps

    x = integers(64) + 1
    np.testing.assert_array_equal(run(kernel, x), [collatz(int(n)) for n in x])


def test_bindings_and_extents(run):
    @T.prim_func
    def kernel(Y: T.Tensor((2, 3, 8), T.int32)):
        with T.Kernel(2, 3, threads=8):
            bx, by = T.get_block_bindings()
            t = T.get_thread_binding(0)
            Y[bx, T.get_block_binding(1), t] = (bx * T.get_block_extent(1) + by) * T.get_thread_extent(0) + t

    np.testing.assert_array_equal(run(kernel), np.arange(48).reshape(2, 3, 8))


def test_barrier_of_the_grid(run):
    """Every block reads what the next has written before the barrier."""

    @T.prim_func
    def kernel(X: T.Tensor((8, 16), F), Y: T.Tensor((8, 16), F)):
        Work = T.alloc_global((8, 16), F)
        with T.Kernel(8, threads=16) as b:
            for i in T.Parallel(16):
                Work[b, i] = X[b, i] * 2
            T.sync_grid()
            for i in T.Parallel(16):
                Y[b, i] = Work[(b + 1) % 8, 15 - i]

    x = numbers(8, 16)
    np.testing.assert_array_equal(run(kernel, x), 2 * np.roll(x, -1, 0)[:, ::-1])


def test_barrier_of_the_grid_in_code_for_threads(run):
    @T.prim_func
    def kernel(X: T.Tensor((4, 16), F), Y: T.Tensor((4, 16), F)):
        Work = T.alloc_global((4, 16), F)
        with T.Kernel(4, threads=16) as b:
            t = T.get_thread_binding(0)
            Work[b, t] = T.shfl_xor(X[b, t], 1, 16)
            T.sync_grid()
            Y[b, t] = Work[3 - b, t]

    x = numbers(4, 16)
    np.testing.assert_array_equal(run(kernel, x), x[::-1, np.arange(16) ^ 1])


def test_nothing_else_crosses_a_barrier_of_the_grid():
    with pytest.raises((ValueError, NameError), match="test_threads.py"):

        @T.prim_func
        def kernel(X: T.Tensor((4, 16), F)):
            with T.Kernel(4) as b:
                tile = T.alloc_shared((16,), F)
                T.copy(X[b, :], tile)
                T.sync_grid()
                T.copy(tile, X[b, :])

    with pytest.raises(ValueError, match="T.sync_grid stands in the body of T.Kernel itself"):

        @T.prim_func
        def looped(X: T.Tensor((4, 16), F)):
            with T.Kernel(4) as b:
                for i in T.serial(3):
                    X[b, i] = 0.0
                    T.sync_grid()


def test_messages_of_code_for_threads():
    with pytest.raises(IndexError, match="'dim' must be below 1, got 1"):

        @T.prim_func
        def dimension(X: T.Tensor((16,), F)):
            with T.Kernel(1, threads=16):
                X[T.get_thread_binding(1)] = 0.0

    with pytest.raises(ValueError, match="from 0 to the 16 threads .* got 0 to 32; make them equal"):

        @T.prim_func
        def extent(X: T.Tensor((16,), F)):
            with T.Kernel(1, threads=16):
                for t in T.thread_binding(0, 32, thread="threadIdx.x"):
                    X[t] = 0.0

    with pytest.raises(NotImplementedError, match="a power of two of threads, up to 1024, got 48"):

        @T.prim_func
        def count(X: T.Tensor((48,), F)):
            with T.Kernel(1, threads=48):
                X[T.get_thread_binding(0)] = T.syncthreads_count(True)

    with pytest.raises(NotImplementedError, match="T.gemm is an operation of the whole block"):

        @T.prim_func
        def product(X: T.Tensor((16, 16), F)):
            with T.Kernel(1, threads=16):
                a = T.alloc_shared((16, 16), F)
                t = T.get_thread_binding(0)
                a[t, t] = 1.0
                T.gemm(a, a, a)
