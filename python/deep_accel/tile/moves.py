"""Moves: copies between any two places, gathers, scatters, windows of images, fills; and views, which move nothing."""

from .._native import MemorySpace, ShapeError
from . import trace
from .compute import REDUCERS
from .loops import ParallelLoop
from .operands import base_of, fit, place_in, side_of, static_shape, tile_of, window_of
from .trace import Buffer, Element, Region, builder, current, is_scalar, place, plain

__all__ = [
    "reshape", "view", "copy", "async_copy", "wait", "transpose", "im2col", "c2d_im2col", "gather", "scatter",
    "prefetch", "fill", "clear",
]  # fmt: skip


def reshape(src, shape):
    """The same elements under another shape, without a copy."""
    return Buffer(builder("T.reshape").reshape(tile_of(src, "T.reshape"), [trace.size(s, "T.reshape") for s in shape]))


def view(src, shape=None, dtype=None):
    """The same bytes under another shape and dtype, without a copy."""
    native = tile_of(src, "T.view")
    if dtype is not None:
        native = builder("T.view").bitcast(native, dtype)
    if shape is not None:
        native = builder("T.view").reshape(native, [trace.size(s, "T.view") for s in shape])
    return Buffer(native)


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
    source, dest = window_of(src, what, "src"), window_of(dst, what, "dst")
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
        b.load(source[0].native, source[1], tile, fill_value, fit(source, extents, what, "src"))
        b.store(tile, dest[0].native, dest[1], fit(dest, extents, what, "dst"))
    elif source[0].is_global:
        tile = side_of(dest, source[3], what, "dst")
        dims = fit(source, static_shape(tile), what, "src")
        return (start or b.load)(source[0].native, source[1], tile, fill_value, dims)
    elif dest[0].is_global:
        tile = side_of(source, dest[3], what, "src")
        b.store(tile, dest[0].native, dest[1], fit(dest, static_shape(tile), what, "dst"))
    else:
        one = side_of(source, dest[3], what, "src")
        two = side_of(dest, source[3], what, "dst")
        if static_shape(one) != static_shape(two):
            drop = [s for s in static_shape(one) if s != 1]
            if drop != [s for s in static_shape(two) if s != 1]:
                raise ShapeError(
                    f"{place()}: {what}: 'dst' must have the shape of 'src', {static_shape(one)}, got "
                    f"{static_shape(two)}; make them equal"
                )
            one = b.reshape(one, static_shape(two))
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
        tile_of(src, "T.transpose"),
        tile_of(dst, "T.transpose"),
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
    tile = tile_of(col, "T.im2col")
    rows, columns = static_shape(tile)
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
    buffer, indices, _, _ = window_of(src, "T.gather", "src")
    builder("T.gather").gather(buffer.native, indices, tile_of(rows, "T.gather"), tile_of(dst, "T.gather"), axis, fill)


def scatter(src, rows, dst, axis=0, op=None):
    """``dst[..., rows[r], ...] = src[r, ...]``, or combined with what is there (`op` "sum", "max", "min")."""
    buffer, indices, _, _ = window_of(dst, "T.scatter", "dst")
    combination = REDUCERS[op] if op else None
    builder("T.scatter").scatter(
        tile_of(src, "T.scatter"), buffer.native, indices, tile_of(rows, "T.scatter"), axis, combination
    )


def prefetch(src, level=2, write=False):
    """Ask for a window to be brought near; level 1, 2 or 3 names the cache."""
    buffer, indices, kept, extents = window_of(src, "T.prefetch", "src")
    sizes = [1] * len(indices)
    for axis, extent in zip(kept or [], extents or []):
        sizes[axis] = trace.size(extent, "T.prefetch")
    builder("T.prefetch").prefetch(buffer.native, indices, sizes, level, write)


def fill(buffer, value):
    """Set every element."""
    tracer = current("T.fill")
    if tracer.thread_indices is not None or (isinstance(buffer, (Buffer, Region)) and base_of(buffer).is_global):
        return _fill_by_elements(buffer, value)
    tracer.builder.fill(tile_of(buffer, "T.fill"), plain(value))


def clear(buffer):
    """Set every element to 0."""
    fill(buffer, 0)


def each(window, extents):
    """Visits the points of a window: yields the indices of the buffer for each."""
    loop = ParallelLoop(extents)
    variables, _ = loop.begin([])
    variables = [variables] if len(extents) == 1 else list(variables)
    yield variables
    loop.end([])


def _fill_by_elements(target, value):
    window = window_of(target, "T.fill", "buffer")
    if window[0].native.space == MemorySpace.local:
        return _local_fill(window, value)
    for variables in each(window, [s if s is not None else d for s, d in zip(window[3], window[0].shape)]):
        buffer, at = place_in(window, variables)
        buffer[at] = value


def _local_fill(window, value):
    b = builder()
    b.fill(side_of(window, None, "T.fill", "buffer"), plain(value))


def _copy_by_threads(source, dest, what):
    """In code for threads: the threads share the elements of the copy, between two barriers."""
    extents = next((w[3] for w in (source, dest) if w[3] is not None and None not in w[3]), None)
    if extents is None:
        raise ShapeError(f"{place()}: {what}: neither side says how much to copy; give one as a window A[i:i + n, :]")
    private = any(w[0].native.space == MemorySpace.local for w in (source, dest))
    b = builder(what)
    if private:  # each thread copies for itself
        variables = [b.begin_for(0, e, 1, [])[0] for e in extents]
        value, (to, at) = Element(*_indices(place_in(source, variables))), place_in(dest, variables)
        to[at] = value
        for _ in extents:
            b.end()
        return
    b.barrier()
    for variables in each(dest, extents):
        value, (to, at) = Element(*_indices(place_in(source, variables))), place_in(dest, variables)
        to[at] = value
    b.barrier()


def _indices(place_of):
    return place_of[0], list(place_of[1])
