"""Assumptions, assertions, prints, and foreign functions."""

from .._native import Role
from . import trace
from .operands import base_of, tile_of
from .trace import Access, Buffer, Element, Region, Var, builder, plain
from .types import scalar_type

__all__ = [
    "access_ptr", "assume", "call_extern", "device_assert", "print_",
]  # fmt: skip


def assume(condition):
    """The condition holds: the compiler may rely on it."""
    builder("T.assume").assume(plain(condition))


def device_assert(condition, message="assertion failed"):
    """The launch fails with the message where the condition does not hold."""
    builder("T.device_assert").assert_(plain(condition), message)


def print_(obj, msg=""):
    """Print a number or a whole tile when the kernel runs."""
    if isinstance(obj, (Buffer, Region)):
        native = tile_of(obj, "T.print") if isinstance(obj, Region) else obj.native
        return builder("T.print").print_buffer(msg or base_of(obj).name, native)
    if isinstance(obj, str):
        return builder("T.print").print(obj, [])
    builder("T.print").print(msg, [plain(obj)])


def access_ptr(base, access_type="rw", *extents, **hints):
    """A buffer or window for T.call_extern, and whether the function reads ("r") or writes ("w") it.

    Of a place ``A[i, j]`` the `extents` say how much of the buffer from there on.
    """
    if isinstance(base, Element):
        sizes = [trace.size(e, "T.access_ptr") for e in extents] or [1]
        sizes = [1] * (len(base.indices) - len(sizes)) + sizes
        base = Region(base.buffer, base.indices, list(range(len(sizes))), sizes)
    return Access(base, access_type)


def call_extern(result, symbol, *operands, writes=()):
    """Call a C function of the process. `result` is its dtype, or None; buffers in `operands` are passed as pointers.

    Buffers are taken to be read; those that the function writes are wrapped in T.access_ptr(b, "w"), or their numbers
    among the operands stand in `writes`.
    """
    values = []
    for number, operand in enumerate(operands):
        if isinstance(operand, Access):
            role = {"r": Role.in_, "w": Role.out}.get(operand.mode, Role.inout)
            values.append((tile_of(operand.buffer, "T.call_extern"), role))
        elif isinstance(operand, (Buffer, Region, Var)):
            values.append((tile_of(operand, "T.call_extern"), Role.inout if number in writes else Role.in_))
        else:
            values.append(plain(operand))
    kind = None if result in (None, "void", "handle") else scalar_type(result)
    return builder("T.call_extern").extern_(symbol, values, kind)
