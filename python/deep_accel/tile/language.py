"""The operations of the language. In this module a buffer argument may be a buffer, a window of one (``A[i:i + 64,
:]``)
or, in copies and atomics, the place where a window begins (``A[i, j]``)."""

import math

from .. import _native
from .._native import BlockWalk, Combination, MemorySpace, Ordering, Role, ShapeError, ShuffleMode, VoteMode
from . import trace
from .loops import Parallel
from .trace import Buffer, Element, Region, Var, builder, current, is_scalar, place, plain
from .types import dtype as dtype_class
from .types import scalar_type

# Launch ------------------------------------------------------------------------------------------------------------


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


# Memory ------------------------------------------------------------------------------------------------------------


def _alloc(space, what, shape, dtype):
    tracer = current(what)
    shape = shape if isinstance(shape, (tuple, list)) else (shape,)
    sizes = [trace.size(s, what) for s in shape]
    return Buffer(tracer.builder.alloc(space, dtype, sizes, tracer.take_name()))


def alloc_shared(shape, dtype="float32", scope=None):
    """A tile that the whole block sees, contents undefined."""
    return _alloc(MemorySpace.shared, "T.alloc_shared", shape, dtype)


def alloc_fragment(shape, dtype="float32", scope=None):
    """A tile of the block that lives in registers where it can, contents undefined."""
    if current("T.alloc_fragment").uses_threads:
        return _alloc(MemorySpace.shared, "T.alloc_fragment", shape, dtype)
    return _alloc(MemorySpace.fragment, "T.alloc_fragment", shape, dtype)


def alloc_local(shape, dtype="float32", scope=None):
    """Memory of a thread of its own; in code without threads, of the block."""
    if current("T.alloc_local").uses_threads:
        _enter_threads()
    return _alloc(MemorySpace.local, "T.alloc_local", shape, dtype)


def alloc_var(dtype, *init, scope=None):
    """A number that may be assigned again: ``x = T.alloc_var("int32", 0)``, then ``x = x + 1``."""
    if current("T.alloc_var").uses_threads:
        _enter_threads()
    return Var(dtype, init[0] if init else None)


def alloc_global(shape, dtype="float32"):
    """A workspace that all blocks see; before T.Kernel."""
    return _alloc(MemorySpace.global_, "T.alloc_global", shape, dtype)


def empty(shape, dtype="float32"):
    """In a function under @jit: an output, allocated at each call; return it."""
    tracer = current("T.empty")
    name = tracer.take_name() or f"output_{len(tracer.outputs)}"
    native = tracer.builder.argument(name, dtype, [plain(s) for s in shape], Role.automatic)
    tracer.outputs.append(name)
    return Buffer(native)


_REDUCERS = {"sum": Combination.add, "max": Combination.max, "min": Combination.min, "abssum": Combination.abs_add,
             "absmax": Combination.abs_max, "prod": Combination.mul, "bitand": Combination.bits_and,
             "bitor": Combination.bits_or, "bitxor": Combination.bits_xor}  # fmt: skip
_IDENTITY = {"sum": 0, "abssum": 0, "absmax": 0, "bitor": 0, "bitxor": 0, "bitand": -1, "prod": 1}


class Reducer(Buffer):
    """Collects contributions; ``T.alloc_reducer``."""

    def __init__(self, native, kind):
        super().__init__(native)
        self.kind = kind


def alloc_reducer(shape, dtype="float32", op="sum", replication=None):
    """A buffer into which iterations of T.Parallel contribute with T.reducer_update, or with ``+=`` for "sum"."""
    if op not in _REDUCERS:
        raise ValueError(
            f"{place()}: T.alloc_reducer: 'op' must be one of {', '.join(_REDUCERS)}, got {op!r}; choose one"
        )
    buffer = _alloc(MemorySpace.fragment, "T.alloc_reducer", shape, dtype)
    return Reducer(buffer.native, op)


def reducer_init(reducer):
    """Start a reduction from nothing."""
    kind = reducer.kind
    value = _IDENTITY.get(kind)
    if value is None:
        value = (-1 if kind == "max" else 1) * infinity(reducer.dtype)
    fill(reducer, value)


def reducer_update(reducer, indices, value):
    """Contribute a value to an element."""
    indices = indices if isinstance(indices, (tuple, list)) else [indices]
    builder().combine(_REDUCERS[reducer.kind], plain(value), reducer.native, [plain(i) for i in indices])


