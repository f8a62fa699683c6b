"""Matrix products."""

import sys

import numpy as np

from . import _native
from ._arrays import to_numpy
from ._native import Tensor


def gemm(
    a,
    b,
    c=None,
    *,
    out=None,
    alpha=1,
    beta=0,
    bias=None,
    activation=None,
    trans_a=False,
    trans_b=False,
    precision=None,
    out_dtype=None,
    tile_size=None,
    threads=None,
):
    """The matrix product ``activation(alpha * a @ b + beta * c + bias)``.

    Arguments are NumPy arrays, our tensors, or objects with ``__dlpack__`` (PyTorch, JAX), read in place whatever their
    strides are.

    Parameters:
        a: ``[..., M, K]``, or ``[K]``: a row, which vanishes from the result.
        b: ``[..., K, N]``, or ``[K]``: a column, likewise. Axes in front broadcast, as in ``numpy.matmul``. Both of
            f64, f32, f16 or bf16 (of 16-bit floats summed in f32), or of i8 and u8 (summed exactly, modulo 2**32).
        c: what is added; broadcasts to the result ``[..., M, N]``. Read only where ``beta`` is not 0.
        out: ``[..., M, N]``, where the result goes. May be ``c`` itself, and else shares memory with no operand.
        alpha, beta: numbers.
        bias: ``[N]``, added to each row.
        activation: ``'relu'``, ``'gelu'`` (with erf), ``'gelu_tanh'``, ``'silu'`` or None.
        trans_a, trans_b: swap the last two axes first: ``a`` is ``[..., K, M]``, ``b`` is ``[..., N, K]``.
        precision: the float type to which operands are rounded before they are multiplied, as ``'fp16'``; None: theirs.
        out_dtype: the result's type; None: that of ``out``, else the operands' (i32 of 8-bit integers).
        tile_size: rows and columns of the result that one block computes, as a hint.
        threads: how many threads work; None: ``num_threads()``. The result is the same for any number.

    Returns ``out``, or a new array of the kind of ``a``.

    Raises ValueError for shapes, options and outputs that do not fit, TypeError for dtypes; the message names the
    argument.
    """
    result = _native.gemm(
        a, b, c, out, alpha, beta, bias, activation, trans_a, trans_b, precision, out_dtype, tile_size, threads
    )
    return _like(result, a) if out is None else out


def _like(result: Tensor, model):
    """The tensor as an array of the library that `model` comes from, without a copy."""
    if isinstance(model, Tensor):
        return result
    if not isinstance(model, np.ndarray) and hasattr(model, "__dlpack__"):
        library = sys.modules.get(type(model).__module__.partition(".")[0])
        if hasattr(model, "__array_namespace__"):
            library = model.__array_namespace__()
        if hasattr(library, "from_dlpack"):
            return library.from_dlpack(result)
    return to_numpy(result)
