"""Mathematics on numbers of the kernel, as on plain ones."""

import math

from .. import _native
from .trace import Element, place, plain

__all__ = [
    "Cast", "cast", "reinterpret", "infinity", "max_value", "min_value", "if_then_else", "Select", "any_of", "all_of",
    "shift_left", "shift_right", "bitwise_and", "bitwise_or", "bitwise_xor",
]  # fmt: skip


def _scalar_function(function, name=None):
    def call(*operands):
        result = function(*(plain(o) for o in operands))
        return result if result.number is None else result.number

    call.__name__, call.__doc__ = (
        name or function.__name__,
        function.__doc__.split("\n")[-1] if function.__doc__ else None,
    )
    return call


def _rounded(count, function):
    """An operation on numbers, and the direction of rounding: "rn", to nearest."""

    def call(*operands):
        if operands[count:] not in ((), ("rn",)):
            raise NotImplementedError(
                f"{place()}: numbers are rounded to nearest, 'rn', got {operands[count:]}; leave it out"
            )
        return function(*(plain(o) for o in operands[:count]))

    return call


_NAMES = (
    "exp exp2 expm1 log log2 log10 log1p sqrt rsqrt sin cos tan tanh erf sigmoid floor ceil trunc isnan isinf "
    "pow floordiv floormod ceildiv truncdiv truncmod fma clamp min max abs round"
).split()
MATH = {name: _scalar_function(getattr(_native, name), name) for name in _NAMES}
MATH |= {"__" + n: MATH[n] for n in ("exp", "log", "sin", "cos", "pow")} | {
    "__exp10": _scalar_function(lambda x: _native.pow(10.0, x), "__exp10")
}
MATH |= {
    "power": MATH["pow"],
    "nearbyint": MATH["round"],
    "cdiv": MATH["ceildiv"],
    "ieee_frsqrt": MATH["rsqrt"],
    "fast_exp": MATH["exp"],
}
MATH |= {
    "ieee_add": _rounded(2, lambda a, b: a + b),
    "ieee_sub": _rounded(2, lambda a, b: a - b),
    "ieee_mul": _rounded(2, lambda a, b: a * b),
    "ieee_fdiv": _rounded(2, lambda a, b: a / b),
    "ieee_fmaf": _rounded(3, _native.fma),
    "ieee_fsqrt": _rounded(1, _native.sqrt),
    "ieee_frcp": _rounded(1, lambda a: 1.0 / a),
}
globals().update(MATH)


def cast(value, dtype):
    """The value converted to a dtype."""
    result = _native.cast(plain(value), dtype)
    return result if result.number is None else result.number


def Cast(dtype, value):
    """T.cast, with the dtype first."""
    return cast(value, dtype)


def reinterpret(*arguments, dtype=None):
    """``T.reinterpret(x, dtype)`` (or dtype first): the same bits as another dtype of the same width."""
    if dtype is None:
        value, dtype = arguments if isinstance(arguments[1], str) else arguments[::-1]
    else:
        (value,) = arguments
    if dtype == "handle":
        return value
    source = value.buffer.dtype if isinstance(value, Element) else getattr(value, "dtype", None)
    value = plain(value)
    if source is None:
        kind = value.type.name if isinstance(value, _native.Scalar) else "f32" if isinstance(value, float) else "i32"
        source = {"f64": "float64", "f32": "float32", "i64": "int64", "bool": "bool"}.get(kind, "int32")
    result = _native.reinterpret(value, source, dtype)
    return result if result.number is None else result.number


def infinity(dtype):
    """Infinity of a float dtype; of an integer one the largest value."""
    return math.inf if _native.is_float(dtype) else int(_native.largest(dtype))


def max_value(dtype):
    """The largest finite value of a dtype."""
    return _native.largest(dtype)


def min_value(dtype):
    """The least finite value of a dtype."""
    return -_native.largest(dtype) if _native.is_float(dtype) else -int(_native.largest(dtype)) - (dtype != "uint8")


def if_then_else(condition, a, b):
    """``a if condition else b``. In a function under @T.prim_func only the one is computed."""
    return Select(condition, a, b)


def Select(condition, a, b):
    """a where the condition holds, else b; both are computed."""
    condition = plain(condition)
    if not isinstance(condition, _native.Scalar):
        return a if condition else b
    return _native.select(condition, plain(a), plain(b))


def any_of(*conditions):
    """Whether any of the conditions holds; all are computed."""
    result = plain(conditions[0])
    for condition in conditions[1:]:
        result = _native.logical_or(result, plain(condition))
    return result


def all_of(*conditions):
    """Whether all of the conditions hold; all are computed."""
    result = plain(conditions[0])
    for condition in conditions[1:]:
        result = _native.logical_and(result, plain(condition))
    return result


def shift_left(a, b):
    """a << b"""
    return plain(a) << plain(b)


def shift_right(a, b):
    """a >> b"""
    return plain(a) >> plain(b)


def bitwise_and(a, b):
    """a & b"""
    return plain(a) & plain(b)


def bitwise_or(a, b):
    """a | b"""
    return plain(a) | plain(b)


def bitwise_xor(a, b):
    """a ^ b"""
    return plain(a) ^ plain(b)
