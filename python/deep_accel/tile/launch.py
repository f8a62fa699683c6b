"""The grid of a kernel, and hints about how it is to be run."""

import math

from .._native import BlockWalk
from .trace import current, plain

__all__ = [
    "Kernel", "use_swizzle", "annotate_safe_value", "annotate_layout", "annotate_l2_hit_ratio",
    "annotate_restrict_buffers", "annotate_min_blocks_per_sm", "GemmWarpPolicy",
]  # fmt: skip


class Kernel:
    """``with T.Kernel(gx, gy, threads=128) as (bx, by)``: the body for each block of a grid of one to three extents.

    `threads` counts the threads of code that is written for threads, and is a hint elsewhere. Other launch options are
    accepted and ignored.
    """

    def __init__(self, *extents, threads=128, **hints):
        self.extents = [plain(e) for e in extents]
        self.threads = tuple(threads) if isinstance(threads, (tuple, list)) else (threads or 128,)

    def __enter__(self):
        tracer = self.tracer = current("T.Kernel")
        walk, panel = tracer.walk or (BlockWalk.rows, 8)
        count = math.prod(int(t) for t in self.threads)
        variables = tracer.builder.begin_grid(self.extents, walk, panel, count)
        tracer.in_kernel, tracer.threads, tracer.thread_indices = True, tuple(int(t) for t in self.threads), None
        tracer.walk = None
        return variables[0] if len(variables) == 1 else tuple(variables)

    def __exit__(self, kind, *error):
        if kind is not None:
            return
        if self.tracer.thread_indices is not None:
            self.tracer.builder.end()
        self.tracer.thread_indices, self.tracer.in_kernel = None, False
        self.tracer.builder.end()


def use_swizzle(panel_size=10, order="row", enable=True):
    """Walk the grid in panels of so many blocks, which share what they read in the caches."""
    if enable:
        current("T.use_swizzle").walk = (BlockWalk.swizzle, int(panel_size))


def annotate_safe_value(values):
    """What elements outside of a tensor read as: ``T.annotate_safe_value({A: -1})``."""
    for buffer, value in values.items():
        current("T.annotate_safe_value").outside[buffer.name] = value


def _hint(name, text):
    def hint(*args, **kwargs):
        current(f"T.{name}")

    hint.__name__, hint.__doc__ = name, text
    return hint


annotate_layout = _hint("annotate_layout", "Accepted and ignored: the compiler chooses layouts.")
annotate_l2_hit_ratio = _hint("annotate_l2_hit_ratio", "Accepted and ignored.")
annotate_restrict_buffers = _hint("annotate_restrict_buffers", "Accepted and ignored.")
annotate_min_blocks_per_sm = _hint("annotate_min_blocks_per_sm", "Accepted and ignored.")


class GemmWarpPolicy:
    """How a product was to be split over groups of threads; ignored."""

    Square, FullRow, FullCol = 0, 1, 2
