"""deep_accel.Tensor: NumPy and DLPack in and out without copies, strides, packed dtypes, exceptions."""

import gc

import ml_dtypes
import numpy as np
import pytest

import deep_accel as da

DTYPES = [np.float64, np.float32, np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]
DTYPES += [np.int64, np.int32, np.int16, np.int8, np.uint8, np.bool_]


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_shares_memory_both_ways(dtype):
    a = np.arange(12).reshape(3, 4).astype(dtype)
    t = da.from_numpy(a)
    assert t.shape == (3, 4) and da.numpy_dtype(t.dtype) == a.dtype
    back = t.numpy()
    assert back.dtype == a.dtype and np.shares_memory(back, a)
    a[1, 2] = 0
    np.testing.assert_array_equal(back.view(np.uint8), a.view(np.uint8))


@pytest.mark.parametrize("view", [np.s_[::-1], np.s_[:, ::-1], np.s_[::2, 1:3], np.s_[1:1]])
@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
def test_strided_views(view, dtype):
    a = np.arange(24).reshape(4, 6).astype(dtype)[view]
    t = da.from_numpy(a)
    assert t.shape == a.shape
    np.testing.assert_array_equal(np.array(t.tolist()).reshape(a.shape), a.astype(np.float64))
    np.testing.assert_array_equal(t.numpy(), a)
    np.testing.assert_array_equal(t.copy().numpy(), a)


def test_views_of_tensors():
    a = np.arange(24.0).reshape(2, 3, 4)
    t = da.from_numpy(a)
    np.testing.assert_array_equal(t[1].numpy(), a[1])
    np.testing.assert_array_equal(t[:, 1:, ::2].numpy(), a[:, 1:, ::2])
    np.testing.assert_array_equal(t.transpose().numpy(), a.swapaxes(-2, -1))
    np.testing.assert_array_equal(t.permute([2, 0, 1]).numpy(), a.transpose(2, 0, 1))
    np.testing.assert_array_equal(t.reshape([6, -1]).numpy(), a.reshape(6, -1))


@pytest.mark.parametrize("shape", [(0,), (3, 0, 2), ()])
def test_zero_sizes_and_scalars(shape):
    a = np.zeros(shape, np.float32)
    assert da.from_numpy(a).numpy().shape == shape
    assert da.Tensor.zeros(list(shape)).shape == shape


@pytest.mark.parametrize("dtype", [ml_dtypes.int4, ml_dtypes.float4_e2m1fn])
def test_packed_dtypes_are_copied(dtype):
    a = np.array([[0, 1, -1], [2, -2, 3], [4, -4, 0]]).astype(dtype)
    t = da.from_numpy(a)
    assert t.nbytes == 5  # nine halves of bytes
    np.testing.assert_array_equal(t.numpy().astype(np.float32), a.astype(np.float32))


@pytest.mark.parametrize(
    "dtype", [np.float64, np.float32, np.float16, np.int64, np.int32, np.int16, np.int8, np.uint8, np.bool_]
)
def test_dlpack_both_ways(dtype):
    a = np.arange(6).reshape(2, 3).astype(dtype)
    t = da.from_dlpack(a)
    assert t.data_ptr == a.ctypes.data
    b = np.from_dlpack(t)
    assert b.dtype == a.dtype and np.shares_memory(a, b)
    assert t.__dlpack_device__() == (1, 0)
    again = da.from_dlpack(t)
    assert again.data_ptr == t.data_ptr


def test_dlpack_keeps_memory_alive():
    t = da.Tensor.full([1000], 7)
    a = np.from_dlpack(t)
    del t
    gc.collect()
    assert (a == 7).all()
    t = da.from_dlpack(np.full(1000, 9.0))
    gc.collect()
    assert t.tolist() == [9.0] * 1000


def test_dlpack_of_read_only_memory():
    a = np.arange(4.0)
    a.flags.writeable = False
    t = da.from_numpy(a)
    assert not t.writable
    with pytest.raises(ValueError, match="read-only"):
        t.fill(1)


@pytest.mark.parametrize("versioned", [True, False])
def test_dlpack_of_other_libraries(versioned):
    """An object that knows nothing but DLPack, as the standard has it today and as it was before it had versions."""

    class Foreign:
        def __init__(self, array):
            self.array = array

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

        if versioned:

            def __dlpack__(self, **options):
                return self.array.__dlpack__(**options)
        else:

            def __dlpack__(self, stream=None):
                return self.array.__dlpack__(stream=stream)

    x = np.arange(6.0).reshape(2, 3)
    t = da.asarray(Foreign(x))
    assert t.data_ptr == x.ctypes.data and t.shape == (2, 3)
    np.testing.assert_array_equal(t.numpy(), x)


def test_exceptions_are_natural_built_ins():
    t = da.Tensor.zeros([2, 3])
    with pytest.raises(ValueError) as error:
        t.reshape([4])
    assert isinstance(error.value, da.ShapeError) and isinstance(error.value, da.Error)
    with pytest.raises(IndexError):
        t[5]
    with pytest.raises(TypeError, match="float31"):
        da.parse_dtype("float31")
    with pytest.raises(TypeError, match="NumPy array"):
        da.tile.compile(
            """tile.kernel @k(%A: memref<4xf32, #tile.space<global>> {tile.name = "A", tile.dims = [""], tile.role =
            "in"}) {}"""
        )([1, 2])
    with pytest.raises(ValueError):
        da.set_num_threads(0)
    with pytest.raises(TypeError):
        da.from_dlpack(3)


def test_facts():
    assert da.memory_stats()["in_use"] >= 0
    assert da.device_info()["cores"] >= 1
    assert da.kernel_cache_stats()["compiled"] >= 0
    before = da.num_threads()
    da.set_num_threads(2)
    assert da.num_threads() == 2
    da.set_num_threads(before)
