"""From Python functions to kernels: @prim_func, @macro, @jit, compile, and calling what comes out."""

import functools
import inspect
import json

import numpy as np

from .. import _native
from .._arrays import numpy_dtype
from .rewrite import rewritten, uses_threads, writes_kernel
from .trace import Buffer, Const, Dynamic, Tracer, is_scalar, place, plain
from .types import TensorType, dtype, scalar_type


class PrimFunc:
    """A kernel as a program of the tile dialect; what @T.prim_func makes."""

    def __init__(self, program, name):
        self.program, self.name = program, name
        self.__name__ = name

    def text(self, locations=False):
        """The dialect's text."""
        return self.program.text(locations)

    script = text

    def __repr__(self):
        return self.text()


def _declare(tracer, name, annotation):
    """The argument of that type, in the kernel."""
    if isinstance(annotation, TensorType):
        shape = [plain(s) for s in annotation.shape]
        return Buffer(tracer.builder.argument(name, annotation.dtype, shape, strides=annotation.strides))
    if isinstance(annotation, (dtype, str)):
        return tracer.builder.scalar(name, scalar_type(annotation))
    raise TypeError(
        f"{place()}: {tracer.name}: argument '{name}' must be annotated with T.Tensor(shape, dtype) or a dtype, got "
        f"{annotation!r}; for example '{name}: T.Tensor((M, N), T.float32)'"
    )


def prim_func(function=None, **options):
    """Decorator: the function is a kernel. It is run once, now, with its arguments as tensors of the kernel."""
    if function is None:
        return functools.partial(prim_func, **options)
    new, node = rewritten(function)
    annotations = inspect.get_annotations(function, eval_str=False)
    with Tracer(function.__name__, uses_threads(node)) as tracer:
        arguments = []
        for name in inspect.signature(function).parameters:
            annotation = annotations.get(name)
            if isinstance(annotation, str) and not isinstance(annotation, dtype):
                annotation = eval(annotation, function.__globals__, dict(inspect.getclosurevars(function).nonlocals))
            arguments.append(_declare(tracer, name, annotation))
        new(*arguments)
        return PrimFunc(tracer.builder.finish(), function.__name__)


def macro(function):
    """Decorator: a piece of kernel code, written in place of each call."""
    new, _ = rewritten(function)
    return functools.wraps(function)(new)


inline = macro


class Kernel:
    """A compiled kernel. Call it with an array or number for each argument; outputs may be left out.

    Arrays are NumPy arrays, deep_accel tensors, or anything with ``__dlpack__``; none is copied. Arguments that are
    left
    out are those of `out_idx`, or those that the kernel only writes; they are allocated and returned.
    """

    def __init__(self, program, out_idx=None, target="host", name=""):
        self.program = program
        self._native = _native.CompiledKernel(program, name, target)
        self.name = self._native.name
        self.arguments = self._native.arguments
        self._launch = self._native.launch
        self._count = count = len(self.arguments)
        if out_idx is None:
            self.out_idx = [i for i, a in enumerate(self.arguments) if a["role"] == "out"]
        else:
            self.out_idx = sorted(
                i + count if i < 0 else i for i in ([out_idx] if isinstance(out_idx, int) else out_idx)
            )
        self._explicit = out_idx is not None

    def __call__(self, *arguments, threads=0):
        """Run it, on `threads` threads (0: deep_accel.num_threads()). Ctrl-C stops it."""
        if len(arguments) == self._count:
            return self._launch(*arguments, threads=threads or 0)
        return self._allocating(arguments, lambda full: self._launch(*full, threads=threads or 0))

    def interpret(self, *arguments, check_races=True):
        """Run it in the reference interpreter instead: double precision, slow, every access checked."""

        def run(full):
            return _native.interpret(self.program, self.name, *full, check_races=check_races)

        if len(arguments) == self._count:
            run(arguments)
            return None
        return self._allocating(arguments, run)

    def _allocating(self, arguments, run):
        if len(arguments) != self._count - len(self.out_idx):
            names = ", ".join(a["name"] for a in self.arguments)
            raise TypeError(
                f"{self.name}: {self._count} arguments ({names}) expected, or {self._count - len(self.out_idx)} "
                f"without the "
                f"outputs, got {len(arguments)}; give one for each"
            )
        given = iter(arguments)
        full = [None if i in self.out_idx else next(given) for i in range(self._count)]
        sizes = {}
        for spec, value in zip(self.arguments, full):
            if spec["is_tensor"] and value is not None:
                sizes.update({n: s for n, s in zip(spec["dims"], value.shape) if isinstance(n, str)})
        as_tensor = any(isinstance(value, _native.Tensor) for value in arguments)
        for i in self.out_idx:
            spec = self.arguments[i]
            unknown = [d for d in spec["dims"] if not isinstance(d, int) and d not in sizes]
            if unknown:
                raise TypeError(
                    f"{self.name}: the size {unknown[0]} of the output '{spec['name']}' is not that of an input; "
                    f"pass the output yourself"
                )
            shape = [d if isinstance(d, int) else sizes[d] for d in spec["dims"]]
            packed = _native.dtype_bits(spec["dtype"]) < 8
            if as_tensor or packed:
                full[i] = _native.Tensor.zeros(shape, spec["dtype"])
            else:
                make = np.empty if spec["role"] == "out" else np.zeros
                full[i] = make(shape, numpy_dtype(spec["dtype"]))
        run(full)
        outputs = [full[i] for i in self.out_idx]
        return outputs[0] if len(outputs) == 1 else outputs

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


