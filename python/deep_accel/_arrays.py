"""NumPy arrays and our tensors, one as the other without a copy."""

import ml_dtypes
import numpy as np

from . import _native
from ._native import DType, Tensor

_NUMPY = {
    DType.f64: np.dtype(np.float64),
    DType.f32: np.dtype(np.float32),
    DType.f16: np.dtype(np.float16),
    DType.bf16: np.dtype(ml_dtypes.bfloat16),
    DType.f8e4m3: np.dtype(ml_dtypes.float8_e4m3fn),
    DType.f8e5m2: np.dtype(ml_dtypes.float8_e5m2),
    DType.f4e2m1: np.dtype(ml_dtypes.float4_e2m1fn),
    DType.i64: np.dtype(np.int64),
    DType.i32: np.dtype(np.int32),
    DType.i16: np.dtype(np.int16),
    DType.i8: np.dtype(np.int8),
    DType.i4: np.dtype(ml_dtypes.int4),
    DType.u8: np.dtype(np.uint8),
    DType.bool: np.dtype(np.bool_),
}
_PACKED = (DType.i4, DType.f4e2m1)


def numpy_dtype(dtype) -> np.dtype:
    """The NumPy dtype (ml_dtypes' for those that NumPy lacks) of one of ours."""
    return _NUMPY[_native.parse_dtype(dtype)]


def from_numpy(array) -> Tensor:
    """A tensor on the array's memory, without a copy; of 4-bit types (one a byte in NumPy) a packed copy.

    Changes show on both sides. Raises TypeError for dtypes that we lack.
    """
    array = np.asarray(array)
    dtype = _native.parse_dtype(array.dtype)
    if dtype not in _PACKED:
        return Tensor._from_object(array)
    # Values of both types are exact in f32.
    return Tensor._from_object(np.ascontiguousarray(array.astype(np.float32))).to(dtype)


def to_numpy(tensor: Tensor) -> np.ndarray:
    """A NumPy array on the tensor's memory, without a copy; of packed 4-bit types an unpacked copy."""
    if tensor.dtype in _PACKED:
        return np.asarray(tensor.to(DType.f32)._plain()).astype(_NUMPY[tensor.dtype])
    return tensor._plain().view(_NUMPY[tensor.dtype]) if tensor.size else _empty(tensor)


class _Interface:
    """What NumPy looks at: the interface alone, and the tensor for as long as the array lives."""

    def __init__(self, tensor):
        self.tensor = tensor
        self.__array_interface__ = tensor.__array_interface__


def _plain(self):
    return np.asarray(_Interface(self))


def _empty(tensor):
    return np.empty(tensor.shape, _NUMPY[tensor.dtype])


Tensor._plain = _plain


class _Exporter:
    """An object's DLPack side alone, so that nothing else of it is looked at."""

    def __init__(self, obj):
        self.__dlpack__ = obj.__dlpack__


def from_dlpack(obj) -> Tensor:
    """A tensor on the memory of any object with ``__dlpack__`` (PyTorch, JAX, CuPy on the CPU), without a copy."""
    if not hasattr(obj, "__dlpack__"):
        raise TypeError(f"from_dlpack: an object with __dlpack__ expected, got {type(obj).__name__}; use from_numpy")
    return Tensor._from_object(_Exporter(obj))


def asarray(obj) -> Tensor:
    """The object as a tensor: itself, or a view of an array's memory; lists are copied."""
    if isinstance(obj, Tensor):
        return obj
    if hasattr(obj, "__dlpack__") and not isinstance(obj, np.ndarray):
        return from_dlpack(obj)
    return from_numpy(obj)
