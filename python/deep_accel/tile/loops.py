"""The loops of the language: T.serial, T.Parallel, T.Pipelined and the others, before they are iterated over."""

from . import trace
from .trace import plain

__all__ = [
    "Parallel", "Persistent", "Pipelined", "Serial", "Unroll", "Vectorized", "grid", "serial", "unroll", "vectorized",
]  # fmt: skip

_UNROLLED = 64  # iterations up to which T.unroll writes the body again and again


class Loop:
    """A loop of the kernel. `carries`: how values go from one iteration to the next ("values", "memory" or not)."""

    carries = "values"

    def __init__(self, title, start, stop, step=1):
        self.title, self.bounds = f"T.{title}", (start, stop, step)

    def begin(self, initial):
        start, stop, step = map(plain, self.bounds)
        self.builder = trace.builder(self.title)
        variables = self.builder.begin_for(start, stop, step, initial)
        return variables[0], variables[1:]

    def end(self, values):
        return self.builder.end(values)

    def __iter__(self):
        raise TypeError(
            f"{trace.place()}: {self.title} is iterated over by 'for' in a function under @T.prim_func, @T.macro "
            f"or @jit"
        )


class PipelinedLoop(Loop):
    """Iterations in order, overlapping where nobody can tell."""

    carries = "memory"

    def __init__(self, start, stop, stages, stage, order):
        super().__init__("Pipelined", start, stop)
        self.options = (stages, stage, order)

    def begin(self, initial):
        start, stop, step = map(plain, self.bounds)
        self.builder = trace.builder(self.title)
        stages, stage, order = self.options
        return self.builder.begin_pipeline(start, stop, step, stages, stage, order), []


class ParallelLoop(Loop):
    """Independent iterations over an index space."""

    carries = None

    def __init__(self, extents):
        self.title, self.extents = "T.Parallel", [plain(e) for e in extents]

    def begin(self, initial):
        tracer = trace.current(self.title)
        self.builder = tracer.builder
        if tracer.thread_indices is None:
            variables = self.builder.begin_map(self.extents)
        else:
            variables = self._across_threads(tracer)
        return (variables[0] if len(self.extents) == 1 else tuple(variables)), []

    def _across_threads(self, tracer):
        # In code for threads each takes every n-th point of the flattened space.
        total, count = 1, 1
        for extent in self.extents:
            total = total * extent
        for extent in tracer.threads:
            count *= extent
        flat = self.builder.begin_for(tracer.flat_thread(), total, count, [])[0]
        variables = []
        for extent in reversed(self.extents[1:]):
            variables.insert(0, flat % extent)
            flat = flat // extent
        return [flat, *variables]


class GridLoop(Loop):
    """Nested loops in order."""

    carries = None

    def __init__(self, extents):
        self.title, self.extents = "T.grid", [plain(e) for e in extents]

    def begin(self, initial):
        self.builder = trace.builder(self.title)
        variables = [self.builder.begin_for(0, extent, 1, [])[0] for extent in self.extents]
        return (variables[0] if len(variables) == 1 else tuple(variables)), []

    def end(self, values):
        for _ in self.extents:
            self.builder.end()


class PersistentLoop(Loop):
    """The points of a domain that fall to one of several equal blocks: index, index + wave, index + 2 wave, ..."""

    carries = None

    def __init__(self, domain, wave_size, index, group_size):
        self.title = "T.Persistent"
        self.domain, self.wave, self.index = [plain(d) for d in domain], plain(wave_size), plain(index)

    def begin(self, initial):
        self.builder = trace.builder(self.title)
        total = 1
        for extent in self.domain:
            total = total * extent
        flat = self.builder.begin_for(self.index, total, self.wave, [])[0]
        variables = []
        for extent in reversed(self.domain[1:]):
            variables.insert(0, flat % extent)
            flat = flat // extent
        variables.insert(0, flat)
        return (variables[0] if len(variables) == 1 else tuple(variables)), []


def as_loop(iterable):
    """The loop of the kernel, or None for what Python iterates over."""
    return iterable if isinstance(iterable, Loop) else None


def _bounds(start, stop):
    return (0, start) if stop is None else (start, stop)


def serial(start, stop=None, step=1):
    """``for i in T.serial(n)``: iterations in order. The variable counts from start (0) below stop."""
    return Loop("serial", *_bounds(start, stop), step)


def unroll(start, stop=None, step=1, explicit=False, unroll_factor=None):
    """As T.serial, its body written once for each iteration (up to 64), with the variable a plain number."""
    bounds = [plain(b) for b in (*_bounds(start, stop), step)]
    if all(isinstance(b, int) for b in bounds) and len(range(*bounds)) <= _UNROLLED:
        return range(*bounds)
    return Loop("unroll", *bounds)


def vectorized(start, stop=None, step=1):
    """As T.serial; the compiler decides about vectors."""
    return Loop("vectorized", *_bounds(start, stop), step)


def Pipelined(start, stop=None, num_stages=1, order=None, stage=None, sync=None, group=None):
    """``for k in T.Pipelined(n, num_stages=3)``: in order, up to so many iterations in flight at a time.

    The second positional argument is `stop`, as in the published language. `order` and `stage` place the statements by
    hand; `sync` and `group` are accepted and ignored.
    """
    return PipelinedLoop(*_bounds(start, stop), int(num_stages), list(stage or []), list(order or []))


def Parallel(*extents, loop_layout=None, coalesced_width=None, prefer_async=None):
    """``for i, j in T.Parallel(M, N)``: independent iterations. Layout hints are accepted and ignored."""
    if not extents:
        raise ValueError(f"{trace.place()}: T.Parallel: at least one extent is needed, got none; T.Parallel(n)")
    return ParallelLoop(extents)


def grid(*extents):
    """``for i, j in T.grid(M, N)``: nested loops in order."""
    return GridLoop(extents)


def Persistent(domain, wave_size, index, group_size=8):
    """``for m, n in T.Persistent([M, N], blocks, block)``: the share of one of `wave_size` equal blocks."""
    return PersistentLoop(domain, wave_size, index, group_size)


Serial, Unroll, Vectorized = serial, unroll, vectorized  # other spellings of the published language