def compile(function, out_idx=None, target="host", **options):
    """Compile a kernel: what @T.prim_func made, a Program, or the dialect's text. Returns a Kernel."""
    if isinstance(function, str):
        function = _native.Program.parse(function)
    program = function.program if isinstance(function, PrimFunc) else function
    if not isinstance(program, _native.Program):
        raise TypeError(f"compile: a function under @T.prim_func or a Program expected, got {type(function).__name__}")
    return Kernel(program, out_idx, "host" if target in (None, "auto", "cpu", "llvm", "c") else target)


class _EagerTracer(Tracer):
    """Binds the annotations of a function under @jit to the arrays of the call."""

    def __init__(self, name, threads, arguments):
        super().__init__(name, threads)
        self.call_arguments, self.order = arguments, []

    def bind(self, name, annotation, value):
        if not isinstance(annotation, TensorType):
            return value
        actual = self.call_arguments[name]
        if len(actual.shape) != len(annotation.shape):
            raise _native.ShapeError(
                f"{place()}: {self.name}: '{name}' must have {len(annotation.shape)} dimensions, got shape "
                f"{tuple(actual.shape)}; reshape it"
            )
        for wanted, size in zip(annotation.shape, actual.shape):
            if isinstance(wanted, Const):
                if wanted.value not in (None, size):
                    raise _native.ShapeError(
                        f"{place()}: {self.name}: the size {wanted.name} of '{name}' must be {wanted.value}, got "
                        f"{size}; make them equal"
                    )
                wanted.value = size
        shape = [s.known() if isinstance(s, Const) else s for s in annotation.shape]
        self.order.append(name)
        return _declare(self, name, TensorType(shape, annotation.dtype, annotation.strides))


class JitFunction:
    """A function under @jit. Lazy (it returns a prim_func): a call returns a Kernel. Eager: a call runs it."""

    def __init__(self, function, out_idx=None, target="host", **options):
        functools.update_wrapper(self, function)
        self.function, self.out_idx, self.target = function, out_idx, target
        self.signature = inspect.signature(function)
        self.eager = writes_kernel(rewritten(function)[1])
        self.new, self.node = rewritten(function) if self.eager else (function, None)
        self.cache = {}

    def __call__(self, *args, **kwargs):
        if not self.eager:
            return self.compile(*args, **kwargs)
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        kernel, order = self._eager_kernel(bound.arguments)
        return kernel(*(bound.arguments[name] for name in order))

    def compile(self, *args, **kwargs):
        """The Kernel for these parameters, without running it (in eager functions: for these arguments)."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        if self.eager:
            return self._eager_kernel(bound.arguments)[0]
        key = _key(bound.arguments)
        if key is None or key not in self.cache:
            function = self.function(*args, **kwargs)
            kernel = compile(function, self.out_idx, self.target)
            if key is None:
                return kernel
            self.cache[key] = kernel
        return self.cache[key]

    def get_program(self, *args, **kwargs):
        """The program of the tile dialect for these parameters."""
        return self.compile(*args, **kwargs).program

    get_tir = get_program

    def get_kernel_source(self, *args, **kwargs):
        """The dialect's text for these parameters."""
        return self.compile(*args, **kwargs).get_kernel_source()

    def par_compile(self, configs, num_workers=None):
        """The kernels for several sets of parameters (tuples or dictionaries)."""
        return [self.compile(**c) if isinstance(c, dict) else self.compile(*c) for c in configs]

    def _eager_kernel(self, arguments):
        key = _key(arguments)
        if key not in self.cache:
            with _EagerTracer(self.function.__name__, uses_threads(self.node), arguments) as tracer:
                annotations = inspect.get_annotations(self.function)
                values = {n: tracer.bind(n, annotations.get(n), v) for n, v in arguments.items()}
                result = self.new(**values)
                order = [a for a in tracer.order]
                names = [*order]
                outputs = list(result) if isinstance(result, (tuple, list)) else [] if result is None else [result]
                program = tracer.builder.finish()
            kernel = Kernel(program, None, self.target)
            known = [a["name"] for a in kernel.arguments]
            kernel.out_idx = [known.index(b.name) for b in outputs if isinstance(b, Buffer) and b.name not in names]
            self.cache[key] = (kernel, [n for n in known if n in names])
        return self.cache[key]


def _key(arguments):
    """What a kernel is compiled for: shapes and dtypes of arrays, values of the rest."""
    key = []
    for name, value in arguments.items():
        if hasattr(value, "shape") and hasattr(value, "dtype"):
            key.append((name, tuple(value.shape), str(value.dtype)))
        else:
            try:
                hash(value)
            except TypeError:
                value = repr(value)
            key.append((name, type(value), value))
    return tuple(key)


def jit(function=None, *, out_idx=None, target="host", **options):
    """Decorator: compile just in time.

    Lazy: the function returns a ``@T.prim_func``; calling it with its parameters gives a Kernel. Eager: the function's
    body is the kernel (``with T.Kernel(...)``); calling it with arrays compiles for their shapes and runs. Other
    options
    (``verbose``, ``pass_configs``, ...) are accepted and ignored.
    """
    if function is None:
        return functools.partial(jit, out_idx=out_idx, target=target, **options)
    return JitFunction(function, out_idx, target)


_ = (Dynamic, is_scalar)
