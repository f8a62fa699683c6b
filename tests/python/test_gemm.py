"""deep_accel.gemm against NumPy in double precision.

The bound is that of a sum of K rounded products in any order (Higham, "Accuracy and stability", 3.1).
"""

import ml_dtypes
import numpy as np
import pytest

import deep_accel
from deep_accel import gemm

ROUNDOFF = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}


def numbers(*shape, dtype=np.float32, seed=1):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def expect(result, a, b, scale=1.0):
    """result is a @ b within its bound."""
    a64, b64 = np.asarray(a, np.float64), np.asarray(b, np.float64)
    exact, size = a64 @ b64, np.abs(a64) @ np.abs(b64)
    unit = ROUNDOFF["float64" if result.dtype == np.float64 else "float32"]
    bound = (a64.shape[-1] + 4) * unit * size + 1.01 * ROUNDOFF[result.dtype.name] * np.abs(exact)
    assert result.shape == exact.shape
    assert (np.abs(np.asarray(result, np.float64) - exact) <= bound * scale).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, ml_dtypes.bfloat16])
def test_floats(dtype):
    a, b = numbers(37, 65, dtype=dtype), numbers(65, 130, dtype=dtype, seed=2)
    result = gemm(a, b)
    assert isinstance(result, np.ndarray) and result.dtype == dtype
    expect(result, a, b)


@pytest.mark.parametrize("left", [np.int8, np.uint8])
@pytest.mark.parametrize("right", [np.int8, np.uint8])
def test_integers_are_exact(left, right):
    rng = np.random.default_rng(3)
    a = rng.integers(np.iinfo(left).min, np.iinfo(left).max, (33, 300), left, endpoint=True)
    b = rng.integers(np.iinfo(right).min, np.iinfo(right).max, (300, 70), right, endpoint=True)
    np.testing.assert_array_equal(gemm(a, b), a.astype(np.int32) @ b.astype(np.int32))


@pytest.mark.parametrize(
    "shapes",
    [((5,), (5,)), ((5,), (5, 3)), ((4, 5), (5,)), ((2, 4, 5), (5, 3)), ((2, 1, 4, 5), (3, 5, 6)), ((4, 5), (2, 5, 3))],
)
def test_shapes_are_those_of_matmul(shapes):
    a, b = numbers(*shapes[0]), numbers(*shapes[1], seed=2)
    result = gemm(a, b)
    assert result.shape == np.matmul(a, b).shape
    np.testing.assert_allclose(result, np.matmul(a.astype(np.float64), b), rtol=0, atol=5 * 2.0**-22)


def test_strides_of_every_kind():
    a, b = numbers(40, 60), numbers(60, 50, seed=2)
    expect(gemm(a[::-1, ::-1], b[::-1]), a[::-1, ::-1], b[::-1])
    expect(gemm(a[::3, ::2], b[::2, ::3]), a[::3, ::2], b[::2, ::3])
    repeated = np.broadcast_to(a[0], (40, 60))
    expect(gemm(repeated, b), repeated, b)
    expect(gemm(np.asfortranarray(a), b.T.copy().T), a, b)
    expect(gemm(a.T.copy(), b.T.copy(), trans_a=True, trans_b=True), a, b)


