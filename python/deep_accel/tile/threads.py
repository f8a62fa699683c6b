"""Code that is written for the threads of a block: their indices, barriers, shuffles and votes."""

import math

from .. import _native
from .._native import ShuffleMode, VoteMode
from . import trace
from .loops import Loop
from .trace import Element, Late, current, place, plain

__all__ = [
    "get_thread_binding", "get_thread_bindings", "thread_binding", "sync_threads", "sync_warp", "syncthreads_and",
    "syncthreads_or", "syncthreads_count", "get_lane_idx", "get_warp_idx", "get_warp_idx_sync", "shfl_sync", "shfl_up",
    "shfl_down", "shfl_xor", "any_sync", "all_sync", "ballot", "ballot_count", "ballot_sync", "activemask",
    "warp_reduce_sum", "warp_reduce_max", "warp_reduce_min", "warp_reduce_bitand", "warp_reduce_bitor", "attr",
    "comm_reducer", "evaluate", "tvm_thread_allreduce",
]  # fmt: skip


def enter_threads():
    tracer = current("code for threads")
    if tracer.thread_indices is None:
        if not tracer.in_kernel:
            raise RuntimeError(f"{place()}: there are threads inside of T.Kernel only; move this into its body")
        tracer.thread_indices = tracer.builder.begin_threads(list(tracer.threads))
    return tracer


def get_thread_binding(dim=0):
    """This thread's index along a dimension of `threads`."""
    tracer = enter_threads()
    if not 0 <= dim < len(tracer.thread_indices):
        raise IndexError(
            f"{place()}: T.get_thread_binding: 'dim' must be below {len(tracer.thread_indices)}, got {dim}; see "
            f"T.Kernel(threads=)"
        )
    return Late(lambda: enter_threads().thread_indices[dim]) if tracer.phased else tracer.thread_indices[dim]


def get_thread_bindings():
    """This thread's indices."""
    return tuple(get_thread_binding(dim) for dim in range(len(enter_threads().thread_indices)))


class _ThreadLoop(Loop):
    carries = None

    def __init__(self, start, stop, dim):
        super().__init__("thread_binding", start, stop)
        self.dim = dim

    def begin(self, initial):
        self.builder = enter_threads().builder
        start, stop, _ = (plain(b) for b in self.bounds)
        extent = current().threads[self.dim] if self.dim < len(current().threads) else None
        if start != 0 or stop != extent:
            raise ValueError(
                f"{place()}: T.thread_binding: from 0 to the {extent} threads that T.Kernel(threads=) says, got "
                f"{start} to {stop}; make them equal"
            )
        return get_thread_binding(self.dim), []

    def end(self, values):
        return []


def thread_binding(start, stop=None, thread="threadIdx.x"):
    """``for t in T.thread_binding(128, thread="threadIdx.x")``: the body for each thread along a dimension."""
    if isinstance(stop, str):
        stop, thread = None, stop
    names = ("threadIdx.x", "threadIdx.y", "threadIdx.z")
    if thread not in names:
        raise ValueError(f"{place()}: T.thread_binding: 'thread' must be one of {', '.join(names)}, got {thread!r}")
    start, stop = (0, start) if stop is None else (start, stop)
    return _ThreadLoop(start, stop, names.index(thread))


def _flat_thread(self):
    flat, stride = 0, 1
    for index, extent in zip(self.thread_indices, self.threads):
        flat, stride = index * stride + flat, stride * extent
    return flat


trace.Tracer.flat_thread = _flat_thread


def sync_threads(barrier_id=None, arrive_count=None):
    """No thread of the block goes on before all have come here."""
    enter_threads().builder.barrier(barrier_id, arrive_count)


def sync_warp(mask=None):
    """As T.sync_threads."""
    sync_threads()


def get_lane_idx(warp_size=32):
    """This thread's place in its group of `warp_size`."""
    return enter_threads().flat_thread() % warp_size


def get_warp_idx(warp_size=32):
    """The number of this thread's group of `warp_size`."""
    return enter_threads().flat_thread() // warp_size


get_warp_idx_sync = get_warp_idx


def _shuffle(mode, name, text):
    def function(value, lane, width=32, mask=None):
        return enter_threads().builder.shuffle(mode, plain(value), plain(lane), width)

    function.__name__, function.__doc__ = name, text
    return function


shfl_sync = _shuffle(ShuffleMode.index, "shfl_sync", "The value of lane `lane` of the group.")
shfl_up = _shuffle(ShuffleMode.up, "shfl_up", "The value of the thread that many lanes below.")
shfl_down = _shuffle(ShuffleMode.down, "shfl_down", "The value of the thread that many lanes above.")
shfl_xor = _shuffle(ShuffleMode.lane_xor, "shfl_xor", "The value of the lane whose number differs in these bits.")


def any_sync(condition, width=32):
    """Whether any thread of the group says yes."""
    return _vote(VoteMode.any, condition, width) != 0