def finalize_reducer(reducer):
    """End a reduction. Its elements are complete then."""


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


# Views -------------------------------------------------------------------------------------------------------------


def _tile(value, what):
    """The native buffer of an operand that must be a tile, or a window of one."""
    if isinstance(value, Region):
        return value.native_view(what)
    if isinstance(value, Var):
        value = value.buffer
    if not isinstance(value, Buffer):
        raise TypeError(
            f"{place()}: {what}: a tile or a window of one expected, got {type(value).__name__}; pass a buffer"
        )
    return value.native


def reshape(src, shape):
    """The same elements under another shape, without a copy."""
    return Buffer(builder("T.reshape").reshape(_tile(src, "T.reshape"), [trace.size(s, "T.reshape") for s in shape]))


def view(src, shape=None, dtype=None):
    """The same bytes under another shape and dtype, without a copy."""
    native = _tile(src, "T.view")
    if dtype is not None:
        native = builder("T.view").bitcast(native, dtype)
    if shape is not None:
        native = builder("T.view").reshape(native, [trace.size(s, "T.view") for s in shape])
    return Buffer(native)


# Moves -------------------------------------------------------------------------------------------------------------


def _window(value, what, argument):
    """An operand of a copy: its buffer, where the window begins, its kept dimensions and extents (None: unknown)."""
    if isinstance(value, Var):
        value = value.buffer
    if isinstance(value, Region):
        return value.buffer, value.indices, value.kept, value.extents
    if isinstance(value, Element):
        return value.buffer, value.indices, None, None
    if isinstance(value, Buffer):
        extents = [s if isinstance(s, int) else None for s in value.shape]
        return value, [0] * len(extents), list(range(len(extents))), extents
    raise TypeError(
        f"{place()}: {what}: '{argument}' must be a buffer, a window A[i:i + n, :] or a place A[i, j], got "
        f"{type(value).__name__}; pass one of these"
    )


def _side(window, other_extents, what, argument):
    """The tile of an on-chip side, cut to the extents that it or the other side has."""
    buffer, indices, kept, extents = window
    if kept is None:
        if other_extents is None or any(e is None for e in other_extents):
            raise ShapeError(
                f"{place()}: {what}: neither side says how much to copy; give one as a window A[i:i + n, :]"
            )
        rank = len(buffer.shape)
        sizes = [e for e in other_extents if e != 1] if len(other_extents) > rank else list(other_extents)
        sizes = [1] * (rank - len(sizes)) + sizes
        return builder(what).slice(buffer.native, indices, sizes, [])
    if any(e is None for e in extents):
        raise ShapeError(f"{place()}: {what}: the size of '{argument}' is not a constant; write start : start + n")
    return builder(what).slice(buffer.native, indices, extents, kept)


def _fit(window, tile_shape, what, argument):
    """The dimensions of a global side that the tile's dimensions stand for. ShapeError where the extents differ."""
    buffer, indices, kept, extents = window
    if kept is None:
        return []
    pairs = list(zip(kept, extents))
    if len(pairs) > len(tile_shape):
        # Dimensions of size 1 may be left out.
        for pair in list(pairs):
            if len(pairs) > len(tile_shape) and pair[1] == 1:
                pairs.remove(pair)
    fits = len(pairs) == len(tile_shape) and all(e is None or e == s for (_, e), s in zip(pairs, tile_shape))
    whole = extents == [s if isinstance(s, int) else None for s in buffer.shape]
    if not fits and whole and len(kept) == len(tile_shape):
        fits = True  # a whole tensor and a larger or smaller tile: the tensor's bounds guard
    if not fits:
        raise ShapeError(
            f"{place()}: {what}: '{argument}' must have the tile's shape {list(tile_shape)}, got a window "
            f"{[e for _, e in pairs]} of '{buffer.name}'; make them equal"
        )
    return [axis for axis, _ in pairs]


def _static(native):
    return [plain(s) for s in native.shape]


def copy(
    src, dst, coalesced_width=None, disable_tma=None, eviction_policy=None, prefer_instruction=None, loop_layout=None
):
    """Copy between any two places, converting. Elements outside of a tensor read as 0, and are not written.

    How much is copied says the side that is a buffer or a window; the other may be a place ``A[i, j]``. Hints are
    accepted and ignored.
    """
    _copy(src, dst, "T.copy", None)


