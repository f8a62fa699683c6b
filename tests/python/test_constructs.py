"""Constructs beyond those of test_language.py that hold and compute values: sizes, products, tiles and functions."""

import ml_dtypes
import numpy as np
import pytest
from conftest import numbers

import deep_accel.tile as T

F = T.float32


# Sizes -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m,n", [(1, 1), (7, 13), (64, 32), (65, 31)])
def test_dynamic_sizes_and_arithmetic_on_them(run, m, n):
    M, N = T.dynamic("M, N")

    @T.prim_func
    def kernel(A: T.Tensor((M, N), F), B: T.Tensor((N + 1, 2 * M), F)):
        with T.Kernel(T.ceildiv(M, 16), T.ceildiv(N, 16)) as (bm, bn):
            a = T.alloc_shared((16, 16), F)
            b = T.alloc_shared((16, 16), F)
            T.copy(A[bm * 16, bn * 16], a)
            T.transpose(a, b)
            T.copy(b, B[bn * 16 + 1, bm * 16])

    a, b = numbers(m, n), np.zeros((n + 1, 2 * m), np.float32)
    run(kernel, a, b)
    expected = np.zeros_like(b)
    expected[1:, :m] = a.T
    # Blocks at the edge write zeros beyond their part of the matrix.
    np.testing.assert_array_equal(b[:, :m], expected[:, :m])
    with pytest.raises(ValueError):
        run(kernel, a, np.zeros((n + 2, 2 * m), np.float32))


def test_sizes_by_name_and_strided_tensors(run):
    rows = T.dyn["rows"]

    @T.prim_func
    def kernel(A: T.StridedTensor[(rows, 8), ("s", 1), F], B: T.Tensor[[rows, 8], F]):  # noqa: F821
        with T.Kernel(rows) as i:
            T.copy(A[i, 0:8], B[i, 0:8])

    a = numbers(5, 20)[:, 3:11]
    b = np.zeros((5, 8), np.float32)
    run(kernel, a, b)
    np.testing.assert_array_equal(b, a)


def test_pointers_become_tensors(run):
    @T.prim_func
    def kernel(a: T.ptr, m: T.int32, b: T.ptr, n: T.int32):
        B = T.make_tensor(b, (n, m), F)
        A = T.make_tensor(a, (m, n), F)
        with T.Kernel(m) as i:
            for j in T.Parallel(n):
                B[j, i] = A[i, j] * 2

    a, b = numbers(5, 9), np.zeros((9, 5), np.float32)
    run(kernel, a, 5, b, 9)
    np.testing.assert_array_equal(b, 2 * a.T)
    with pytest.raises(ValueError):
        run(kernel, a, 5, b, 8)


def test_numbers_are_arguments(run):
    N = T.dynamic("N")

    @T.prim_func
    def kernel(X: T.Tensor((N,), F), scale: F, shift: T.int32, Y: T.Tensor((N,), F)):
        with T.Kernel(N) as i:
            Y[i] = X[i] * scale + shift

    x, y = numbers(9), np.zeros(9, np.float32)
    run(kernel, x, 0.5, -3, y)
    np.testing.assert_allclose(y, x * np.float32(0.5) - 3, rtol=1e-6)


