"""From a Python function to a program of the tile dialect: @prim_func and @macro."""

import functools
import inspect

from .rewrite import has_phases, rewritten, uses_threads
from .trace import Buffer, Tracer, current, place, plain
from .types import PointerType, TensorType, dtype, scalar_type

__all__ = ["PrimFunc", "inline", "macro", "make_tensor", "meta_class", "prim_func"]


class PrimFunc:
    """A kernel as a program of the tile dialect; what @T.prim_func makes. `order` names its arguments as calls do."""

    def __init__(self, program, name, order=None):
        self.program, self.name, self.order = program, name, order
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
    if isinstance(annotation, PointerType):
        return Pointer(name)
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
    with Tracer(function.__name__, uses_threads(node), has_phases(node)) as tracer:
        arguments = []
        for name in inspect.signature(function).parameters:
            annotation = annotations.get(name)
            if isinstance(annotation, str) and not isinstance(annotation, dtype):
                annotation = eval(annotation, function.__globals__, dict(inspect.getclosurevars(function).nonlocals))
            arguments.append(declare(tracer, name, annotation))
        new(*arguments)
        for name, argument in zip(inspect.signature(function).parameters, arguments):
            if isinstance(argument, Pointer) and argument.tensor is None:
                raise ValueError(
                    f"{place()}: nothing says what '{name}' points to; use T.make_tensor({name}, shape, dtype)"
                )
        return PrimFunc(tracer.builder.finish(), function.__name__, list(inspect.signature(function).parameters))


def macro(function):
    """Decorator: a piece of kernel code, written in place of each call."""
    new, _ = rewritten(function)
    return functools.wraps(function)(new)


inline = macro


def meta_class(cls):
    """Class decorator: helpers that live while a kernel is written. Their methods are macros."""
    for name, attribute in list(vars(cls).items()):
        if inspect.isfunction(attribute) and not name.startswith("__"):
            setattr(cls, name, macro(attribute))
    return cls


class Pointer:
    """An argument of which T.make_tensor says what it points to."""

    def __init__(self, name):
        self.name, self.tensor = name, None


def make_tensor(pointer, shape, dtype="float32", strides=None):
    """The tensor that an argument of type T.ptr points to; once for each, before T.Kernel.

    Calls give the array itself; its shape must be this one, which may hold numbers that are arguments too.
    """
    if not isinstance(pointer, Pointer):
        raise TypeError(
            f"{place()}: T.make_tensor: an argument that is annotated with T.ptr expected, got "
            f"{type(pointer).__name__}; tables of pointers are not supported, T.gather takes rows from one tensor"
        )
    if pointer.tensor is not None:
        raise ValueError(f"{place()}: T.make_tensor: '{pointer.name}' is a tensor already; view it with T.view")
    pointer.tensor = declare(current("T.make_tensor"), pointer.name, TensorType(shape, dtype, strides))
    return pointer.tensor