def _copy(src, dst, what, start):
    tracer = current(what)
    if is_scalar(src) and not isinstance(src, Element):
        return fill(dst, src)
    source, dest = _window(src, what, "src"), _window(dst, what, "dst")
    if tracer.thread_indices is not None:
        return _copy_by_threads(source, dest, what)
    b = tracer.builder
    fill_value = tracer.outside.get(source[0].name)
    if source[0].is_global and dest[0].is_global:
        extents = source[3] if source[3] is not None and None not in source[3] else dest[3]
        if extents is None or None in extents:
            raise ShapeError(
                f"{place()}: {what}: neither side says how much to copy; give one as a window A[i:i + n, :]"
            )
        tile = b.alloc(MemorySpace.shared, source[0].native.dtype, extents, "")
        b.load(source[0].native, source[1], tile, fill_value, _fit(source, extents, what, "src"))
        b.store(tile, dest[0].native, dest[1], _fit(dest, extents, what, "dst"))
    elif source[0].is_global:
        tile = _side(dest, source[3], what, "dst")
        dims = _fit(source, _static(tile), what, "src")
        return (start or b.load)(source[0].native, source[1], tile, fill_value, dims)
    elif dest[0].is_global:
        tile = _side(source, dest[3], what, "src")
        b.store(tile, dest[0].native, dest[1], _fit(dest, _static(tile), what, "dst"))
    else:
        one = _side(source, dest[3], what, "src")
        two = _side(dest, source[3], what, "dst")
        if _static(one) != _static(two):
            drop = [s for s in _static(one) if s != 1]
            if drop != [s for s in _static(two) if s != 1]:
                raise ShapeError(
                    f"{place()}: {what}: 'dst' must have the shape of 'src', {_static(one)}, got {_static(two)}; "
                    f"make them equal"
                )
            one = b.reshape(one, _static(two))
        b.copy(one, two)


def async_copy(src, dst):
    """A copy into a tile that may still be under way; returns what T.wait takes."""
    result = _copy(src, dst, "T.async_copy", builder("T.async_copy").async_load)
    if result is None:
        raise TypeError(f"{place()}: T.async_copy: from a tensor into a tile only; use T.copy for other copies")
    return result


def wait(*tokens):
    """Wait for asynchronous copies."""
    builder("T.wait").wait(list(tokens))


def transpose(src, dst, permutation=None):
    """Copy a tile with its dimensions permuted (swapped by default)."""
    rank = len(src.shape)
    builder("T.transpose").transpose(
        _tile(src, "T.transpose"),
        _tile(dst, "T.transpose"),
        list(permutation or range(rank))[:: 1 if permutation else -1],
    )


def im2col(img, col, nhw_step, c_step, kernel, stride, dilation, pad):
    """Fill a tile with the columns of an implicit product: rows are output pixels, columns (kh, kw, c).

    The tile begins at pixel nhw_step * rows and column c_step * columns of the whole matrix. The image is N x H x W
    x C.
    """

    def pair(v):
        return tuple(v) if isinstance(v, (tuple, list)) else (v, v)

    around = list(pad) if isinstance(pad, (tuple, list)) else [pad] * 4
    tile = _tile(col, "T.im2col")
    rows, columns = _static(tile)
    builder("T.im2col").im2col(
        img.native,
        plain(nhw_step) * rows,
        plain(c_step) * columns,
        tile,
        pair(kernel),
        pair(stride),
        pair(dilation),
        around,
    )


c2d_im2col = im2col


def gather(src, rows, dst, axis=0, fill=None):
    """``dst[r, ...] = src[..., rows[r], ...]``: rows named by a tile of integers; those outside read as `fill` (0).

    `src` is a tensor, or the place where the window's other dimensions begin (its entry of `axis` is added to the
    rows).
    """
    buffer, indices, _, _ = _window(src, "T.gather", "src")
    builder("T.gather").gather(buffer.native, indices, _tile(rows, "T.gather"), _tile(dst, "T.gather"), axis, fill)


def scatter(src, rows, dst, axis=0, op=None):
    """``dst[..., rows[r], ...] = src[r, ...]``, or combined with what is there (`op` "sum", "max", "min")."""
    buffer, indices, _, _ = _window(dst, "T.scatter", "dst")
    combination = _REDUCERS[op] if op else None
    builder("T.scatter").scatter(
        _tile(src, "T.scatter"), buffer.native, indices, _tile(rows, "T.scatter"), axis, combination
    )


