"""Memory of a kernel: tiles, variables, workspaces, outputs, and buffers that collect contributions."""

from .._native import MemorySpace, Role
from . import trace
from .compute import REDUCERS
from .moves import fill
from .scalars import infinity
from .threads import enter_threads
from .trace import Buffer, Var, builder, current, place, plain

__all__ = [
    "alloc_shared", "alloc_fragment", "alloc_local", "alloc_var", "alloc_global", "empty", "Reducer",
    "alloc_reducer", "reducer_init", "reducer_update", "finalize_reducer",
]  # fmt: skip


def _alloc(space, what, shape, dtype):
    tracer = current(what)
    shape = shape if isinstance(shape, (tuple, list)) else (shape,)
    sizes = [trace.size(s, what) for s in shape]
    return Buffer(tracer.builder.alloc(space, dtype, sizes, tracer.take_name()))


def alloc_shared(shape, dtype="float32", scope=None):
    """A tile that the whole block sees, contents undefined."""
    return _alloc(MemorySpace.shared, "T.alloc_shared", shape, dtype)


def alloc_fragment(shape, dtype="float32", scope=None):
    """A tile of the block that lives in registers where it can, contents undefined."""
    if current("T.alloc_fragment").uses_threads:
        return _alloc(MemorySpace.shared, "T.alloc_fragment", shape, dtype)
    return _alloc(MemorySpace.fragment, "T.alloc_fragment", shape, dtype)


def alloc_local(shape, dtype="float32", scope=None):
    """Memory of a thread of its own; in code without threads, of the block."""
    if current("T.alloc_local").uses_threads:
        enter_threads()
    return _alloc(MemorySpace.local, "T.alloc_local", shape, dtype)


def alloc_var(dtype, *arguments, init=None, scope=None):
    """A number that may be assigned again: ``x = T.alloc_var("int32", 0)`` (or ``init=0``), then ``x = x + 1``."""
    if current("T.alloc_var").uses_threads:
        enter_threads()
    for argument in arguments:
        if not isinstance(argument, str):  # a string names a scope
            init = argument
    return Var(dtype, init)


def alloc_global(shape, dtype="float32"):
    """A workspace that all blocks see; before T.Kernel."""
    return _alloc(MemorySpace.global_, "T.alloc_global", shape, dtype)


def empty(shape, dtype="float32"):
    """In a function under @jit: an output, allocated at each call; return it."""
    tracer = current("T.empty")
    name = tracer.take_name() or f"output_{len(tracer.outputs)}"
    native = tracer.builder.argument(name, dtype, [plain(s) for s in shape], Role.automatic)
    tracer.outputs.append(name)
    return Buffer(native)


_IDENTITY = {"sum": 0, "abssum": 0, "absmax": 0, "bitor": 0, "bitxor": 0, "bitand": -1, "prod": 1}


class Reducer(Buffer):
    """Collects contributions; ``T.alloc_reducer``."""

    def __init__(self, native, kind):
        super().__init__(native)
        self.kind = kind


def alloc_reducer(shape, dtype="float32", op="sum", replication=None):
    """A buffer into which iterations of T.Parallel contribute with T.reducer_update, or with ``+=`` for "sum"."""
    if op not in REDUCERS:
        raise ValueError(
            f"{place()}: T.alloc_reducer: 'op' must be one of {', '.join(REDUCERS)}, got {op!r}; choose one"
        )
    buffer = _alloc(MemorySpace.fragment, "T.alloc_reducer", shape, dtype)
    return Reducer(buffer.native, op)


def reducer_init(reducer):
    """Start a reduction from nothing."""
    kind = reducer.kind
    value = _IDENTITY.get(kind)
    if value is None:
        value = (-1 if kind == "max" else 1) * infinity(reducer.dtype)
    fill(reducer, value)


def reducer_update(reducer, indices, value):
    """Contribute a value to an element."""
    indices = indices if isinstance(indices, (tuple, list)) else [indices]
    builder().combine(REDUCERS[reducer.kind], plain(value), reducer.native, [plain(i) for i in indices])


def finalize_reducer(reducer):
    """End a reduction. Its elements are complete then."""
