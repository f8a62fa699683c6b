"""What a kernel's Python code works on while it runs once to be written down: buffers, elements, sizes, variables."""

import threading

import numpy as np

from .. import _native
from .._native import Combination, MemorySpace, Scalar, ShapeError

_state = threading.local()


class Tracer:
    """A kernel that is being written: its builder, and what the constructs of the language must remember."""

    def __init__(self, name, uses_threads=False, phased=False):
        self.builder = _native.Builder(name)
        self.name = name
        self.uses_threads = uses_threads
        self.threads = (128,)  # as T.Kernel says
        self.thread_indices = None  # in code for threads: this thread's
        self.pending_name = None  # of the variable that is being assigned
        self.walk = None
        self.outside = {}  # T.annotate_safe_value
        self.outputs = []
        self.in_kernel = False
        self.kernel = None  # the T.Kernel that is open
        self.phased = phased  # whether T.sync_grid cuts it
        self.reducer = None  # T.comm_reducer

    def __enter__(self):
        self.outer = getattr(_state, "tracer", None)
        _state.tracer = self
        return self

    def __exit__(self, *error):
        _state.tracer = self.outer

    def take_name(self):
        name, self.pending_name = self.pending_name, None
        return name or ""


def tracing():
    """The tracer at work, or None."""
    return getattr(_state, "tracer", None)


def current(what="this"):
    """The tracer at work. Raises RuntimeError outside of a kernel."""
    tracer = tracing()
    if tracer is None:
        raise RuntimeError(
            f"{_native.current_place()}: {what} is used outside of a kernel; call it in a function under "
            f"@T.prim_func or @jit"
        )
    return tracer


def builder(what="this"):
    return current(what).builder


def is_scalar(value):
    """Whether the value can stand where the kernel needs a number."""
    return isinstance(value, (Scalar, bool, int, float, np.integer, np.floating, np.bool_)) or hasattr(
        value, "__tile_scalar__"
    )


def is_symbolic(value):
    """Whether only the running kernel knows the value."""
    return (isinstance(value, Scalar) and value.number is None) or hasattr(value, "__tile_scalar__")


def plain(value):
    """A scalar as the Python number where it is known, else as a Scalar."""
    if hasattr(value, "__tile_scalar__"):
        value = value.__tile_scalar__()
    if isinstance(value, Scalar):
        number = value.number
        return value if number is None else number
    return value


