"""Atomic operations on elements and windows of tensors."""

from .._native import Combination, Ordering
from .operands import fit, side_of, static_shape, window_of
from .trace import Buffer, Region, builder, is_scalar, place, plain

__all__ = [
    "atomic_add", "atomic_addx2", "atomic_addx4", "atomic_load", "atomic_max", "atomic_min", "atomic_or",
    "atomic_store",
]  # fmt: skip


def _atomic(combination, name):
    def function(dst, value, memory_order="relaxed", return_prev=False, use_tma=False):
        b = builder(f"T.{name}")
        order = _order(memory_order)
        if is_scalar(value) and not isinstance(value, (Buffer, Region)):
            buffer, indices, kept, _ = window_of(dst, f"T.{name}", "dst")
            if kept:
                raise TypeError(f"{place()}: T.{name}: one element A[i, j] for one number; or give a tile as the value")
            previous = b.atomic(combination, plain(value), buffer.native, indices, order)
            return previous if return_prev else None
        window = window_of(dst, f"T.{name}", "dst")
        tile = side_of(window_of(value, f"T.{name}", "value"), window[3], f"T.{name}", "value")
        b.atomic_store(
            combination, tile, window[0].native, window[1], fit(window, static_shape(tile), f"T.{name}", "dst"), order
        )

    function.__name__ = name
    function.__doc__ = "Combine a number into an element, or a tile into a window, atomically towards other blocks."
    return function


def _order(name):
    try:
        return getattr(Ordering, name or "relaxed")
    except AttributeError:
        raise ValueError(
            f"{place()}: 'memory_order' must be relaxed, acquire, release, acq_rel or seq_cst, got {name!r}; choose one"
        ) from None


atomic_add = _atomic(Combination.add, "atomic_add")
atomic_max = _atomic(Combination.max, "atomic_max")
atomic_min = _atomic(Combination.min, "atomic_min")
atomic_or = _atomic(Combination.bits_or, "atomic_or")


def _atomic_vector(count):
    def function(dst, value, memory_order="relaxed", return_prev=False):
        (to, at, _, _), (source, from_, _, _) = (window_of(x, name, "dst") for x in (dst, value))
        for k in range(count):
            place_ = to[(*at[:-1], at[-1] + k)]
            atomic_add(place_, plain(source[(*from_[:-1], from_[-1] + k)]), memory_order)

    name = f"T.atomic_addx{count}"
    function.__name__ = name[2:]
    function.__doc__ = f"Add {count} neighbouring elements, from the places that are given on."
    return function


atomic_addx2 = _atomic_vector(2)
atomic_addx4 = _atomic_vector(4)


def atomic_load(src, memory_order="seq_cst"):
    """An element, read atomically."""
    buffer, indices, _, _ = window_of(src, "T.atomic_load", "src")
    return builder("T.atomic_load").atomic(Combination.add, 0, buffer.native, indices, _order(memory_order))


def atomic_store(dst, value, memory_order="seq_cst"):
    """Set an element atomically."""
    buffer, indices, _, _ = window_of(dst, "T.atomic_store", "dst")
    builder("T.atomic_store").atomic(Combination.exchange, plain(value), buffer.native, indices, _order(memory_order))