def test_epilogue():
    from math import erf, sqrt

    a, b, c, bias = numbers(20, 30), numbers(30, 40, seed=2), numbers(20, 40, seed=3), numbers(40, seed=4)
    base = 0.5 * (a.astype(np.float64) @ b) + 2.0 * c + bias
    functions = {
        None: lambda x: x,
        "relu": lambda x: np.maximum(x, 0),
        "gelu": lambda x: x * (1 + np.vectorize(erf)(x / sqrt(2))) / 2,
        "gelu_tanh": lambda x: x * (1 + np.tanh(sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2,
        "silu": lambda x: x / (1 + np.exp(-x)),
    }
    # Slopes are below 1.13; magnitudes below 64; a few roundings more than the sum's.
    size = 0.5 * np.abs(a.astype(np.float64)) @ np.abs(b) + 2 * np.abs(c) + np.abs(bias)
    for name, function in functions.items():
        result = gemm(a, b, c, alpha=0.5, beta=2, bias=bias, activation=name)
        assert (np.abs(result - function(base)) <= 1.13 * 40 * 2.0**-24 * size).all(), name


@pytest.mark.parametrize(("m", "n"), [(30, 1), (30, 5), (2, 30)])
def test_few_rows_and_columns_with_bias(m, n):
    a, b, bias = numbers(m, 70), numbers(n, 70, seed=2), numbers(n, seed=3)
    # The bias as one more product with 1.
    wide, tall = np.hstack([a, np.ones((m, 1))]), np.vstack([b.T, bias])
    expect(gemm(a, b, bias=bias, trans_b=True), wide, tall)
    expect(gemm(a, b.T.copy(), bias=bias), wide, tall)


def test_output_is_written_in_place():
    a, b = numbers(20, 30), numbers(30, 40, seed=2)
    out = np.full((20, 40), np.nan, np.float32)
    assert gemm(a, b, out=out) is out
    expect(out, a, b)
    total = out.copy()
    gemm(a, b, total, out=total, beta=1)
    expect(total, 2 * a, b)
    columns = np.full((40, 20), np.nan, np.float32).T
    gemm(a, b, out=columns, bias=np.zeros(40, np.float32))
    expect(columns, a, b)


def test_precision_and_output_types():
    a, b = numbers(20, 30), numbers(30, 40, seed=2)
    result = gemm(a, b, precision="fp16", out_dtype="f32")
    expect(result, a.astype(np.float16), b.astype(np.float16))
    half = gemm(a.astype(np.float16), b.astype(np.float16), precision="fp16", tile_size=256)
    assert half.dtype == np.float16
    tensor = gemm(deep_accel.from_numpy(a), deep_accel.from_numpy(b))
    assert isinstance(tensor, deep_accel.Tensor)


def test_not_a_number_stays_where_it_belongs():
    a, b = numbers(40, 50), numbers(50, 60, seed=2)
    a[3, 7], b[9, 11], a[20, 0] = np.nan, np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        expected = a @ b
    result = gemm(a, b, activation="relu")
    np.testing.assert_array_equal(np.isnan(result), np.isnan(expected))
    np.testing.assert_array_equal(np.isposinf(result), np.isposinf(expected))


@pytest.mark.parametrize(
    ("arguments", "options", "error", "words"),
    [
        ((np.ones((2, 3)), np.ones((2, 3))), {}, ValueError, "'b'.*3 rows"),
        ((np.ones((2, 3)), np.ones((3, 2), np.float32)), {}, TypeError, "'b'.*f64"),
        ((np.ones((2, 3)), [[1]]), {}, TypeError, "'b'"),
        ((np.ones((2, 3)), np.ones((3, 2))), {"beta": 1}, ValueError, "'c'"),
        ((np.ones((2, 3)), np.ones((3, 2))), {"activation": "tanh"}, ValueError, "'activation'.*relu"),
        ((np.ones((2, 3)), np.ones((3, 2))), {"bias": np.ones(3)}, ValueError, "'bias'.*\\[2\\]"),
        ((np.ones((2, 3)), np.ones((3, 2))), {"threads": 0}, ValueError, "'threads'"),
        ((np.ones((2, 3)), np.ones((3, 2))), {"out_dtype": "i64"}, TypeError, "'out_dtype'"),
        ((np.ones((2, 3)), np.ones((3, 2))), {"out": np.ones((2, 3))}, ValueError, "'out'.*\\[2, 2\\]"),
    ],
)
def test_messages(arguments, options, error, words):
    with pytest.raises(error, match=words):
        gemm(*arguments, **options)


def test_output_may_not_share_memory_with_an_operand():
    memory = np.ones((4, 4), np.float32)
    with pytest.raises(ValueError, match="'out'.*'a'"):
        gemm(memory, np.ones((4, 4), np.float32), out=memory)
