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
from . import language, loops, types
from .jit import JitFunction, jit
from .kernel import Kernel as CompiledKernel
from .kernel import compile
from .language import *  # noqa: F403
from .language import MATH, Kernel, Select, print_  # noqa: F401
from .loops import Parallel_ as Parallel
from .loops import Persistent_ as Persistent
from .loops import Pipelined_ as Pipelined
from .loops import grid, serial, unroll, vectorized
from .prim_func import PrimFunc, inline, macro, prim_func
from .types import *  # noqa: F403

globals().update(MATH)
print = print_
bool = types.bool_
Serial, Unroll, Vectorized = serial, unroll, vectorized
"""What the published language writes in capitals."""

_own = (
    Program,
    explain,
    target_names,
    JitFunction,
    PrimFunc,
    compile,
    inline,
    jit,
    macro,
    prim_func,
    CompiledKernel,
    grid,
    language,
    loops,
    Parallel,
    Persistent,
    Pipelined,
)
