"""Dtypes and the annotations of a kernel's arguments."""

from .. import _native
from .trace import Const, Dynamic, plain


class dtype(str):
    """A dtype by its name; called on a value it converts: ``T.float32(0)``."""

    __slots__ = ()

    def __call__(self, value=0):
        if not isinstance(plain(value), _native.Scalar):
            if self == "bool":
                return bool(value)
            return float(_native.cast(value, self).number) if _native.is_float(self) else int(value)
        return _native.cast(plain(value), self)

    @property
    def bits(self):
        return _native.dtype_bits(self)

    @property
    def bytes(self):
        return (self.bits + 7) // 8


NAMES = {
    "float64": "float64",
    "float32": "float32",
    "float16": "float16",
    "bfloat16": "bfloat16",
    "float8_e4m3fn": "float8_e4m3fn",
    "float8_e4m3": "float8_e4m3fn",
    "float8_e5m2": "float8_e5m2",
    "float4_e2m1fn": "float4_e2m1fn",
    "int64": "int64",
    "int32": "int32",
    "int16": "int16",
    "int8": "int8",
    "int4": "int4",
    "uint8": "uint8",
}
globals().update({name: dtype(text) for name, text in NAMES.items()})
bool_ = dtype("bool")

SCALAR_TYPES = {
    "float64": _native.ScalarType.f64,
    "int64": _native.ScalarType.i64,
    "bool": _native.ScalarType.bool,
}


def scalar_type(name):
    """The type in which a number of that dtype computes."""
    kind = _native.parse_dtype(name)
    own = {_native.DType.f64: "float64", _native.DType.i64: "int64", _native.DType.bool: "bool"}.get(kind)
    if own:
        return SCALAR_TYPES[own]
    return _native.ScalarType.f32 if _native.is_float(kind) else _native.ScalarType.i32


class TensorType:
    """An argument's shape and dtype (and strides: None where free)."""

    def __init__(self, shape, dtype, strides=None):
        self.shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        self.dtype, self.strides = dtype, strides


class _Tensor:
    """``T.Tensor((M, K), dtype)`` or ``T.Tensor[[M, K], dtype]``: a contiguous tensor argument."""

    def __call__(self, shape, dtype="float32", data=None):
        if data is not None:
            from .moves import view

            return view(data, shape if isinstance(shape, (tuple, list)) else (shape,), dtype)
        return TensorType(shape, dtype)

    def __getitem__(self, key):
        # T.Tensor[M] and T.Tensor[M, N] are shapes alone.
        whole = isinstance(key, tuple) and len(key) == 2 and isinstance(key[1], (str, type(None), _native.DType))
        return self(*key) if whole else self(key)


Tensor = Buffer = FragmentBuffer = LocalBuffer = SharedBuffer = _Tensor()


class _StridedTensor:
    """``T.StridedTensor((M, K), (s, 1), dtype)``: a tensor argument with strides (in elements).

    A number is required; anything else is free.
    """

    def __call__(self, shape, strides, dtype="float32"):
        return TensorType(shape, dtype, tuple(s if isinstance(s, int) else None for s in strides))

    def __getitem__(self, key):
        return self(*key)


StridedTensor = _StridedTensor()


class PointerType:
    """``T.ptr``, or ``T.ptr(dtype)``: an argument of which T.make_tensor says in the kernel what it points to."""

    def __call__(self, dtype=None, storage_scope="global"):
        return self


ptr = PointerType()


def uint32(value=0):
    """A plain number: some operations of the published language want one of this type."""
    return int(plain(value))


uint64 = uint32


def dynamic(names, dtype="int32"):
    """Sizes that each launch decides: ``m = T.dynamic("m")``, ``m, n = T.dynamic("m, n")``."""
    made = tuple(Dynamic(name.strip(), dtype) for name in names.split(",") if name.strip())
    return made[0] if len(made) == 1 else made


symbolic = dynamic


def const(names):
    """Sizes that the arguments of a call decide and that the kernel is compiled for (in functions under @jit)."""
    made = tuple(Const(name.strip()) for name in names.split(",") if name.strip())
    return made[0] if len(made) == 1 else made


class _Dyn:
    """``T.dyn['K']``: a dynamic size by name."""

    def __getitem__(self, name):
        return Dynamic(name)


dyn = _Dyn()
__all__ = [
    *NAMES,
    "bool_",
    "dtype",
    "Tensor",
    "Buffer",
    "FragmentBuffer",
    "LocalBuffer",
    "SharedBuffer",
    "StridedTensor",
    "ptr",
    "uint32",
    "uint64",
    "dynamic",
    "symbolic",
    "const",
    "dyn",
    "TensorType",
]
