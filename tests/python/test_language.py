"""Every construct of the language, through the compiler and through the interpreter, against NumPy."""

import numpy as np
import pytest
from conftest import numbers

import deep_accel.tile as T

F = T.float32


def tile_kernel(body, size=32, dtype="float32"):
    """A kernel that loads X, lets `body` work on the tile, and stores it to Y."""

    @T.prim_func
    def kernel(X: T.Tensor((size,), F), Y: T.Tensor((size,), dtype)):
        with T.Kernel(1):
            x = T.alloc_shared((size,), F)
            y = T.alloc_shared((size,), dtype)
            T.copy(X, x)
            body(x, y)
            T.copy(y, Y)

    return kernel


def test_windows_on_both_sides(run):
    @T.prim_func
    def kernel(A: T.Tensor((4, 8, 16), F), B: T.Tensor((4, 16, 8), F)):
        with T.Kernel(4) as b:
            t = T.alloc_shared((8, 16), F)
            u = T.alloc_shared((16, 8), F)
            T.copy(A[b, :, :], t)
            T.transpose(t, u)
            T.copy(u[0:8, :], B[b, 0:8, :])
            T.copy(u[8:16, 0:8], B[b, 8, 0])

    a = numbers(4, 8, 16)
    np.testing.assert_array_equal(run(kernel, a), a.swapaxes(1, 2))


def test_middle_dimensions_are_kept(run):
    @T.prim_func
    def kernel(A: T.Tensor((6, 3, 8), F), B: T.Tensor((3, 6, 8), F)):
        with T.Kernel(3, 2) as (h, b):
            t = T.alloc_shared((3, 8), F)
            T.copy(A[b * 3 : (b + 1) * 3, h, :], t)
            T.copy(t, B[h, b * 3 : b * 3 + 3, :])

    a = numbers(6, 3, 8)
    np.testing.assert_array_equal(run(kernel, a), a.swapaxes(0, 1))


def test_global_to_global_and_whole_tensors(run):
    @T.prim_func
    def kernel(A: T.Tensor((8, 8), F), B: T.Tensor((8, 8), F)):
        with T.Kernel(2) as b:
            T.copy(A[b * 4 : b * 4 + 4, :], B[b * 4 : b * 4 + 4, :])

    a = numbers(8, 8)
    np.testing.assert_array_equal(run(kernel, a), a)


def test_branches_and_conditions(run):
    @T.macro
    def body(x, y):
        for i in T.Parallel(32):
            if i < 8 or i >= 28:
                y[i] = -x[i]
            elif not (8 <= i < 16):
                y[i] = x[i] if x[i] > 0 else 0.0
            else:
                y[i] = T.if_then_else(i > 8, x[i - 1], 100.0)

    x = numbers(32)
    i = np.arange(32)
    shifted = np.where(i > 8, np.roll(x, 1), 100)
    expected = np.where((i < 8) | (i >= 28), -x, np.where((i >= 8) & (i < 16), shifted, np.maximum(x, 0)))
    np.testing.assert_array_equal(run(tile_kernel(body), x), expected.astype(np.float32))


def test_loops_carry_plain_variables(run):
    @T.macro
    def body(x, y):
        T.clear(y)
        total = 0.0
        for i in range(32):
            total += x[i]
            if total < 0:
                total = 0.0
            y[i] = total

    x = numbers(32)
    expected, total = [], np.float32(0)
    for v in x:
        total = max(np.float32(total + v), np.float32(0))
        expected.append(total)
    np.testing.assert_allclose(run(tile_kernel(body), x), expected, rtol=1e-6, atol=1e-6)


def test_while_break_and_continue(run):
    @T.macro
    def body(x, y):
        T.clear(y)
        n = 0
        while n < 20:
            n += 1
            if n % 2 == 0:
                continue
            y[n] = n * 1.0
        for i in T.serial(32):
            if i == 5:
                break
            y[i] += 100.0

    i = np.arange(32)
    expected = np.where((i % 2 == 1) & (i < 20), i, 0) + np.where(i < 5, 100, 0)
    np.testing.assert_array_equal(run(tile_kernel(body), numbers(32)), expected.astype(np.float32))


def test_variables_and_unroll(run):
    @T.macro
    def body(x, y):
        count = T.alloc_var("int32", 0)
        factors = [1.0, 2.0, 4.0]
        T.clear(y)
        for i in T.serial(16):
            if x[i] > 0:
                count = count + 1
        y[0] = T.cast(count, "float32")
        for k in T.unroll(3):
            y[k + 1] = factors[k]
        for i, j in T.grid(2, 3):
            y[8 + i * 3 + j] += 1.0

    x = numbers(32)
    y = run(tile_kernel(body), x)
    assert y[0] == (x[:16] > 0).sum()
    np.testing.assert_array_equal(y[1:4], [1, 2, 4])
    np.testing.assert_array_equal(y[8:14], 1)


