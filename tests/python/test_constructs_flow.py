"""Constructs beyond those of test_language.py that order and check what kernels do, and how they are asked for."""

import ctypes

import numpy as np
import pytest
from conftest import numbers

import deep_accel as da
import deep_accel.tile as T

F = T.float32


# Atomics -----------------------------------------------------------------------------------------------------------


def test_atomics_on_elements_and_windows(run):
    @T.prim_func
    def kernel(X: T.Tensor((8, 4), T.int32), Y: T.Tensor((5, 4), T.int32)):
        with T.Kernel(8) as b:
            t = T.alloc_shared((4,), T.int32)
            T.copy(X[b, :], t)
            T.atomic_add(Y[0, :], t)
            for i in T.serial(4):
                T.atomic_max(Y[1, i], X[b, i])
                T.atomic_min(Y[2, i], X[b, i])
                T.atomic_or(Y[3, i], X[b, i])
            T.atomic_addx4(Y[4, 0], X[b, 0])

    x = np.random.default_rng(1).integers(-1000, 1000, (8, 4), dtype=np.int32)
    y = np.zeros((5, 4), np.int32)
    run(kernel, x, y)
    expected = [x.sum(0), np.maximum(x.max(0), 0), np.minimum(x.min(0), 0), np.bitwise_or.reduce(x, 0), x.sum(0)]
    np.testing.assert_array_equal(y, expected)


def test_atomics_on_floats_and_pairs(run):
    @T.prim_func
    def kernel(X: T.Tensor((64, 2), F), Sum: T.Tensor((2,), F), Most: T.Tensor((2,), F)):
        with T.Kernel(64) as b:
            T.atomic_addx2(Sum[0], X[b, 0])
            T.atomic_max(Most[0], X[b, 0], memory_order="acq_rel")
            T.atomic_max(Most[1], X[b, 1])

    x, total, most = numbers(64, 2), np.zeros(2, np.float32), np.full(2, -np.inf, np.float32)
    run(kernel, x, total, most)
    np.testing.assert_allclose(total, x.sum(0), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(most, x.max(0))


def test_what_was_there_before_an_atomic(run):
    """Each block draws a number of its own."""

    @T.prim_func
    def kernel(Next: T.Tensor((1,), T.int32), Taken: T.Tensor((100,), T.int32)):
        with T.Kernel(100):
            number = T.atomic_add(Next[0], 1, return_prev=True)
            T.atomic_add(Taken[number], 1)

    count, taken = np.zeros(1, np.int32), np.zeros(100, np.int32)
    run(kernel, count, taken)
    assert count[0] == 100
    np.testing.assert_array_equal(taken, 1)


def test_atomic_loads_and_stores(run):
    @T.prim_func
    def kernel(X: T.Tensor((4,), T.int32), Y: T.Tensor((4,), T.int32)):
        with T.Kernel(4) as b:
            T.atomic_store(Y[b], T.atomic_load(X[b], memory_order="acquire") * 3, memory_order="release")

    x, y = np.arange(4, dtype=np.int32), np.zeros(4, np.int32)
    run(kernel, x, y)
    np.testing.assert_array_equal(y, 3 * x)


# Control flow ------------------------------------------------------------------------------------------------------


def test_ways_to_leave_a_loop(run):
    @T.prim_func
    def kernel(X: T.Tensor((4, 32), F), Y: T.Tensor((4,), T.int32)):
        with T.Kernel(4) as b:
            found = T.alloc_var("int32", init=-1)
            for i in T.Serial(32):
                if X[b, i] > 1.5:
                    found = i
                    T.loop_break()
            Y[b] = found

    x = numbers(4, 32)
    x[2] = 0
    over = x > 1.5
    np.testing.assert_array_equal(run(kernel, x), np.where(over.any(1), over.argmax(1), -1))


def test_loops_by_all_their_names(run):
    @T.prim_func
    def kernel(Y: T.Tensor((5, 12), T.int32)):
        with T.Kernel(1):
            for i in T.serial(2, 12, 3):
                Y[0, i] = i
            for i in T.Unroll(3, 9):
                Y[1, i] = i
            for i in T.Vectorized(12):
                Y[2, i] = i
            for i in T.Pipelined(4, 10, num_stages=2):
                Y[3, i] = i
            for i in range(1, 12, 5):
                Y[4, i] = i

    expected = np.zeros((5, 12), np.int32)
    for row, steps in enumerate([range(2, 12, 3), range(3, 9), range(12), range(4, 10), range(1, 12, 5)]):
        expected[row, list(steps)] = list(steps)
    y = np.zeros((5, 12), np.int32)
    run(kernel, y)
    np.testing.assert_array_equal(y, expected)


def test_pipeline_with_stages_and_order(run):
    @T.prim_func
    def kernel(A: T.Tensor((64, 16), F), B: T.Tensor((16,), F)):
        with T.Kernel(1):
            t = T.alloc_shared((16,), F)
            total = T.alloc_fragment((16,), F)
            T.clear(total)
            for k in T.Pipelined(64, num_stages=3, order=[0, 1], stage=[0, 2]):
                T.copy(A[k, :], t)
                for i in T.Parallel(16):
                    total[i] += t[i]
            T.copy(total, B)

    a = numbers(64, 16)
    np.testing.assert_allclose(run(kernel, a), a.sum(0), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"swizzle_size": 3}, {"column_major": False, "swizzle_size": 2}])
