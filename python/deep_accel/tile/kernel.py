"""Compiled kernels: calling them, and what they tell about themselves."""

import json
import math
import statistics
import time

import numpy as np

from .. import _native
from .._arrays import numpy_dtype
from .functions import PrimFunc


class Kernel:
    """A compiled kernel. Call it with an array or number for each argument; outputs may be left out.

    Arrays are NumPy arrays, deep_accel tensors, or anything with ``__dlpack__``; none is copied. Arguments that are
    left out are those of `out_idx`, or those that the kernel only writes; they are allocated and returned.
    """

    def __init__(self, program, out_idx=None, target="host", name="", order=None):
        self.program = program
        self._native = _native.CompiledKernel(program, name, target)
        self.name = self._native.name
        self.arguments = self._native.arguments
        self._launch = self._native.launch
        self._positions = None
        known = [a["name"] for a in self.arguments]
        if order is not None and order != known:
            # The program declares them in another order than calls give them.
            self.arguments = [self.arguments[known.index(name)] for name in order]
            self._positions = [order.index(name) for name in known]
            self._launch = self._launch_reordered
        self._count = count = len(self.arguments)
        if out_idx is None:
            self.out_idx = [i for i, a in enumerate(self.arguments) if a["role"] == "out"]
        else:
            chosen = [out_idx] if isinstance(out_idx, int) else out_idx
            for i in chosen:
                if not -count <= i < count or not self.arguments[i]["is_tensor"]:
                    raise ValueError(
                        f"{self.name}: 'out_idx' must name tensors among its {count} arguments, got {i}; count from 0"
                    )
            self.out_idx = [i % count for i in chosen]
        self._given = [i for i in range(count) if i not in self.out_idx]
        self._outputs = [_Output(self, i) for i in self.out_idx]

    def __call__(self, *arguments, threads=0):
        """Run it, on `threads` threads (0: deep_accel.num_threads()). Ctrl-C stops it."""
        if len(arguments) == self._count:
            return self._launch(*arguments, threads=threads or 0)
        full = self._with_outputs(arguments)
        self._launch(*full, threads=threads or 0)
        return self._results(full)

    def benchmark(self, *arguments, threads=0, seconds=0.2):
        """How long a call takes: the median over so many seconds of calls, and at least five. In seconds.

        Outputs that are left out are allocated once, before.
        """
        full = arguments if len(arguments) == self._count else self._with_outputs(arguments)
        times, end = [], time.perf_counter() + seconds
        while len(times) < 5 or time.perf_counter() < end:
            start = time.perf_counter()
            self._launch(*full, threads=threads)
            times.append(time.perf_counter() - start)
        return statistics.median(times)

    def interpret(self, *arguments, check_races=True):
        """Run it in the reference interpreter instead: double precision, slow, every access checked."""
        given_all = len(arguments) == self._count
        full = arguments if given_all else self._with_outputs(arguments)
        ordered = full if self._positions is None else [full[i] for i in self._positions]
        _native.interpret(self.program, self.name, *ordered, check_races=check_races)
        return None if given_all else self._results(full)

    def _launch_reordered(self, *arguments, threads=0):
        self._native.launch(*[arguments[i] for i in self._positions], threads=threads)

    def _with_outputs(self, arguments):
        """All arguments, where the outputs were left out."""
        if len(arguments) != len(self._given):
            names = ", ".join(a["name"] for a in self.arguments)
            raise TypeError(
                f"{self.name}: {self._count} arguments ({names}) expected, or {len(self._given)} without the "
                f"outputs, got {len(arguments)}; give one for each"
            )
        full = [None] * self._count
        as_tensors = False
        for i, value in zip(self._given, arguments):
            full[i] = value
            as_tensors = as_tensors or type(value) is _native.Tensor
        for output in self._outputs:
            full[output.index] = output.allocate(full, as_tensors)
        return full

    def _results(self, full):
        return full[self.out_idx[0]] if len(self.out_idx) == 1 else [full[i] for i in self.out_idx]

    def explain(self):
        """What the compiler decided and why, as a dictionary."""
        return json.loads(_native.explain(self.program))

    def get_kernel_source(self):
        """The program of the tile dialect."""
        return self.program.text()

    def assembly(self):
        """The machine's assembly."""
        return _native.assembly(self.program)

    def __repr__(self):
        return f"Kernel({self.name}, {', '.join(a['name'] for a in self.arguments)})"


class _Output:
    """How to allocate an argument that a call leaves out: its sizes are those of the arguments that are given."""

    def __init__(self, kernel, index):
        self.kernel, self.index, spec = kernel.name, index, kernel.arguments[index]
        self.name, self.native_dtype = spec["name"], spec["dtype"]
        self.dtype = numpy_dtype(spec["dtype"])
        self.packed = _native.dtype_bits(spec["dtype"]) < 8
        self.make = _empty if spec["role"] == "out" else np.zeros
        self.fixed = [d if isinstance(d, int) else None for d in spec["dims"]]
        self.symbols = [(axis, d, self._origin(kernel, d)) for axis, d in enumerate(spec["dims"]) if self._unknown(d)]

    @staticmethod
    def _unknown(size):
        return not isinstance(size, int)

    @staticmethod
    def _origin(kernel, symbol):
        """The argument and its dimension that has this size."""
        for i in kernel._given:
            spec = kernel.arguments[i]
            if spec["is_tensor"] and symbol is not None and symbol in spec["dims"]:
                return i, spec["dims"].index(symbol)
        return None

    def allocate(self, arguments, as_tensor):
        shape = self.fixed.copy()
        for axis, symbol, origin in self.symbols:
            if origin is None:
                raise TypeError(
                    f"{self.kernel}: the size {symbol} of the output '{self.name}' is not that of an input; "
                    f"pass the output yourself"
                )
            shape[axis] = self._size(arguments[origin[0]], origin[1])
        if as_tensor or self.packed:
            return _native.Tensor.zeros(shape, self.native_dtype)
        return self.make(shape, self.dtype)

    def _size(self, array, dimension):
        try:
            return array.shape[dimension]
        except (AttributeError, IndexError):
            # Not an array of that rank: the launch says so better, if only it comes that far.
            return 0


def _empty(shape, dtype):
    """As numpy.empty; large arrays begin at a line of the cache, so that what is written may go past the caches."""
    dtype, line = np.dtype(dtype), 64
    size = math.prod(shape) * dtype.itemsize
    if size < 1 << 20:
        return np.empty(shape, dtype)
    room = np.empty(size + line, np.uint8)
    start = -room.ctypes.data % line
    return room[start : start + size].view(dtype).reshape(shape)


def compile(function, out_idx=None, target="host", **options):
    """Compile a kernel: what @T.prim_func made, a Program, or the dialect's text. Returns a Kernel."""
    order = function.order if isinstance(function, PrimFunc) else None
    return Kernel(_program(function, "compile"), out_idx, _target(target), order=order)


def lower(function, target="host", stop_after=""):
    """The text of a kernel's program after the compiler's passes, or after the pass `stop_after`."""
    return _native.ir(_program(function, "lower"), _target(target), stop_after)


def _program(function, what):
    if isinstance(function, str):
        return _native.Program.parse(function)
    program = function.program if isinstance(function, PrimFunc) else function
    if not isinstance(program, _native.Program):
        raise TypeError(f"{what}: a function under @T.prim_func or a Program expected, got {type(function).__name__}")
    return program


def _target(name):
    """The published language's names for this machine, as ours."""
    return "host" if name in (None, "auto", "cpu", "llvm", "c") else name