@pytest.mark.parametrize(
    "kind,reference",
    [
        ("sum", np.sum),
        ("max", np.max),
        ("min", np.min),
        ("abssum", lambda a, axis: np.abs(a).sum(axis)),
        ("absmax", lambda a, axis: np.abs(a).max(axis)),
    ],
)
@pytest.mark.parametrize("dim", [0, 1])
def test_reductions(run, kind, reference, dim):
    size = (16, 8)[1 - dim]

    @T.prim_func
    def kernel(A: T.Tensor((16, 8), F), B: T.Tensor((size,), F)):
        with T.Kernel(1):
            a = T.alloc_fragment((16, 8), F)
            b = T.alloc_fragment((size,), F)
            T.copy(A, a)
            T.reduce(a, b, kind, dim=dim)
            T.copy(b, B)

    a = numbers(16, 8)
    np.testing.assert_allclose(run(kernel, a), reference(a, axis=dim), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("reverse", [False, True])
def test_scans(run, reverse):
    @T.macro
    def body(x, y):
        T.cumsum(x, y, dim=0, reverse=reverse)

    x = numbers(32)
    expected = np.cumsum(x[::-1])[::-1] if reverse else np.cumsum(x)
    np.testing.assert_allclose(run(tile_kernel(body), x), expected, rtol=1e-5, atol=1e-5)


def test_accumulation_in_parallel_is_a_reduction(run):
    @T.prim_func
    def kernel(A: T.Tensor((8, 16), F), B: T.Tensor((8,), F)):
        with T.Kernel(1):
            a = T.alloc_fragment((8, 16), F)
            b = T.alloc_fragment((8,), F)
            T.copy(A, a)
            T.clear(b)
            for i, j in T.Parallel(8, 16):
                b[i] += a[i, j]
            T.copy(b, B)

    a = numbers(8, 16)
    np.testing.assert_allclose(run(kernel, a), a.sum(1), rtol=1e-5, atol=1e-5)


def test_gather_and_scatter(run):
    @T.prim_func
    def kernel(A: T.Tensor((10, 4), F), Rows: T.Tensor((6,), T.int32), B: T.Tensor((6, 4), F), D: T.Tensor((10, 4), F)):
        with T.Kernel(1):
            rows = T.alloc_shared((6,), T.int32)
            t = T.alloc_shared((6, 4), F)
            T.copy(Rows, rows)
            T.gather(A, rows, t, fill=-1.0)
            T.copy(t, B)
            T.scatter(t, rows, D, op="sum")

    a, rows = numbers(10, 4), np.array([3, 0, 3, -1, 99, 9], np.int32)
    b, d = np.empty((6, 4), np.float32), np.zeros((10, 4), np.float32)
    run(kernel, a, rows, b, d)
    inside = (rows >= 0) & (rows < 10)
    expected = np.where(inside[:, None], a[np.where(inside, rows, 0)], -1).astype(np.float32)
    np.testing.assert_array_equal(b, expected)
    summed = np.zeros_like(d)
    np.add.at(summed, rows[inside], expected[inside])
    np.testing.assert_array_equal(d, summed)


def test_atomics_meet(run):
    @T.prim_func
    def kernel(X: T.Tensor((64,), T.int32), Count: T.Tensor((4,), T.int32)):
        with T.Kernel(8) as b:
            for i in T.serial(8):
                T.atomic_add(Count[X[b * 8 + i]], 1)

    x = np.random.default_rng(1).integers(0, 4, 64, dtype=np.int32)
    count = np.zeros(4, np.int32)
    run(kernel, x, count)
    np.testing.assert_array_equal(count, np.bincount(x, minlength=4))


def test_direct_elements_are_guarded(run):
    N = T.dynamic("N")

    @T.prim_func
    def kernel(X: T.Tensor((N,), F), Y: T.Tensor((N,), F)):
        with T.Kernel(T.ceildiv(N, 16)) as b:
            for i in T.Parallel(16):
                Y[b * 16 + i] = X[b * 16 + i] + X[b * 16 + i + 1]  # beyond the end: 0

    x = numbers(37)
    np.testing.assert_allclose(run(kernel, x), x + np.append(x[1:], np.float32(0)), rtol=1e-6)


def test_mathematics(run):
    @T.macro
    def body(x, y):
        for i in T.Parallel(32):
            a = T.exp(x[i]) + T.log(x[i] * x[i] + 1) + T.tanh(x[i]) + T.sqrt(T.abs(x[i])) + T.sigmoid(x[i])
            b = T.max(x[i], 0.5) + T.min(x[i], -0.5) + T.clamp(x[i], -1, 1) + T.floor(x[i]) + abs(x[i]) ** 2
            y[i] = a + b + T.cos(x[i]) + T.sin(x[i]) + T.erf(0.0) + T.rsqrt(x[i] * x[i] + 1.0)

    x = numbers(32)
    v = x.astype(np.float64)
    a = np.exp(v) + np.log(v * v + 1) + np.tanh(v) + np.sqrt(abs(v)) + 1 / (1 + np.exp(-v))
    b = np.maximum(v, 0.5) + np.minimum(v, -0.5) + np.clip(v, -1, 1) + np.floor(v) + v * v
    np.testing.assert_allclose(
        run(tile_kernel(body), x), a + b + np.cos(v) + np.sin(v) + 1 / np.sqrt(v * v + 1), rtol=2e-5, atol=1e-5
    )


def test_casts_and_bits(run):
    @T.macro
    def body(x, y):
        for i in T.Parallel(32):
            rounded = T.cast(x[i] * 100, "float16")
            y[i] = T.cast(T.reinterpret(x[i], "int32") & 0xFF, "int32") + T.cast(rounded, "int32") // 3 + (i % 4 << 2)

    x = numbers(32)
    whole = (x * np.float32(100)).astype(np.float16).astype(np.int32)
    expected = (x.view(np.int32) & 0xFF) + whole // 3 + (np.arange(32) % 4 << 2)
    np.testing.assert_array_equal(run(tile_kernel(body, dtype="int32"), x), expected)


def test_narrow_products(run):
    @T.prim_func
    def kernel(A: T.Tensor((16, 32), T.bfloat16), B: T.Tensor((24, 32), T.bfloat16), C: T.Tensor((16, 24), F)):
        with T.Kernel(1):
            a = T.alloc_shared((16, 32), T.bfloat16)
            b = T.alloc_shared((24, 32), T.bfloat16)
            c = T.alloc_fragment((16, 24), F)
            T.copy(A, a)
            T.copy(B, b)
            T.gemm(a, b, c, transpose_B=True, clear_accum=True)
            T.copy(c, C)

    import ml_dtypes

    a, b = numbers(16, 32).astype(ml_dtypes.bfloat16), numbers(24, 32, seed=2).astype(ml_dtypes.bfloat16)
    np.testing.assert_allclose(run(kernel, a, b), a.astype(np.float32) @ b.astype(np.float32).T, rtol=1e-5, atol=1e-5)


def test_threads_and_shuffles(run):
    @T.prim_func
    def kernel(X: T.Tensor((64,), F), Y: T.Tensor((64,), F)):
        with T.Kernel(1, threads=64):
            s = T.alloc_shared((64,), F)
            t = T.get_thread_binding(0)
            s[t] = X[t]
            T.sync_threads()
            Y[t] = s[63 - t] + T.warp_reduce_sum(T.cast(T.get_lane_idx(), "float32"))

    x = numbers(64)
    np.testing.assert_allclose(run(kernel, x), x[::-1] + np.float32(31 * 32 / 2), rtol=1e-6)


def test_persistent_blocks(run):
    @T.prim_func
    def kernel(Y: T.Tensor((5, 7), F)):
        with T.Kernel(4) as b:
            for m, n in T.Persistent([5, 7], 4, b):
                Y[m, n] = T.cast(m * 10 + n, "float32")

    m, n = np.mgrid[:5, :7]
    np.testing.assert_array_equal(run(kernel), (m * 10 + n).astype(np.float32))


def test_scalar_arguments(run):
    @T.prim_func
    def kernel(X: T.Tensor((8,), F), alpha: T.float32, shift: T.int32, Y: T.Tensor((8,), F)):
        with T.Kernel(1):
            for i in T.Parallel(8):
                Y[i] = alpha * X[i] + shift

    x = numbers(8)
    np.testing.assert_allclose(run(kernel, x, 0.5, 3), 0.5 * x + 3, rtol=1e-6)


def test_hints_are_accepted_and_views_alias(run):
    @T.macro
    def body(x, y):
        T.annotate_layout({x: None})
        T.assume(x[0] == x[0])
        square = T.reshape(x, (4, 8))
        for i, j in T.Parallel(4, 8):
            y[i * 8 + j] = square[i, j]

    x = numbers(32)
    np.testing.assert_array_equal(run(tile_kernel(body), x), x)


def test_eager_functions_compile_for_their_shapes():
    @T.jit
    def add(A, B, block=64):
        M, N = T.const("M, N")
        A: T.Tensor[[M, N], T.float32]
        B: T.Tensor[[M, N], T.float32]
        C = T.empty((M, N), T.float32)
        with T.Kernel(T.ceildiv(N, block), M) as (b, m):
            for i in T.Parallel(block):
                C[m, b * block + i] = A[m, b * block + i] + B[m, b * block + i]
        return C

    for shape in ((3, 50), (2, 128)):
        a, b = numbers(*shape), numbers(*shape, seed=2)
        np.testing.assert_array_equal(add(a, b), a + b)
    assert len(add.cache) == 2
    with pytest.raises(ValueError, match="size M of 'B' must be 3, got 2"):
        add(numbers(3, 50), numbers(2, 50))


def test_lazy_functions_are_cached():
    @T.jit(out_idx=[-1])
    def fill(n, value=1.0):
        @T.prim_func
        def main(Y: T.Tensor((n,), F)):
            with T.Kernel(n) as i:
                Y[i] = value

        return main

    assert fill(4) is fill(4)
    np.testing.assert_array_equal(fill(4)(), 1)
    np.testing.assert_array_equal(fill(5, value=2.5)(), np.full(5, 2.5, np.float32))
