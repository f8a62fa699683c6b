"""The grid of a kernel, and hints about how it is to be run."""

import math

from .._native import BlockWalk
from .trace import Late, current, place, plain

__all__ = [
    "GemmWarpPolicy", "Kernel", "annotate_l2_hit_ratio", "annotate_layout", "annotate_min_blocks_per_sm",
    "annotate_restrict_buffers", "annotate_safe_value", "get_block_binding", "get_block_bindings", "get_block_extent",
    "get_block_extents", "get_thread_extent", "get_thread_extents", "sync_global", "sync_grid", "use_swizzle",
]  # fmt: skip


class Kernel:
    """``with T.Kernel(gx, gy, threads=128) as (bx, by)``: the body for each block of a grid of one to three extents.

    `threads` counts the threads of code that is written for threads, and is a hint elsewhere. Other launch options are
    accepted and ignored.
    """

    def __init__(self, *extents, threads=128, **hints):
        self.extents = [plain(e) for e in extents]
        threads = threads if isinstance(threads, (tuple, list)) else (threads or 128,)
        self.threads = tuple(int(t) for t in threads)

    def __enter__(self):
        tracer = self.tracer = current("T.Kernel")
        self.order = tracer.walk or (BlockWalk.rows, 8)
        tracer.kernel, tracer.threads, tracer.walk = self, self.threads, None
        self.begin()
        bound = self.variables
        if tracer.phased:
            bound = [Late(lambda axis=axis: self.variables[axis]) for axis in range(len(bound))]
        self.bound = tuple(bound)
        return self.bound[0] if len(bound) == 1 else self.bound

    def begin(self):
        self.variables = self.tracer.builder.begin_grid(self.extents, *self.order, math.prod(self.threads))
        self.tracer.in_kernel, self.tracer.thread_indices = True, None

    def end(self):
        if self.tracer.thread_indices is not None:
            self.tracer.builder.end()
        self.tracer.thread_indices, self.tracer.in_kernel = None, False
        self.tracer.builder.end()

    def __exit__(self, kind, *error):
        if kind is None:
            self.end()


def sync_grid():
    """No block goes on before all have come here: what blocks wrote to tensors and T.alloc_global is seen by others.

    It stands in the body of T.Kernel itself, and cuts it in two. Nothing goes across but indices of blocks and threads:
    tiles and numbers that were computed before are not there after it.
    """
    tracer = current("T.sync_grid")
    if not tracer.in_kernel or not tracer.phased or set(tracer.builder.open_regions) - {"grid", "threads"}:
        raise ValueError(
            f"{place()}: T.sync_grid stands in the body of T.Kernel itself, got it in a loop, a branch, a macro or "
            f"outside of T.Kernel; move it"
        )
    tracer.kernel.end()
    tracer.kernel.begin()


sync_global = sync_grid


def get_block_binding(dim=0):
    """This block's index along a dimension of the grid."""
    return _of_dimension("T.get_block_binding", _kernel("T.get_block_binding").bound, dim)


def get_block_bindings():
    """This block's indices."""
    return _kernel("T.get_block_bindings").bound


def get_block_extent(dim=0):
    """The size of the grid along a dimension."""
    return _of_dimension("T.get_block_extent", get_block_extents(), dim)


def get_block_extents():
    """The sizes of the grid."""
    return tuple(_kernel("T.get_block_extents").extents)


def get_thread_extent(dim=0):
    """How many threads a block has along a dimension."""
    return _of_dimension("T.get_thread_extent", get_thread_extents(), dim)


def get_thread_extents():
    """How many threads a block has along each dimension."""
    return _kernel("T.get_thread_extents").threads


def _kernel(what):
    tracer = current(what)
    if not tracer.in_kernel:
        raise RuntimeError(f"{place()}: {what} belongs in the body of T.Kernel; move it there")
    return tracer.kernel


def _of_dimension(what, values, dim):
    if not 0 <= dim < len(values):
        raise IndexError(f"{place()}: {what}: 'dim' must be below {len(values)}, got {dim}; see T.Kernel")
    return values[dim]


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