def prefetch(src, level=2, write=False):
    """Ask for a window to be brought near; level 1, 2 or 3 names the cache."""
    buffer, indices, kept, extents = _window(src, "T.prefetch", "src")
    sizes = [1] * len(indices)
    for axis, extent in zip(kept or [], extents or []):
        sizes[axis] = trace.size(extent, "T.prefetch")
    builder("T.prefetch").prefetch(buffer.native, indices, sizes, level, write)


def fill(buffer, value):
    """Set every element."""
    tracer = current("T.fill")
    if tracer.thread_indices is not None or (isinstance(buffer, (Buffer, Region)) and _base(buffer).is_global):
        return _fill_by_elements(buffer, value)
    tracer.builder.fill(_tile(buffer, "T.fill"), plain(value))


def clear(buffer):
    """Set every element to 0."""
    fill(buffer, 0)


def _base(value):
    return value.buffer if isinstance(value, Region) else value


def _each(window, extents):
    """Visits the points of a window: yields the indices of the buffer for each."""
    loop = Parallel(extents)
    variables, _ = loop.begin([])
    variables = [variables] if len(extents) == 1 else list(variables)
    yield variables
    loop.end([])


def _place_of(window, variables):
    buffer, indices, kept, _ = window
    kept = kept if kept is not None else list(range(len(indices) - len(variables), len(indices)))
    at = list(indices)
    for axis, variable in zip(kept[-len(variables) :], variables):
        at[axis] = at[axis] + variable
    return buffer, tuple(at)


def _fill_by_elements(target, value):
    window = _window(target, "T.fill", "buffer")
    if window[0].native.space == MemorySpace.local:
        return _local_fill(window, value)
    for variables in _each(window, [s if s is not None else d for s, d in zip(window[3], window[0].shape)]):
        buffer, at = _place_of(window, variables)
        buffer[at] = value


def _local_fill(window, value):
    b = builder()
    b.fill(_side(window, None, "T.fill", "buffer"), plain(value))


def _copy_by_threads(source, dest, what):
    """In code for threads: the threads share the elements of the copy, between two barriers."""
    extents = next((w[3] for w in (source, dest) if w[3] is not None and None not in w[3]), None)
    if extents is None:
        raise ShapeError(f"{place()}: {what}: neither side says how much to copy; give one as a window A[i:i + n, :]")
    private = any(w[0].native.space == MemorySpace.local for w in (source, dest))
    b = builder(what)
    if private:  # each thread copies for itself
        variables = [b.begin_for(0, e, 1, [])[0] for e in extents]
        value, (to, at) = Element(*_indices(_place_of(source, variables))), _place_of(dest, variables)
        to[at] = value
        for _ in extents:
            b.end()
        return
    b.barrier()
    for variables in _each(dest, extents):
        value, (to, at) = Element(*_indices(_place_of(source, variables))), _place_of(dest, variables)
        to[at] = value
    b.barrier()


def _indices(place_of):
    return place_of[0], list(place_of[1])


# Compute -----------------------------------------------------------------------------------------------------------


def gemm(
    A,
    B,
    C,
    transpose_A=False,
    transpose_B=False,
    policy=None,
    clear_accum=False,
    k_pack=1,
    wg_wait=0,
    mbar=None,
    A_scale=None,
    B_scale=None,
):
    """``C += op(A) @ op(B)`` on tiles or windows of tiles; `clear_accum` starts from zero.

    Sums are in C's compute type. `A_scale` and `B_scale` are tiles of scales of blocks of A and B. `policy`, `k_pack`,
    `wg_wait` and `mbar` are accepted and ignored.
    """
    _block_only("T.gemm")
    scales = [None if s is None else _tile(s, "T.gemm") for s in (A_scale, B_scale)]
    builder("T.gemm").gemm(
        _tile(A, "T.gemm"),
        _tile(B, "T.gemm"),
        _tile(C, "T.gemm"),
        bool(transpose_A),
        bool(transpose_B),
        bool(clear_accum),
        *scales,
    )


def gemm_sp(A_sparse, E, B, C, transpose_B=False, clear_accum=False, policy=None):
    """``C += expand(A_sparse, E) @ op(B)`` with a 2:4 sparse left factor; E says where in its group of four each
    stands."""
    _block_only("T.gemm_sp")
    operands = [_tile(x, "T.gemm_sp") for x in (A_sparse, E, B, C)]
    builder("T.gemm_sp").sparse_gemm(*operands, bool(transpose_B), bool(clear_accum))