def test_schedulers_visit_every_tile_once(run, options):
    @T.prim_func
    def kernel(Y: T.Tensor((7, 5), T.int32)):
        with T.Kernel(3) as b:
            tiles = T.PersistentTileScheduler("tiles", 7, 5, num_workers=3, **options)
            tiles.init(b)
            while tiles.valid():
                Y[tiles.m_idx[0], tiles.n_idx[0]] = b * 100 + tiles.current_iter[0]
                tiles.next_tile()

    y = run(kernel)
    # Tile number t goes to block t % 3 in its turn t // 3.
    assert sorted(y.ravel()) == sorted(t % 3 * 100 + t // 3 for t in range(35))
    if options.get("column_major", True) and "swizzle_size" not in options:
        np.testing.assert_array_equal(y.T.ravel(), [t % 3 * 100 + t // 3 for t in range(35)])


@T.meta_class
class Accumulator:
    """Sums what it is given, but for negatives, of which it counts how many."""

    def __init__(self):
        self.total = T.alloc_var("float32", 0.0)
        self.skipped = T.alloc_var("int32", 0)

    def add(self, value):
        if value < 0:
            self.skipped[0] = self.skipped[0] + 1
        else:
            self.total[0] = self.total[0] + value


def test_classes_of_macros(run):
    @T.prim_func
    def kernel(X: T.Tensor((32,), F), Y: T.Tensor((2,), F)):
        with T.Kernel(1):
            sums = Accumulator()
            for i in T.serial(32):
                sums.add(X[i])
            Y[0] = sums.total[0]
            Y[1] = T.cast(sums.skipped[0], "float32")

    x = numbers(32)
    np.testing.assert_allclose(run(kernel, x), [x[x >= 0].sum(), (x < 0).sum()], rtol=1e-5)


# Checks, prints, foreign code --------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["compiled", "interpreted"])
def test_prints(way, capsys):
    @T.prim_func
    def kernel(X: T.Tensor((4,), F), Y: T.Tensor((4,), F)):
        with T.Kernel(1):
            t = T.alloc_shared((4,), F)
            T.copy(X, t)
            T.print("hello")
            T.print(t[2], msg="third: {}")
            T.print(t, msg="tile")
            T.copy(t, Y)

    call = T.compile(kernel) if way == "compiled" else T.compile(kernel).interpret
    call(np.array([1, 2, 3.5, 4], np.float32))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "hello" and lines[1] == "third: 3.5"
    assert lines[2].startswith("tile") and all(text in " ".join(lines[2:]) for text in ("1", "2", "3.5", "4"))


@pytest.mark.parametrize("way", ["compiled", "interpreted"])
def test_assertions_and_assumptions(way):
    @T.prim_func
    def kernel(X: T.Tensor((4,), T.int32), Y: T.Tensor((4,), T.int32)):
        with T.Kernel(4) as i:
            assert X[i] != 0, "X must not be zero"
            T.assume(X[i] < 100)
            Y[i] = 12 // X[i]

    call = T.compile(kernel) if way == "compiled" else T.compile(kernel).interpret
    np.testing.assert_array_equal(call(np.array([1, 2, 3, 4], np.int32)), [12, 6, 4, 3])
    with pytest.raises(ValueError, match="X must not be zero"):
        call(np.array([1, 2, 0, 4], np.int32))


def test_assumptions_are_checked_by_the_interpreter():
    @T.prim_func
    def kernel(X: T.Tensor((4,), T.int32), Y: T.Tensor((4,), T.int32)):
        with T.Kernel(4) as i:
            T.assume(X[i] < 100)
            Y[i] = X[i]

    with pytest.raises(ValueError, match="test_constructs_flow.py:"):
        T.compile(kernel).interpret(np.full(4, 200, np.int32))


def test_foreign_functions_of_numbers(run):
    """hypot of the C library."""

    @T.prim_func
    def kernel(X: T.Tensor((8,), T.float64), Y: T.Tensor((8,), T.float64), Z: T.Tensor((8,), T.float64)):
        with T.Kernel(8) as i:
            Z[i] = T.call_extern("float64", "hypot", X[i], Y[i])

    x, y = np.arange(8.0), np.arange(8.0)[::-1] * 2
    np.testing.assert_allclose(run(kernel, x, y.copy()), np.hypot(x, y), rtol=1e-15)


def test_foreign_functions_of_buffers(run):
    """memcpy of the C library, by both ways to say what is written."""

    @T.prim_func
    def kernel(X: T.Tensor((2, 8), F), Y: T.Tensor((2, 8), F)):
        with T.Kernel(2) as i:
            source = T.alloc_shared((8,), F)
            dest = T.alloc_shared((8,), F)
            T.copy(X[i, :], source)
            T.clear(dest)
            if i == 0:
                T.call_extern("handle", "memcpy", dest.access_ptr("w"), source.access_ptr("r"), T.cast(16, "int64"))
            else:
                T.call_extern("handle", "memcpy", dest, source, T.cast(32, "int64"), writes=[0])
            T.copy(dest, Y[i, :])

    x = numbers(2, 8)
    expected = x.copy()
    expected[0, 4:] = 0
    np.testing.assert_array_equal(run(kernel, x), expected)


def test_unknown_foreign_functions():
    @T.prim_func
    def kernel(Y: T.Tensor((1,), F)):
        with T.Kernel(1):
            Y[0] = T.call_extern("float32", "no_such_function_anywhere", 1.0)

    with pytest.raises(ValueError, match="no_such_function_anywhere.*neither registered nor in the process"):
        T.compile(kernel)
    assert ctypes  # the process is this one


# Asking for kernels ------------------------------------------------------------------------------------------------


def test_compiled_functions_tell_about_themselves():
    @T.jit(out_idx=-1, target="cpu", verbose=False)
    def scale(factor, block=64):
        N = T.dynamic("N")

        @T.prim_func
        def main(X: T.Tensor((N,), F), Y: T.Tensor((N,), F)):
            with T.Kernel(T.ceildiv(N, block)) as b:
                for i in T.Parallel(block):
                    Y[b * block + i] = X[b * block + i] * factor

        return main

    two, three = scale.par_compile([(2.0,), {"factor": 3.0, "block": 32}], num_workers=2)
    x = numbers(100)
    np.testing.assert_array_equal(two(x), x * 2)
    np.testing.assert_array_equal(three(x), x * 3)
    assert scale(2.0) is two and scale.compile(3.0, block=32) is three
    assert "tile.kernel @main" in scale.get_kernel_source(2.0) and str(scale.get_tir(2.0)) == two.get_kernel_source()
    assert two.explain()["kernels"][0]["name"] == "main"
    assert "main_phase0" in two.assembly()
    assert "tile.kernel" in T.lower(two.program, stop_after="simplify") and T.lower(two.program, target="aarch64-neon")


def test_outputs_come_in_the_order_that_was_asked_for():
    @T.prim_func
    def kernel(X: T.Tensor((4,), F), Y: T.Tensor((4,), F), Z: T.Tensor((4,), F)):
        with T.Kernel(4) as i:
            Y[i] = X[i] + 1
            Z[i] = X[i] + 2

    x = numbers(4)
    z, y = T.compile(kernel, out_idx=[-1, 1])(x)
    np.testing.assert_array_equal(y, x + 1)
    np.testing.assert_array_equal(z, x + 2)
    with pytest.raises(ValueError, match="'out_idx' must name tensors among its 3 arguments, got 3"):
        T.compile(kernel, out_idx=3)
    tensors = T.compile(kernel)(da.from_numpy(x))
    assert [type(t) for t in tensors] == [da.Tensor] * 2


def test_functions_of_arrays_return_what_they_return():
    @T.jit
    def both(X, scale=2.0):
        N = T.const("N")
        X: T.Tensor((N,), F)
        Twice = T.empty((N,), F)
        Less = T.empty((N,), F)
        with T.Kernel(N) as i:
            Less[i] = X[i] - scale
            Twice[i] = X[i] * scale
        return Twice, Less

    x = numbers(7)
    for result in (both(x), both(X=x), both(x, scale=2.0)):
        np.testing.assert_array_equal(result[0], 2 * x)
        np.testing.assert_array_equal(result[1], x - 2)
    assert len(both.cache) == 1


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_large_outputs_begin_at_a_line_of_the_cache(dtype):
    M = T.dynamic("M")

    @T.prim_func
    def double(A: T.Tensor((M, 512), dtype), B: T.Tensor((M, 512), dtype)):
        with T.Kernel(M) as i:
            for j in T.Parallel(512):
                B[i, j] = A[i, j] + A[i, j]

    kernel = T.compile(double)
    for rows in (3, 3000):
        a = numbers(rows, 512).astype(da.numpy_dtype(dtype))
        b = kernel(a)
        assert b.shape == a.shape and b.dtype == a.dtype and b.flags.writeable and (b == a + a).all()
        assert rows < 100 or b.ctypes.data % 64 == 0