def size(value, what):
    """A plain integer, for shapes."""
    value = plain(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    raise TypeError(
        f"{_native.current_place()}: {what}: sizes of tiles are plain integers, got {value!r}; they must be known "
        f"when the "
        "kernel is compiled"
    )


def place():
    return _native.current_place()


def _operators(cls, value):
    """Gives a class arithmetic on what `value(self)` returns."""

    def binary(name):
        def operate(self, other):
            left = value(self)
            method = getattr(left, name, None)
            result = method(plain(other)) if method is not None else NotImplemented
            if result is NotImplemented and not isinstance(left, Scalar) and isinstance(plain(other), Scalar):
                mirrored = (
                    name.replace("__r", "__", 1) if name.startswith("__r") and name not in _NOT_MIRRORED else None
                )
                return getattr(plain(other), mirrored or _MIRROR.get(name, "__r" + name[2:]))(left)
            return result

        operate.__name__ = name
        return operate

    for name in _BINARY:
        setattr(cls, name, binary(name))
    for name in ("__neg__", "__pos__", "__invert__", "__abs__", "__bool__", "__index__"):
        setattr(cls, name, (lambda n: lambda self: getattr(value(self), n)())(name))
    cls.__hash__ = object.__hash__
    cls.__float__ = lambda self: float(value(self))
    cls.astype = lambda self, dtype: _native.cast(value(self), str(dtype))
    return cls


_MIRROR = {
    "__lt__": "__gt__",
    "__gt__": "__lt__",
    "__le__": "__ge__",
    "__ge__": "__le__",
    "__eq__": "__eq__",
    "__ne__": "__ne__",
}
_NOT_MIRRORED = ("__rshift__",)
_BINARY = [
    f"__{p}{n}__" for n in "add sub mul truediv floordiv mod pow and or xor lshift rshift".split() for p in ("", "r")
]
_BINARY += list(_MIRROR)


# Sizes -------------------------------------------------------------------------------------------------------------


class Dynamic:
    """A size that the launch decides; ``T.dynamic("m")``. In a kernel it is a number like any other."""

    def __init__(self, name, dtype="int32"):
        self.name, self.dtype = name, dtype

    def __tile_scalar__(self):
        return builder(f"the size {self.name}").dim(self.name)

    def __repr__(self):
        return self.name


class Delayed:
    """Arithmetic on dynamic sizes that was written outside of the kernel."""

    def __init__(self, function, *operands):
        self.function, self.operands = function, operands

    def __tile_scalar__(self):
        return self.function(*(plain(operand) for operand in self.operands))


def _sizes(cls):
    def binary(name):
        def operate(self, other):
            if not is_scalar(other):
                return NotImplemented

            def function(a, b):
                return getattr(a, name)(b)

            return function(plain(self), plain(other)) if tracing() else Delayed(function, self, other)

        return operate

    for name in _BINARY:
        if name not in ("__eq__", "__ne__"):
            setattr(cls, name, binary(name))
    equal, unequal = binary("__eq__"), binary("__ne__")
    cls.__eq__ = lambda self, other: self is other or (equal(self, other) if tracing() else False)
    cls.__ne__ = lambda self, other: self is not other and (unequal(self, other) if tracing() else True)
    cls.__hash__ = object.__hash__
    return cls


_sizes(Dynamic)
_sizes(Delayed)


class Const:
    """A size that the arguments of a call decide, and that the kernel is compiled for; ``T.const("M")``."""

    def __init__(self, name):
        self.name, self.value = name, None

    def known(self):
        if self.value is None:
            raise ValueError(
                f"{place()}: the size {self.name} is not known yet; first say of which argument it is: "
                f"'A: T.Tensor(({self.name}, ...), T.float32)'"
            )
        return self.value

    def __repr__(self):
        return self.name if self.value is None else str(self.value)


def _const_value(self):
    return self.known()


_operators(Const, _const_value)
Const.__index__ = Const.known
Const.__int__ = Const.known


# Buffers -----------------------------------------------------------------------------------------------------------


class Buffer:
    """A tensor argument or a tile. ``b[i, j]`` is an element, ``b[i:i + 64, :]`` a window, both usable in T.copy."""

    def __init__(self, native):
        self.native = native

    @property
    def shape(self):
        """The sizes: integers, and for dynamic ones values of the kernel."""
        return tuple(plain(s) for s in self.native.shape)

    @property
    def dtype(self):
        from .types import dtype

        return dtype(_native.dtype_name(self.native.dtype))

    @property
    def ndim(self):
        return self.native.ndim

    @property
    def name(self):
        return self.native.name

    @property
    def is_global(self):
        return self.native.space == MemorySpace.global_

    @property
    def data(self):
        """Its memory, for ``T.Tensor(shape, dtype, buffer.data)``, which views it under another shape and dtype."""
        return self

    def access_ptr(self, mode="rw", **hints):
        """Its memory, for T.call_extern; `mode` says whether the function reads ("r") or writes ("w") it."""
        return Access(self, mode)

    def scope(self):
        """Where it lives: "global", "shared", "fragment" or "local"."""
        return self.native.space.name.rstrip("_")

    def __getitem__(self, key):
        indices, kept, extents = self._window(key)
        if not kept:
            return Element(self, indices)
        return Region(self, indices, kept, extents)

    def __setitem__(self, key, value):
        if isinstance(value, _Stored):  # A[i] += x has been done
            return
        indices, kept, extents = self._window(key)
        if kept:
            from .moves import copy, fill

            region = Region(self, indices, kept, extents)
            if is_scalar(value):
                return fill(region, value)
            return copy(value, region)
        if not is_scalar(value):
            raise TypeError(f"{place()}: an element of '{self.name}' takes a number, got {type(value).__name__}")
        b = builder("an element")
        if self.is_global:
            b.write_guarded(plain(value), self.native, indices)
        else:
            b.write(plain(value), self.native, indices)

    def accumulate(self, operator, key, value):
        """``b[key] += value`` and ``*=``; in T.Parallel iterations may meet in one element. False for other
        operators."""
        combination = {"+": Combination.add, "*": Combination.mul}.get(operator)
        if operator == "-" and not isinstance(value, (bool, np.bool_)):
            combination, value = Combination.add, -plain(value)
        indices, kept, _ = self._window(key)
        if combination is None or kept or not is_scalar(value):
            return False
        if self.is_global and not all(builder().surely_within(i, s) for i, s in zip(indices, self.native.shape)):
            return False
        builder().accumulate(combination, plain(value), self.native, indices)
        return True

    def _window(self, key):
        """Where the key begins in each dimension, which dimensions it keeps, and how long these are."""
        keys = list(key) if isinstance(key, tuple) else [key]
        shape = self.shape
        if Ellipsis in [k for k in keys if k is Ellipsis]:
            at = next(i for i, k in enumerate(keys) if k is Ellipsis)
            keys[at : at + 1] = [slice(None)] * (len(shape) - len(keys) + 1)
        if len(keys) > len(shape):
            raise ShapeError(
                f"{place()}: '{self.name}' has {len(shape)} dimensions, got {len(keys)} indices; leave some out"
            )
        keys += [slice(None)] * (len(shape) - len(keys))
        indices, kept, extents = [], [], []
        for axis, (k, whole) in enumerate(zip(keys, shape)):
            if isinstance(k, slice):
                if k.step not in (None, 1):
                    raise ValueError(f"{place()}: windows have step 1, got {k.step}; use T.Parallel for others")
                start = 0 if k.start is None else plain(k.start)
                stop = whole if k.stop is None else plain(k.stop)
                extent = builder("a window").constant_difference(stop, start)
                if extent is not None and extent <= 0:
                    raise ShapeError(
                        f"{place()}: the window {k.start}:{k.stop} of '{self.name}' is empty; the end comes after "
                        f"the start"
                    )
                indices.append(start)
                kept.append(axis)
                extents.append(extent)
            elif is_scalar(k):
                k = plain(k)
                if isinstance(k, (float, np.floating)):
                    raise TypeError(f"{place()}: an index of '{self.name}' must be an integer, got {k}; round it")
                indices.append(k)
            else:
                raise TypeError(
                    f"{place()}: an index of '{self.name}' must be a number or a slice, got {type(k).__name__}; "
                    f"to take "
                    "rows that a tile names use T.gather"
                )
        return indices, kept, extents

    def __iter__(self):
        raise TypeError(f"{place()}: '{self.name}' cannot be iterated over; write 'for i in T.serial({self.shape[0]})'")

    def __repr__(self):
        return f"Buffer({self.name or 'unnamed'}, {self.shape}, {self.dtype})"


class Access:
    """A buffer or a window of one that a foreign function is given; ``T.access_ptr``."""

    def __init__(self, buffer, mode):
        if not isinstance(mode, str) or not mode or set(mode) - set("rw"):
            raise ValueError(f"{place()}: an access is 'r', 'w' or 'rw', got {mode!r}; choose one")
        self.buffer, self.mode = buffer, mode


class _Stored:
    """Says to __setitem__ that there is nothing left to do."""


STORED = _Stored()


class Element:
    """One element of a buffer: a number, and for T.copy and atomics also a place."""

    def __init__(self, buffer, indices):
        self.buffer, self.indices = buffer, indices
        b = builder("an element")
        if buffer.is_global:
            outside = current().outside.get(buffer.name, 0)
            self.value = b.read_guarded(buffer.native, indices, outside)
        else:
            try:
                self.value = b.read(buffer.native, indices)
            except IndexError as error:  # may still be meant as a place
                self.value, self.error = None, error

    def __tile_scalar__(self):
        if self.value is None:
            raise self.error
        return self.value

    def __repr__(self):
        return f"{self.buffer.name}{self.indices}"


_operators(Element, Element.__tile_scalar__)


class Region:
    """A window of a buffer: where it begins, which dimensions it keeps, how long they are (None: as the other side)."""

    def __init__(self, buffer, indices, kept, extents):
        self.buffer, self.indices, self.kept, self.extents = buffer, indices, kept, extents

    @property
    def shape(self):
        return tuple(self.extents)

    @property
    def dtype(self):
        return self.buffer.dtype

    @property
    def ndim(self):
        return len(self.kept)

    def native_view(self, what):
        """The window as a view, for operations on tiles."""
        if any(extent is None for extent in self.extents):
            raise ShapeError(
                f"{place()}: {what}: the size of the window of '{self.buffer.name}' is not a constant; write it "
                "start : start + n with a plain number n"
            )
        return builder(what).slice(self.buffer.native, self.indices, self.extents, self.kept)


class Var:
    """A number that the kernel may assign again; ``T.alloc_var``."""

    def __init__(self, dtype, init=None):
        self.buffer = Buffer(builder("T.alloc_var").alloc(MemorySpace.local, dtype, [1], current().take_name()))
        if init is not None:
            self.store(init)

    def store(self, value):
        builder().write(plain(value), self.buffer.native, [0])

    def __tile_scalar__(self):
        return builder().read(self.buffer.native, [0])

    def __getitem__(self, key):
        return self.buffer[key]

    def __setitem__(self, key, value):
        self.buffer[key] = value

    @property
    def dtype(self):
        return self.buffer.dtype


_operators(Var, Var.__tile_scalar__)


class Late:
    """A number that is looked up at each use: an index of a block or thread, which is another one in each phase."""

    def __init__(self, value):
        self.__tile_scalar__ = value


_operators(Late, lambda late: late.__tile_scalar__())


class Missing:
    """Stands for a variable that has no value here; every use of it says why."""

    def __init__(self, name, reason):
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "_reason", reason)

    def _raise(self, *args, **kwargs):
        raise NameError(f"{place()}: '{self._name}' {self._reason}")

    __tile_scalar__ = __getattr__ = __call__ = __getitem__ = __setitem__ = __iter__ = __len__ = _raise


_operators(Missing, Missing._raise)
