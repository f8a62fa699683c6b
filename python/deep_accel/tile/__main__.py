"""Prints the program that a Python file's kernel writes: ``python -m deep_accel.tile FILE [PARAMETER=VALUE ...]``.

The text goes into a file, or into the command: ``python -m deep_accel.tile attention.py heads=8 | deepaccel tile
explain -``.
"""

import argparse
import ast
import runpy
import sys

from . import JitFunction, PrimFunc


def value_of(text):
    """The value of a parameter: a Python literal, or else the text itself."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def parameter(text):
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"PARAMETER=VALUE expected, got {text!r}")
    return name, value_of(value)


def program_of(namespace, file, name, parameters):
    """The program of the kernel `name`, or of the only one. Raises ValueError where there is none such."""
    kernels = {n: v for n, v in namespace.items() if isinstance(v, (JitFunction, PrimFunc))}
    known = ", ".join(kernels) or "none"
    if name is None and len(kernels) != 1:
        raise ValueError(
            f"{file} must have one kernel (under @T.jit or @T.prim_func), or say which by --kernel: {known}"
        )
    if name is not None and name not in kernels:
        raise ValueError(f"{file} has no kernel '{name}'; it has: {known}")
    kernel = kernels[name] if name else next(iter(kernels.values()))
    if isinstance(kernel, JitFunction):
        if kernel.eager:
            raise ValueError(
                f"{file}: '{kernel.__name__}' takes its sizes from the arrays of a call; put a @T.prim_func inside, "
                f"or call its get_kernel_source(...) with arrays"
            )
        try:
            kernel.signature.bind(**parameters)
        except TypeError as error:
            raise ValueError(f"{file}: {kernel.__name__}{kernel.signature}: {error}; write PARAMETER=VALUE") from None
        kernel = kernel.function(**parameters)
    elif parameters:
        raise ValueError(f"{file}: '{kernel.name}' takes no parameters, got {', '.join(parameters)}")
    return kernel


def main(arguments=None):
    """Exit status 0, or 2 where the arguments are wrong."""
    parser = argparse.ArgumentParser("python -m deep_accel.tile", description="Print the program that a kernel writes.")
    parser.add_argument("file", metavar="FILE", help="a Python file; what it runs as a script is not run")
    parser.add_argument(
        "parameters", metavar="PARAMETER=VALUE", nargs="*", type=parameter, help="the kernel's parameters"
    )
    parser.add_argument("--kernel", metavar="NAME", help="which kernel, where the file has several")
    parser.add_argument("--locations", action="store_true", help="print where each operation was written")
    options = parser.parse_intermixed_args(arguments)
    try:
        namespace = runpy.run_path(options.file, run_name="deep_accel.tile.file")
        kernel = program_of(namespace, options.file, options.kernel, dict(options.parameters))
    except (OSError, ValueError) as error:
        parser.exit(2, f"{parser.prog}: error: {error}\n")
    sys.stdout.write(kernel.text(options.locations))


if __name__ == "__main__":
    main()
