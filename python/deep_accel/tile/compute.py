"""Operations on whole tiles: products, reductions, running combinations."""

from .._native import Combination, MemorySpace
from .operands import static_shape, tile_of, window_of
from .threads import block_only
from .trace import Buffer, builder, place, plain

__all__ = [
    "dp4a", "gemm", "gemm_sp", "reduce", "reduce_sum", "reduce_max", "reduce_min", "reduce_abssum", "reduce_absmax",
    "reduce_prod", "reduce_bitand", "reduce_bitor", "reduce_bitxor", "cumsum", "cummax",
]  # fmt: skip


REDUCERS = {
    "sum": Combination.add,
    "max": Combination.max,
    "min": Combination.min,
    "abssum": Combination.abs_add,
    "absmax": Combination.abs_max,
    "prod": Combination.mul,
    "bitand": Combination.bits_and,
    "bitor": Combination.bits_or,
    "bitxor": Combination.bits_xor,
}


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
    block_only("T.gemm")
    scales = [None if s is None else tile_of(s, "T.gemm") for s in (A_scale, B_scale)]
    builder("T.gemm").gemm(
        tile_of(A, "T.gemm"),
        tile_of(B, "T.gemm"),
        tile_of(C, "T.gemm"),
        bool(transpose_A),
        bool(transpose_B),
        bool(clear_accum),
        *scales,
    )


def gemm_sp(
    A_sparse, E, B, C, transpose_A=False, transpose_E=False, transpose_B=False, clear_accum=False, policy=None, **hints
):
    """``C += op(expand(A_sparse, E)) @ op(B)`` with a 2:4 structured sparse left factor.

    A_sparse is M x K/2: of every four elements of a row of A two, in order; E (int8), of its shape, holds the place
    (0 to 3) of each in its group of four. With `transpose_A` and `transpose_E` they come as K/2 x M.
    """
    block_only("T.gemm_sp")
    left = [_turned(A_sparse, "T.gemm_sp") if transpose_A else A_sparse, _turned(E, "T.gemm_sp") if transpose_E else E]
    operands = [tile_of(x, "T.gemm_sp") for x in (*left, B, C)]
    builder("T.gemm_sp").sparse_gemm(*operands, bool(transpose_B), bool(clear_accum))


def _turned(value, what):
    """A tile with the transpose of another."""
    source = tile_of(value, what)
    rows, columns = static_shape(source)
    turned = builder(what).alloc(MemorySpace.shared, source.dtype, [columns, rows], "")
    builder(what).transpose(source, turned, [1, 0])
    return Buffer(turned)


def dp4a(A, B, C):
    """``C += A[0] * B[0] + ... + A[3] * B[3]``: four 8-bit integers from each place on, summed in 32 bits.

    Each is a buffer (taken from its beginning) or a place ``A[i, j]``.
    """

    def element(value, offset):
        buffer, indices, _, _ = window_of(value, "T.dp4a", "operand")
        return buffer, (*indices[:-1], indices[-1] + offset)

    buffer, at = element(C, 0)
    total = buffer[at]
    for k in range(4):
        (a, at_a), (b, at_b) = element(A, k), element(B, k)
        total = total + plain(a[at_a]) * plain(b[at_b])
    buffer[at] = total


def reduce(buffer, out, reduce_type, dim=-1, clear=True, nan_propagate=False):
    """Reduce a tile along a dimension; `out` has its shape without that dimension, or 1 there. clear=False
    accumulates."""
    block_only(f"T.reduce_{reduce_type}")
    if reduce_type not in REDUCERS:
        raise ValueError(
            f"{place()}: T.reduce: 'reduce_type' must be one of {', '.join(REDUCERS)}, got {reduce_type!r}; choose one"
        )
    builder("T.reduce").reduce(
        REDUCERS[reduce_type],
        tile_of(buffer, "T.reduce"),
        tile_of(out, "T.reduce"),
        dim,
        bool(clear),
        bool(nan_propagate),
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
        block_only(f"T.{name}")
        one = tile_of(src, f"T.{name}")
        two = one if dst is None else tile_of(dst, f"T.{name}")
        builder(f"T.{name}").scan(combination, one, two, dim, bool(reverse), bool(exclusive))

    function.__name__ = name
    function.__doc__ = "Running combination along a dimension, into `dst` or in place; `reverse` from the end."
    return function


cumsum = _scan(Combination.add, "cumsum")
cummax = _scan(Combination.max, "cummax")