def _block_only(what):
    if current(what).thread_indices is not None:
        raise NotImplementedError(
            f"{place()}: {what} is an operation of the whole block and cannot stand in code for threads; move it "
            f"before "
            "the first use of T.get_thread_binding, or write the kernel without threads"
        )


def reduce(buffer, out, reduce_type, dim=-1, clear=True, nan_propagate=False):
    """Reduce a tile along a dimension; `out` has its shape without that dimension, or 1 there. clear=False
    accumulates."""
    _block_only(f"T.reduce_{reduce_type}")
    if reduce_type not in _REDUCERS:
        raise ValueError(
            f"{place()}: T.reduce: 'reduce_type' must be one of {', '.join(_REDUCERS)}, got {reduce_type!r}; choose one"
        )
    builder("T.reduce").reduce(
        _REDUCERS[reduce_type], _tile(buffer, "T.reduce"), _tile(out, "T.reduce"), dim, bool(clear), bool(nan_propagate)
    )


def _reduction(kind, text):
    def function(buffer, out, dim=-1, clear=True, batch=1, nan_propagate=False):
        reduce(buffer, out, kind, dim, clear, nan_propagate)

    function.__name__, function.__doc__ = f"reduce_{kind}", f"{text} along a dimension of a tile; see T.reduce."
    return function


reduce_sum = _reduction("sum", "The sum")
reduce_max = _reduction("max", "The greatest")
reduce_min = _reduction("min", "The least")
reduce_abssum = _reduction("abssum", "The sum of absolute values")
reduce_absmax = _reduction("absmax", "The greatest absolute value")
reduce_prod = _reduction("prod", "The product")
reduce_bitand = _reduction("bitand", "The bits that all have")
reduce_bitor = _reduction("bitor", "The bits that any has")
reduce_bitxor = _reduction("bitxor", "The parity of each bit")


def _scan(combination, name):
    def function(src, dst=None, dim=0, reverse=False, exclusive=False):
        _block_only(f"T.{name}")
        one = _tile(src, f"T.{name}")
        two = one if dst is None else _tile(dst, f"T.{name}")
        builder(f"T.{name}").scan(combination, one, two, dim, bool(reverse), bool(exclusive))

    function.__name__ = name
    function.__doc__ = "Running combination along a dimension, into `dst` or in place; `reverse` from the end."
    return function


cumsum = _scan(Combination.add, "cumsum")
cummax = _scan(Combination.max, "cummax")


# Atomics -----------------------------------------------------------------------------------------------------------


def _atomic(combination, name):
    def function(dst, value, memory_order="relaxed", return_prev=False, use_tma=False):
        b = builder(f"T.{name}")
        order = _order(memory_order)
        if is_scalar(value) and not isinstance(value, (Buffer, Region)):
            buffer, indices, kept, _ = _window(dst, f"T.{name}", "dst")
            if kept:
                raise TypeError(f"{place()}: T.{name}: one element A[i, j] for one number; or give a tile as the value")
            previous = b.atomic(combination, plain(value), buffer.native, indices, order)
            return previous if return_prev else None
        window = _window(dst, f"T.{name}", "dst")
        tile = _side(_window(value, f"T.{name}", "value"), window[3], f"T.{name}", "value")
        b.atomic_store(
            combination, tile, window[0].native, window[1], _fit(window, _static(tile), f"T.{name}", "dst"), order
        )

    function.__name__ = name
    function.__doc__ = "Combine a number into an element, or a tile into a window, atomically towards other blocks."
    return function


def _order(name):
    try:
        return getattr(Ordering, name or "relaxed")
    except AttributeError:
        raise ValueError(
            f"{place()}: 'memory_order' must be relaxed, acquire, release, acq_rel or seq_cst, got {name!r}; choose one"
        ) from None


atomic_add = _atomic(Combination.add, "atomic_add")
atomic_max = _atomic(Combination.max, "atomic_max")
atomic_min = _atomic(Combination.min, "atomic_min")
atomic_or = _atomic(Combination.bits_or, "atomic_or")


def atomic_load(src, memory_order="seq_cst"):
    """An element, read atomically."""
    buffer, indices, _, _ = _window(src, "T.atomic_load", "src")
    return builder("T.atomic_load").atomic(Combination.add, 0, buffer.native, indices, _order(memory_order))


