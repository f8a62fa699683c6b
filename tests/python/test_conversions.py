"""Conversions of base/numeric.h over all values of the narrow types, against ml_dtypes and NumPy."""

import ml_dtypes
import numpy as np
import pytest

import deep_accel as da

NARROW = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8e4m3": ml_dtypes.float8_e4m3fn,
    "f8e5m2": ml_dtypes.float8_e5m2,
    "f4e2m1": ml_dtypes.float4_e2m1fn,
}


def patterns(dtype):
    bits = 4 if dtype is ml_dtypes.float4_e2m1fn else 8 * np.dtype(dtype).itemsize
    return np.arange(2**bits, dtype=np.uint8 if bits <= 8 else np.uint16)


def same(a, b):
    np.testing.assert_array_equal(np.isnan(a), np.isnan(b))
    finite = ~np.isnan(b)
    np.testing.assert_array_equal(a[finite], b[finite])
    np.testing.assert_array_equal(np.signbit(a[finite]), np.signbit(b[finite]))


@pytest.mark.parametrize("name", NARROW)
def test_every_value_widens_exactly(name):
    values = patterns(NARROW[name]).view(NARROW[name])
    same(da.from_numpy(values).to("f32").numpy().astype(np.float64), values.astype(np.float64))


@pytest.mark.parametrize("source", NARROW)
@pytest.mark.parametrize("target", NARROW)
def test_every_value_converts_as_ml_dtypes_does(source, target):
    values = patterns(NARROW[source]).view(NARROW[source])
    if target == "f4e2m1":
        values = values[~np.isnan(values.astype(np.float32))]  # it has no NaN
    with np.errstate(all="ignore"):
        expected = values.astype(np.float32).astype(NARROW[target])
    actual = da.from_numpy(values).to(target).numpy()
    same(actual.astype(np.float64), expected.astype(np.float64))


@pytest.mark.parametrize("name", NARROW)
def test_halfway_points_round_to_even(name):
    """Of every two neighbours the point between, and its neighbours in f32."""
    values = patterns(NARROW[name]).view(NARROW[name]).astype(np.float32)
    values = np.unique(values[np.isfinite(values)])
    middle = ((values[:-1].astype(np.float64) + values[1:]) / 2).astype(np.float32)
    inputs = np.concatenate(
        [middle, np.nextafter(middle, np.float32(np.inf)), np.nextafter(middle, np.float32(-np.inf))]
    )
    with np.errstate(all="ignore"):
        expected = inputs.astype(NARROW[name]).astype(np.float64)
    same(da.from_numpy(inputs).to(name).numpy().astype(np.float64), expected)


@pytest.mark.parametrize(
    "source,target",
    [(a, b) for a in ("i16", "i8", "u8", "bool") for b in ("i64", "i32", "i16", "i8", "u8", "f32", "f16")],
)
def test_every_small_integer(source, target):
    dtype = da.numpy_dtype(source)
    values = np.arange(2 if source == "bool" else 2 ** (8 * dtype.itemsize)).astype(dtype)
    with np.errstate(all="ignore"):
        expected = values.astype(da.numpy_dtype(target))
    np.testing.assert_array_equal(da.from_numpy(values).to(target).numpy(), expected)