def all_sync(condition, width=32):
    """Whether all threads of the group say yes."""
    return _vote(VoteMode.all, condition, width) != 0


def ballot_count(condition, width=32):
    """How many threads of the group say yes."""
    return _vote(VoteMode.count, condition, width)


def _vote(mode, condition, width):
    return enter_threads().builder.vote(mode, plain(condition), width)


def ballot(condition):
    """A bit for each thread of its group of 32: whether it says yes. As an int32, so that the last is the sign."""
    lane = get_lane_idx()
    return warp_reduce_bitor(_native.select(plain(condition), plain(1 << lane), 0))


def ballot_sync(mask, condition):
    """As T.ballot, of the threads whose bits are set in the mask."""
    return ballot(condition) & plain(mask)


def activemask():
    """As T.ballot(True): the threads that are there."""
    return ballot(True)


def syncthreads_or(condition):
    """As T.sync_threads; whether any thread of the block says yes."""
    return any_sync(condition, _block_width("T.syncthreads_or"))


def syncthreads_and(condition):
    """As T.sync_threads; whether all threads of the block say yes."""
    return all_sync(condition, _block_width("T.syncthreads_and"))


def syncthreads_count(condition):
    """As T.sync_threads; how many threads of the block say yes."""
    return ballot_count(condition, _block_width("T.syncthreads_count"))


def _block_width(what):
    count = math.prod(current(what).threads)
    if count & (count - 1) or count > 1024:
        raise NotImplementedError(
            f"{place()}: {what}: blocks of a power of two of threads, up to 1024, got {count}; count in a shared tile "
            f"with T.atomic_add"
        )
    return count


def _warp_reduction(combine, name):
    def function(value, width=32):
        value, step = plain(value), width // 2
        while step:
            value = combine(value, shfl_xor(value, step, width))
            step //= 2
        return value

    function.__name__, function.__doc__ = name, "The combination of all values of the group, in each of its threads."
    return function


warp_reduce_sum = _warp_reduction(lambda a, b: a + b, "warp_reduce_sum")
warp_reduce_max = _warp_reduction(_native.max, "warp_reduce_max")
warp_reduce_min = _warp_reduction(_native.min, "warp_reduce_min")
warp_reduce_bitand = _warp_reduction(lambda a, b: a & b, "warp_reduce_bitand")
warp_reduce_bitor = _warp_reduction(lambda a, b: a | b, "warp_reduce_bitor")


def block_only(what):
    if current(what).thread_indices is not None:
        raise NotImplementedError(
            f"{place()}: {what} is an operation of the whole block and cannot stand in code for threads; move it "
            f"before "
            "the first use of T.get_thread_binding, or write the kernel without threads"
        )


class comm_reducer:
    """How T.tvm_thread_allreduce combines: ``T.comm_reducer(lambda x, y: x + y, [0])``."""

    def __init__(self, combine, identity=None):
        self.combine = combine


class attr:
    """``with T.attr(T.comm_reducer(...), "reduce_scope", ...)``: what T.tvm_thread_allreduce in its body does."""

    def __init__(self, node, key="reduce_scope", value=None):
        self.node = node

    def __enter__(self):
        self.tracer = current("T.attr")
        self.outer = self.tracer.reducer
        if isinstance(self.node, comm_reducer):
            self.tracer.reducer = self.node

    def __exit__(self, *error):
        self.tracer.reducer = self.outer


def evaluate(value):
    """A call for what it does: its value is not used."""


def tvm_thread_allreduce(count, value, condition, out, *threads, dtype=None):
    """Combine the values of all threads along the dimensions of the indices `threads`, into `out` of each of them.

    T.attr around it says how; sums are the default. Extents of these dimensions, and of those before, are powers of 2.
    """
    tracer = enter_threads()
    combine = tracer.reducer.combine if tracer.reducer else lambda a, b: a + b
    value = plain(value)
    for thread in threads:
        at = _dimension(tracer, thread)
        stride, extent = math.prod(tracer.threads[:at]), tracer.threads[at]
        if stride & (stride - 1) or extent & (extent - 1) or stride * extent > 1024:
            raise NotImplementedError(
                f"{place()}: T.tvm_thread_allreduce: extents that are powers of two, up to 1024 threads, got "
                f"threads={tracer.threads}; choose such, or add in a shared tile with T.atomic_add"
            )
        step = stride * extent // 2
        while step >= stride:
            value = plain(combine(value, shfl_xor(value, step, stride * extent)))
            step //= 2
    if isinstance(out, Element):
        out.buffer[tuple(out.indices)] = value
    else:
        out[0] = value


def _dimension(tracer, thread):
    for at, index in enumerate(tracer.thread_indices):
        if plain(thread) is index:
            return at
    raise ValueError(f"{place()}: T.tvm_thread_allreduce: indices from T.get_thread_binding expected; pass these")