def atomic_store(dst, value, memory_order="seq_cst"):
    """Set an element atomically."""
    buffer, indices, _, _ = _window(dst, "T.atomic_store", "dst")
    builder("T.atomic_store").atomic(Combination.exchange, plain(value), buffer.native, indices, _order(memory_order))


# Threads -----------------------------------------------------------------------------------------------------------


def _enter_threads():
    tracer = current("code for threads")
    if tracer.thread_indices is None:
        if not tracer.in_kernel:
            raise RuntimeError(f"{place()}: there are threads inside of T.Kernel only; move this into its body")
        tracer.thread_indices = tracer.builder.begin_threads(list(tracer.threads))
    return tracer


def get_thread_binding(dim=0):
    """This thread's index along a dimension of `threads`."""
    tracer = _enter_threads()
    if not 0 <= dim < len(tracer.thread_indices):
        raise IndexError(
            f"{place()}: T.get_thread_binding: 'dim' must be below {len(tracer.thread_indices)}, got {dim}; see "
            f"T.Kernel(threads=)"
        )
    return tracer.thread_indices[dim]


def get_thread_bindings():
    """This thread's indices."""
    return tuple(_enter_threads().thread_indices)


def _flat_thread(self):
    flat, stride = 0, 1
    for index, extent in zip(self.thread_indices, self.threads):
        flat, stride = index * stride + flat, stride * extent
    return flat


trace.Tracer.flat_thread = _flat_thread


def sync_threads(barrier_id=None, arrive_count=None):
    """No thread of the block goes on before all have come here."""
    _enter_threads().builder.barrier(barrier_id, arrive_count)


def sync_warp(mask=None):
    """As T.sync_threads."""
    sync_threads()


def get_lane_idx(warp_size=32):
    """This thread's place in its group of `warp_size`."""
    return _enter_threads().flat_thread() % warp_size


def get_warp_idx(warp_size=32):
    """The number of this thread's group of `warp_size`."""
    return _enter_threads().flat_thread() // warp_size


def _shuffle(mode, name, text):
    def function(value, lane, width=32, mask=None):
        return _enter_threads().builder.shuffle(mode, plain(value), plain(lane), width)

    function.__name__, function.__doc__ = name, text
    return function


shfl_sync = _shuffle(ShuffleMode.index, "shfl_sync", "The value of lane `lane` of the group.")
shfl_up = _shuffle(ShuffleMode.up, "shfl_up", "The value of the thread that many lanes below.")
shfl_down = _shuffle(ShuffleMode.down, "shfl_down", "The value of the thread that many lanes above.")
shfl_xor = _shuffle(ShuffleMode.lane_xor, "shfl_xor", "The value of the lane whose number differs in these bits.")


def any_sync(condition, width=32):
    """Whether any thread of the group says yes."""
    return _enter_threads().builder.vote(VoteMode.any, plain(condition), width) != 0


def all_sync(condition, width=32):
    """Whether all threads of the group say yes."""
    return _enter_threads().builder.vote(VoteMode.all, plain(condition), width) != 0


def ballot_count(condition, width=32):
    """How many threads of the group say yes."""
    return _enter_threads().builder.vote(VoteMode.count, plain(condition), width)


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


# Checks and foreign code -------------------------------------------------------------------------------------------


def assume(condition):
    """The condition holds: the compiler may rely on it."""
    builder("T.assume").assume(plain(condition))


def device_assert(condition, message="assertion failed"):
    """The launch fails with the message where the condition does not hold."""
    builder("T.device_assert").assert_(plain(condition), message)


def print_(obj, msg=""):
    """Print a number or a whole tile when the kernel runs."""
    if isinstance(obj, (Buffer, Region)):
        native = _tile(obj, "T.print") if isinstance(obj, Region) else obj.native
        return builder("T.print").print_buffer(msg or _base(obj).name, native)
    if isinstance(obj, str):
        return builder("T.print").print(obj, [])
    builder("T.print").print(msg, [plain(obj)])


def call_extern(result, symbol, *operands, writes=()):
    """Call a C function of the process. `result` is its dtype, or None; buffers in `operands` are passed as pointers.

    `writes` lists the numbers of the operands that it writes; all buffers are taken to be read.
    """
    values = []
    for number, operand in enumerate(operands):
        if isinstance(operand, (Buffer, Region, Var)):
            values.append((_tile(operand, "T.call_extern"), Role.inout if number in writes else Role.in_))
        else:
            values.append(plain(operand))
    kind = None if result in (None, "void", "handle") else scalar_type(result)
    return builder("T.call_extern").extern_(symbol, values, kind)


