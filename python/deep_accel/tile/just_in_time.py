"""@jit: kernels that are compiled when first asked for, or when first called."""

import functools
import inspect
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from .. import _native
from .functions import declare
from .kernel import Kernel, compile
from .rewrite import has_phases, rewritten, uses_threads, writes_kernel
from .trace import Buffer, Const, Tracer, place
from .types import TensorType


class _EagerTracer(Tracer):
    """Binds the annotations of a function under @jit to the arrays of the call."""

    def __init__(self, name, node, arguments):
        super().__init__(name, uses_threads(node), has_phases(node))
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
        return declare(self, name, TensorType(shape, annotation.dtype, annotation.strides))


class JitFunction:
    """A function under @jit. Lazy (it returns a prim_func): a call returns a Kernel. Eager: a call runs it."""

    def __init__(self, function, out_idx=None, target="host", **options):
        functools.update_wrapper(self, function)
        self.function, self.out_idx, self.target = function, out_idx, target
        self.signature = inspect.signature(function)
        self.names = tuple(self.signature.parameters)
        self.new, self.node = rewritten(function)
        self.eager = writes_kernel(self.node)
        self.cache = {}

    def __call__(self, *args, **kwargs):
        values = args if not kwargs and len(args) == len(self.names) else self._values(args, kwargs)
        if not self.eager:
            return self._lazy_kernel(values)
        kernel, order = self._eager_kernel(values)
        return kernel(*[values[i] for i in order])

    def compile(self, *args, **kwargs):
        """The Kernel for these parameters, without running it (in eager functions: for these arguments)."""
        values = self._values(args, kwargs)
        return self._eager_kernel(values)[0] if self.eager else self._lazy_kernel(values)

    def get_program(self, *args, **kwargs):
        """The program of the tile dialect for these parameters."""
        return self.compile(*args, **kwargs).program

    get_tir = get_program

    def get_kernel_source(self, *args, **kwargs):
        """The dialect's text for these parameters."""
        return self.compile(*args, **kwargs).get_kernel_source()

    def par_compile(self, configs, num_workers=None):
        """The kernels for several sets of parameters (tuples or dictionaries), compiled by `num_workers` threads."""

        def one(config):
            return self.compile(**config) if isinstance(config, dict) else self.compile(*config)

        with ThreadPoolExecutor(num_workers) as pool:
            return list(pool.map(one, configs))

    def _values(self, args, kwargs):
        """What the call gives for each parameter."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return tuple(bound.arguments.values())

    def _lazy_kernel(self, values):
        key = tuple(map(_key, values))
        if key not in self.cache:
            bound = inspect.BoundArguments(self.signature, dict(zip(self.names, values)))
            self.cache[key] = compile(self.function(*bound.args, **bound.kwargs), self.out_idx, self.target)
        return self.cache[key]

    def _eager_kernel(self, values):
        key = tuple(map(_key, values))
        if key not in self.cache:
            self.cache[key] = self._trace(dict(zip(self.names, values)))
        return self.cache[key]

    def _trace(self, arguments):
        """The kernel for these arguments, and which of them it takes."""
        with _EagerTracer(self.function.__name__, self.node, arguments) as tracer:
            annotations = inspect.get_annotations(self.function)
            inner = {n: tracer.bind(n, annotations.get(n), v) for n, v in arguments.items()}
            result = self.new(**inner)
            outputs = list(result) if isinstance(result, (tuple, list)) else [] if result is None else [result]
            program = tracer.builder.finish()
        known = [a["name"] for a in program.arguments()]
        returned = [b.name for b in outputs if isinstance(b, Buffer) and b.name not in tracer.order]
        kernel = Kernel(program, [known.index(name) for name in returned], self.target)
        return kernel, [self.names.index(n) for n in known if n in tracer.order]


def _key(value):
    """What of an argument a kernel is compiled for: the shape and dtype of an array, the value of anything else."""
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return tuple(value.shape), str(value.dtype)
    try:
        hash(value)
    except TypeError:
        value = repr(value)
    return type(value), value


def jit(function=None, *, out_idx=None, target="host", **options):
    """Decorator: compile just in time.

    Lazy: the function returns a ``@T.prim_func``; calling it with its parameters gives a Kernel. Eager: the function's
    body is the kernel (``with T.Kernel(...)``); calling it with arrays compiles for their shapes and runs. Other
    options (``verbose``, ``pass_configs``, ...) are accepted and ignored.
    """
    if function is None:
        return functools.partial(jit, out_idx=out_idx, target=target, **options)
    return JitFunction(function, out_idx, target)
