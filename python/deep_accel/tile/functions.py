"""From a Python function to a program of the tile dialect: @prim_func and @macro."""

import functools
import inspect

from .rewrite import rewritten, uses_threads
from .trace import Buffer, Tracer, place, plain
from .types import TensorType, dtype, scalar_type

__all__ = ["PrimFunc", "inline", "macro", "prim_func"]


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


def declare(tracer, name, annotation):
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
            arguments.append(declare(tracer, name, annotation))
        new(*arguments)
        return PrimFunc(tracer.builder.finish(), function.__name__)


def macro(function):
    """Decorator: a piece of kernel code, written in place of each call."""
    new, _ = rewritten(function)
    return functools.wraps(function)(new)


inline = macro