# Scalars -----------------------------------------------------------------------------------------------------------


def _scalar_function(function, name=None):
    def call(*operands):
        result = function(*(plain(o) for o in operands))
        return result if result.number is None else result.number

    call.__name__, call.__doc__ = (
        name or function.__name__,
        function.__doc__.split("\n")[-1] if function.__doc__ else None,
    )
    return call


_NAMES = (
    "exp exp2 expm1 log log2 log10 log1p sqrt rsqrt sin cos tan tanh erf sigmoid floor ceil trunc isnan isinf "
    "pow floordiv floormod ceildiv truncdiv truncmod fma clamp min max abs round"
).split()
MATH = {name: _scalar_function(getattr(_native, name), name) for name in _NAMES}
MATH |= {"__" + n: MATH[n] for n in ("exp", "log", "sin", "cos", "pow")} | {
    "__exp10": _scalar_function(lambda x: _native.pow(10.0, x), "__exp10")
}
MATH |= {
    "power": MATH["pow"],
    "nearbyint": MATH["round"],
    "cdiv": MATH["ceildiv"],
    "ieee_fmaf": MATH["fma"],
    "ieee_fsqrt": MATH["sqrt"],
    "ieee_frsqrt": MATH["rsqrt"],
    "fast_exp": MATH["exp"],
}
MATH |= {
    "ieee_add": lambda a, b: plain(a) + plain(b),
    "ieee_sub": lambda a, b: plain(a) - plain(b),
    "ieee_mul": lambda a, b: plain(a) * plain(b),
    "ieee_fdiv": lambda a, b: plain(a) / plain(b),
}
globals().update(MATH)


def cast(value, dtype):
    """The value converted to a dtype."""
    result = _native.cast(plain(value), dtype)
    return result if result.number is None else result.number


def reinterpret(*arguments):
    """``T.reinterpret(x, dtype)`` (or dtype first): the same bits as another dtype of the same width."""
    value, dtype = arguments if isinstance(arguments[1], str) else arguments[::-1]
    source = value.buffer.dtype if isinstance(value, Element) else getattr(value, "dtype", None)
    value = plain(value)
    if source is None:
        kind = value.type.name if isinstance(value, _native.Scalar) else "f32" if isinstance(value, float) else "i32"
        source = {"f64": "float64", "f32": "float32", "i64": "int64", "bool": "bool"}.get(kind, "int32")
    result = _native.reinterpret(value, source, dtype)
    return result if result.number is None else result.number


def infinity(dtype):
    """Infinity of a float dtype; of an integer one the largest value."""
    return math.inf if _native.is_float(dtype) else int(_native.largest(dtype))


def max_value(dtype):
    """The largest finite value of a dtype."""
    return _native.largest(dtype)


def min_value(dtype):
    """The least finite value of a dtype."""
    return -_native.largest(dtype) if _native.is_float(dtype) else -int(_native.largest(dtype)) - (dtype != "uint8")


def if_then_else(condition, a, b):
    """``a if condition else b``. In a function under @T.prim_func only the one is computed."""
    return Select(condition, a, b)


def Select(condition, a, b):
    """a where the condition holds, else b; both are computed."""
    condition = plain(condition)
    if not isinstance(condition, _native.Scalar):
        return a if condition else b
    return _native.select(condition, plain(a), plain(b))


def any_of(*conditions):
    """Whether any of the conditions holds; all are computed."""
    result = plain(conditions[0])
    for condition in conditions[1:]:
        result = _native.logical_or(result, plain(condition))
    return result


def all_of(*conditions):
    """Whether all of the conditions hold; all are computed."""
    result = plain(conditions[0])
    for condition in conditions[1:]:
        result = _native.logical_and(result, plain(condition))
    return result


def shift_left(a, b):
    """a << b"""
    return plain(a) << plain(b)


def shift_right(a, b):
    """a >> b"""
    return plain(a) >> plain(b)


def bitwise_and(a, b):
    """a & b"""
    return plain(a) & plain(b)


def bitwise_or(a, b):
    """a | b"""
    return plain(a) | plain(b)


def bitwise_xor(a, b):
    """a ^ b"""
    return plain(a) ^ plain(b)


_ = dtype_class
