"""Assumptions, assertions, prints, and foreign functions."""

from .._native import Role
from .operands import base_of, tile_of
from .trace import Buffer, Region, Var, builder, plain
from .types import scalar_type

__all__ = [
    "assume", "device_assert", "print_", "call_extern",
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


def call_extern(result, symbol, *operands, writes=()):
    """Call a C function of the process. `result` is its dtype, or None; buffers in `operands` are passed as pointers.

    `writes` lists the numbers of the operands that it writes; all buffers are taken to be read.
    """
    values = []
    for number, operand in enumerate(operands):
        if isinstance(operand, (Buffer, Region, Var)):
            values.append((tile_of(operand, "T.call_extern"), Role.inout if number in writes else Role.in_))
        else:
            values.append(plain(operand))
    kind = None if result in (None, "void", "handle") else scalar_type(result)
    return builder("T.call_extern").extern_(symbol, values, kind)
