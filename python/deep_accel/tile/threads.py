"""Code that is written for the threads of a block: their indices, barriers, shuffles and votes."""

from .. import _native
from .._native import ShuffleMode, VoteMode
from . import trace
from .trace import current, place, plain

__all__ = [
    "get_thread_binding", "get_thread_bindings", "sync_threads", "sync_warp", "get_lane_idx", "get_warp_idx",
    "shfl_sync", "shfl_up", "shfl_down", "shfl_xor", "any_sync", "all_sync", "ballot_count", "warp_reduce_sum",
    "warp_reduce_max", "warp_reduce_min", "warp_reduce_bitand", "warp_reduce_bitor",
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
    return tracer.thread_indices[dim]


def get_thread_bindings():
    """This thread's indices."""
    return tuple(enter_threads().thread_indices)


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
    return enter_threads().builder.vote(VoteMode.any, plain(condition), width) != 0


def all_sync(condition, width=32):
    """Whether all threads of the group say yes."""
    return enter_threads().builder.vote(VoteMode.all, plain(condition), width) != 0


def ballot_count(condition, width=32):
    """How many threads of the group say yes."""
    return enter_threads().builder.vote(VoteMode.count, plain(condition), width)


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
