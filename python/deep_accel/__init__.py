"""DeepAccel: kernels written in a tile language, compiled just in time for the machine at hand.

>>> import numpy as np, deep_accel
>>> t = deep_accel.from_numpy(np.arange(6.0).reshape(2, 3))   # no copy
>>> t.shape, t.dtype
((2, 3), DType.f64)
"""

import os as _os

from . import _native
from ._arrays import asarray, from_dlpack, from_numpy, numpy_dtype, to_numpy
from ._gemm import gemm
from ._native import (
    DType,
    DTypeError,
    Error,
    InvalidValueError,
    IoError,
    OutOfBoundsError,
    OutOfMemoryError,
    ShapeError,
    Tensor,
    UnsupportedError,
    __version__,
    clear_kernel_cache,
    device_info,
    kernel_cache_stats,
    memory_stats,
    num_threads,
    parse_dtype,
    release_cached_memory,
    reset_peak_memory,
    set_num_threads,
)

# Lines of this package are not the user's (both where it is installed and where a build tree links to it).
_native.set_package_folder(_os.path.dirname(_os.path.abspath(__file__)) + _os.sep)

Tensor.numpy = to_numpy
Tensor.__array__ = lambda self, dtype=None, copy=None: (
    to_numpy(self) if dtype is None else to_numpy(self).astype(dtype, copy=bool(copy))
)
Tensor.from_numpy = staticmethod(from_numpy)

from . import tile  # noqa: E402  (needs the names above)

__all__ = [
    "__version__",
    "DType",
    "DTypeError",
    "Error",
    "InvalidValueError",
    "IoError",
    "OutOfBoundsError",
    "OutOfMemoryError",
    "ShapeError",
    "Tensor",
    "UnsupportedError",
    "asarray",
    "clear_kernel_cache",
    "device_info",
    "from_dlpack",
    "from_numpy",
    "gemm",
    "kernel_cache_stats",
    "memory_stats",
    "num_threads",
    "numpy_dtype",
    "parse_dtype",
    "release_cached_memory",
    "reset_peak_memory",
    "set_num_threads",
    "tile",
    "to_numpy",
]