# Products ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("transposed", [False, True])
def test_structured_sparse_product(run, transposed):
    M, N, K = 16, 24, 32
    shape = (K // 2, M) if transposed else (M, K // 2)

    @T.prim_func
    def kernel(A: T.Tensor(shape, F), E: T.Tensor(shape, T.int8), B: T.Tensor((K, N), F), C: T.Tensor((M, N), F)):
        with T.Kernel(1):
            a = T.alloc_shared(shape, F)
            e = T.alloc_shared(shape, T.int8)
            b = T.alloc_shared((K, N), F)
            c = T.alloc_fragment((M, N), F)
            T.copy(A, a)
            T.copy(E, e)
            T.copy(B, b)
            T.gemm_sp(a, e, b, c, transpose_A=transposed, transpose_E=transposed, clear_accum=True)
            T.copy(c, C)

    rng = np.random.default_rng(3)
    places = np.sort(np.argsort(rng.random((M, K // 4, 4)), axis=2)[:, :, :2], axis=2).astype(np.int8)
    values, b = numbers(M, K // 4, 2), numbers(K, N, seed=4)
    dense = np.zeros((M, K // 4, 4), np.float32)
    np.put_along_axis(dense, places.astype(np.int64), values, 2)
    a, e = values.reshape(M, -1), places.reshape(M, -1)
    if transposed:
        a, e = np.ascontiguousarray(a.T), np.ascontiguousarray(e.T)
    np.testing.assert_allclose(run(kernel, a, e, b), dense.reshape(M, K) @ b, rtol=1e-4, atol=1e-4)


def test_block_scaled_product(run):
    M, N, K, block = 16, 16, 64, 32

    @T.prim_func
    def kernel(
        A: T.Tensor((M, K), T.float8_e4m3), B: T.Tensor((K, N), T.float8_e4m3),
        SA: T.Tensor((M, K // block), F), SB: T.Tensor((K // block, N), F), C: T.Tensor((M, N), F),
    ):  # fmt: skip
        with T.Kernel(1):
            a = T.alloc_shared((M, K), T.float8_e4m3)
            b = T.alloc_shared((K, N), T.float8_e4m3)
            sa = T.alloc_shared((M, K // block), F)
            sb = T.alloc_shared((K // block, N), F)
            c = T.alloc_fragment((M, N), F)
            T.copy(A, a)
            T.copy(B, b)
            T.copy(SA, sa)
            T.copy(SB, sb)
            T.gemm(a, b, c, clear_accum=True, A_scale=sa, B_scale=sb)
            T.copy(c, C)

    a, b = (numbers(*s, seed=i).astype(ml_dtypes.float8_e4m3fn) for i, s in enumerate([(M, K), (K, N)]))
    sa, sb = np.abs(numbers(M, K // block, seed=5)), np.abs(numbers(K // block, N, seed=6))
    expected = (a.astype("f8") * sa.repeat(block, 1)) @ (b.astype("f8") * sb.repeat(block, 0))
    np.testing.assert_allclose(run(kernel, a, b, sa, sb), expected, rtol=1e-4, atol=1e-4)


def test_dot_products_of_bytes(run):
    @T.prim_func
    def kernel(A: T.Tensor((8, 16), T.int8), B: T.Tensor((8, 16), T.int8), C: T.Tensor((8,), T.int32)):
        with T.Kernel(8) as i:
            c = T.alloc_local((1,), T.int32)
            T.clear(c)
            for k in T.serial(4):
                T.dp4a(A[i, k * 4], B[i, k * 4], c)
            C[i] = c[0]

    rng = np.random.default_rng(1)
    a, b = (rng.integers(-128, 128, (8, 16), dtype=np.int8) for _ in range(2))
    np.testing.assert_array_equal(run(kernel, a, b), (a.astype(np.int32) * b).sum(1))


# Tiles -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name,reference", [("cumsum", np.cumsum), ("cummax", np.maximum.accumulate)])
@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("reverse", [False, True])
def test_scans_along_either_dimension(run, name, reference, dim, reverse):
    scan = getattr(T, name)

    @T.prim_func
    def kernel(A: T.Tensor((13, 21), F), B: T.Tensor((13, 21), F)):
        with T.Kernel(1):
            a = T.alloc_shared((13, 21), F)
            T.copy(A, a)
            scan(a, dim=dim, reverse=reverse)
            T.copy(a, B)

    a = numbers(13, 21)
    expected = np.flip(reference(np.flip(a, dim), axis=dim), dim) if reverse else reference(a, axis=dim)
    np.testing.assert_allclose(run(kernel, a), expected, rtol=1e-5, atol=1e-5)


def test_reductions_of_bits_products_and_onto_what_is_there(run):
    @T.prim_func
    def kernel(A: T.Tensor((5, 32), T.int32), B: T.Tensor((5, 5), T.int32)):
        with T.Kernel(1):
            a = T.alloc_fragment((5, 32), T.int32)
            out = T.alloc_fragment((5,), T.int32)
            T.copy(A, a)
            T.reduce_bitand(a, out)
            T.copy(out, B[0, :])
            T.reduce_bitor(a, out)
            T.copy(out, B[1, :])
            T.reduce_bitxor(a, out)
            T.copy(out, B[2, :])
            T.reduce_max(a, out)
            T.copy(out, B[3, :])
            T.reduce_sum(a, out, dim=1, clear=False)
            T.copy(out, B[4, :])

    a = np.random.default_rng(1).integers(1, 1 << 20, (5, 32), dtype=np.int32)
    expected = [f.reduce(a, 1) for f in (np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.maximum)]
    expected.append(expected[3] + a.sum(1, dtype=np.int32))
    np.testing.assert_array_equal(run(kernel, a), expected)


def test_not_a_number_in_reductions(run):
    @T.prim_func
    def kernel(A: T.Tensor((2, 8), F), B: T.Tensor((2, 2), F)):
        with T.Kernel(1):
            a = T.alloc_fragment((2, 8), F)
            out = T.alloc_fragment((2,), F)
            T.copy(A, a)
            T.reduce_max(a, out)
            T.copy(out, B[0, :])
            T.reduce_max(a, out, nan_propagate=True)
            T.copy(out, B[1, :])

    a = numbers(2, 8)
    a[0, 3] = np.nan
    np.testing.assert_array_equal(run(kernel, a), [np.fmax.reduce(a, 1), np.maximum.reduce(a, 1)])


@pytest.mark.parametrize("op,reference", [("sum", np.sum), ("max", np.max), ("min", np.min)])
def test_reducers(run, op, reference):
    @T.prim_func
    def kernel(A: T.Tensor((16, 12), F), B: T.Tensor((12,), F)):
        with T.Kernel(1):
            a = T.alloc_fragment((16, 12), F)
            out = T.alloc_reducer((12,), F, op=op)
            T.copy(A, a)
            T.reducer_init(out)
            for i, j in T.Parallel(16, 12):
                T.reducer_update(out, j, a[i, j])
            T.finalize_reducer(out)
            T.copy(out, B)

    a = numbers(16, 12)
    np.testing.assert_allclose(run(kernel, a), reference(a, axis=0), rtol=1e-5, atol=1e-5)


def test_views_share_their_elements(run):
    @T.prim_func
    def kernel(A: T.Tensor((64,), F), B: T.Tensor((8, 8), T.int32), C: T.Tensor((16, 4), F)):
        with T.Kernel(1):
            a = T.alloc_shared((64,), F)
            T.copy(A, a)
            square = T.reshape(a, (8, 8))
            for i in T.Parallel(8):
                square[i, i] = 0.0
            T.copy(T.view(a, (8, 8), T.int32), B)
            T.copy(T.Tensor((16, 4), F, a.data), C)

    a = numbers(64)
    b, c = run(kernel, a)
    expected = a.copy()
    expected[::9] = 0
    np.testing.assert_array_equal(b, expected.view(np.int32).reshape(8, 8))
    np.testing.assert_array_equal(c, expected.reshape(16, 4))


@pytest.mark.parametrize("axis", [0, 1])
def test_gather_and_scatter_along_either_axis(run, axis):
    shape, tile = (20, 6) if axis == 0 else (6, 20), (5, 6)  # a row of the tile for each index

    @T.prim_func
    def kernel(A: T.Tensor(shape, F), Rows: T.Tensor((5,), T.int32), B: T.Tensor(tile, F), C: T.Tensor(shape, F)):
        with T.Kernel(1):
            rows = T.alloc_shared((5,), T.int32)
            t = T.alloc_shared(tile, F)
            T.copy(Rows, rows)
            T.gather(A, rows, t, axis=axis)
            T.copy(t, B)
            T.scatter(t, rows, C, axis=axis)

    a, rows = numbers(*shape), np.array([19, 0, 7, 3, 11], np.int32)
    b, c = np.empty(tile, np.float32), np.zeros(shape, np.float32)
    run(kernel, a, rows, b, c)
    np.testing.assert_array_equal(b, np.moveaxis(a.take(rows, axis), axis, 0))
    expected = np.zeros(shape, np.float32)
    np.moveaxis(expected, axis, 0)[rows] = b
    np.testing.assert_array_equal(c, expected)


def test_asynchronous_copies_and_prefetch(run):
    @T.prim_func
    def kernel(A: T.Tensor((64, 32), F), B: T.Tensor((64, 32), F)):
        with T.Kernel(4) as b:
            one = T.alloc_shared((8, 32), F)
            two = T.alloc_shared((8, 32), F)
            T.prefetch(A[b * 16 : b * 16 + 16, :])
            first = T.async_copy(A[b * 16, 0], one)
            second = T.async_copy(A[b * 16 + 8, 0], two)
            T.wait(first)
            T.copy(one, B[b * 16 + 8, 0])
            T.wait(second)
            T.copy(two, B[b * 16, 0])

    a = numbers(64, 32)
    np.testing.assert_array_equal(run(kernel, a), a.reshape(4, 2, 8, 32)[:, ::-1].reshape(64, 32))


def test_values_outside_of_tensors(run):
    @T.prim_func
    def kernel(A: T.Tensor((5,), F), B: T.Tensor((8,), F)):
        with T.Kernel(1):
            T.annotate_safe_value({A: -7.0})
            T.annotate_layout({})
            T.use_swizzle(4)
            t = T.alloc_shared((8,), F)
            T.copy(A[2], t)
            T.copy(t, B)

    a = numbers(5)
    np.testing.assert_array_equal(run(kernel, a), [*a[2:], *[-7] * 5])


# Numbers -----------------------------------------------------------------------------------------------------------


def test_functions_of_the_published_language(run):
    @T.prim_func
    def kernel(X: T.Tensor((16,), F), Y: T.Tensor((10, 16), F)):
        with T.Kernel(16) as i:
            x = T.alloc_var(F, X[i])
            Y[0, i] = T.ieee_add(x, 1.0, "rn") + T.ieee_sub(x, 2.0) + T.ieee_mul(x, 3.0) + T.ieee_fdiv(x, 4.0, "rn")
            Y[1, i] = T.ieee_fmaf(x, x, 1.0, "rn") + T.ieee_fsqrt(x * x, "rn")
            Y[2, i] = T.Select(x > 0, T.exp(-x), T.exp(x)) + T.if_then_else(x > 0, 1.0, 2.0)
            Y[3, i] = T.Cast("float32", T.any_of(x > 1, x < -1)) + T.Cast("float32", T.all_of(x > 0, x < 1))
            Y[4, i] = T.floordiv(i, 3) * 10 + T.floormod(i, 3) + T.shift_left(i, 2) + T.shift_right(i, 1)
            Y[5, i] = T.bitwise_and(i, 6) + T.bitwise_or(i, 6) + T.bitwise_xor(i, 6) + (~i)
            Y[6, i] = T.max(T.min(x, T.infinity(F)), -T.infinity(F)) + T.clamp(x, -0.5, 0.5)
            Y[7, i] = T.pow(T.abs(x), 2.5) + T.log2(x * x + 1) + T.exp2(x) + T.log10(x * x + 1)
            Y[8, i] = T.log1p(x * x) + T.expm1(x) + T.tan(x) + T.trunc(x) + T.ceil(x) + T.round(x)
            Y[9, i] = T.isnan(x).astype("float32") + x.astype("float16").astype("float32")

    x = numbers(16)
    v, i = x.astype("f8"), np.arange(16)
    expected = [
        v + 1 + (v - 2) + v * 3 + v / 4,
        v * v + 1 + np.abs(v),
        np.exp(-np.abs(v)) + np.where(v > 0, 1, 2),
        (np.abs(v) > 1) * 1.0 + ((v > 0) & (v < 1)),
        i // 3 * 10 + i % 3 + (i << 2) + (i >> 1),
        (i & 6) + (i | 6) + (i ^ 6) + ~i,
        v + np.clip(v, -0.5, 0.5),
        np.abs(v) ** 2.5 + np.log2(v * v + 1) + np.exp2(v) + np.log10(v * v + 1),
        np.log1p(v * v) + np.expm1(v) + np.tan(v) + np.trunc(v) + np.ceil(v) + np.round(v),
        x.astype(np.float16).astype("f8"),
    ]
    np.testing.assert_allclose(run(kernel, x), expected, rtol=1e-5, atol=1e-5)


def test_fast_functions_by_their_names(run):
    # Names that begin with two underscores, which Python mangles in classes alone.
    @T.prim_func
    def kernel(X: T.Tensor((8,), F), Y: T.Tensor((8,), F)):
        with T.Kernel(8) as i:
            Y[i] = T.__exp(X[i]) + T.__log(X[i] * X[i] + 1) + T.__sin(X[i]) + T.__cos(X[i]) + T.__pow(2.0, X[i])

    v = (x := numbers(8)).astype("f8")
    expected = np.exp(v) + np.log(v * v + 1) + np.sin(v) + np.cos(v) + 2**v
    np.testing.assert_allclose(run(kernel, x), expected, rtol=1e-5)
