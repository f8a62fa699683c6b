"""The tile language: kernels written in Python, compiled for the machine at hand.

>>> import numpy as np
>>> import deep_accel.tile as T
>>>
>>> @T.jit
... def double(X, block=256):
...     N = T.const("N")
...     X: T.Tensor((N,), T.float32)
...     Y = T.empty((N,), T.float32)
...     with T.Kernel(T.ceildiv(N, block)) as b:
...         x = T.alloc_fragment((block,), T.float32)
...         T.copy(X[b * block], x)
...         for i in T.Parallel(block):
...             x[i] = 2 * x[i]
...         T.copy(x, Y[b * block])
...     return Y
>>>
>>> double(np.arange(1000, dtype=np.float32))   # a new array
"""

from .._native import Program, explain, target_names
from . import language
from .just_in_time import JitFunction, jit
from .kernel import Kernel as CompiledKernel
from .kernel import compile, lower
from .language import *  # noqa: F403

__all__ = [
    *language.__all__,
    "CompiledKernel",
    "JitFunction",
    "Program",
    "compile",
    "explain",
    "jit",
    "lower",
    "target_names",
]
