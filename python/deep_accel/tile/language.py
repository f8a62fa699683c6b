"""All that a kernel is written with, under one name: ``import deep_accel.tile.language as T``."""

from . import allocate, atomics, checks, compute, functions, launch, loops, moves, scalars, schedule, threads, types
from .allocate import *  # noqa: F403
from .atomics import *  # noqa: F403
from .checks import *  # noqa: F403
from .compute import *  # noqa: F403
from .functions import *  # noqa: F403
from .launch import *  # noqa: F403
from .loops import *  # noqa: F403
from .moves import *  # noqa: F403
from .scalars import *  # noqa: F403
from .schedule import *  # noqa: F403
from .threads import *  # noqa: F403
from .types import *  # noqa: F403

_PARTS = (allocate, atomics, checks, compute, functions, launch, loops, moves, scalars, schedule, threads, types)
# Names that are built-ins elsewhere, and so have other names in their files.
_OWN = scalars.MATH | {"print": checks.print_, "bool": types.bool_}
globals().update(_OWN)

__all__ = [*(name for part in _PARTS for name in part.__all__), *_OWN]
