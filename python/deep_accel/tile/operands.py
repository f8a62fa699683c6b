"""What an operation may be given: a buffer, a window of one (``A[i:i + 64, :]``), or, in copies and atomics, the place
where a window begins (``A[i, j]``)."""

from .._native import ShapeError
from .trace import Buffer, Element, Region, Var, builder, place, plain


def tile_of(value, what):
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


def window_of(value, what, argument):
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


def side_of(window, other_extents, what, argument):
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


def fit(window, tile_shape, what, argument):
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


def static_shape(native):
    return [plain(s) for s in native.shape]


def base_of(value):
    return value.buffer if isinstance(value, Region) else value


def place_in(window, variables):
    buffer, indices, kept, _ = window
    kept = kept if kept is not None else list(range(len(indices) - len(variables), len(indices)))
    at = list(indices)
    for axis, variable in zip(kept[-len(variables) :], variables):
        at[axis] = at[axis] + variable
    return buffer, tuple(at)
