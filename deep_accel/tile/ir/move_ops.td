// Moves: between global memory and tiles, between tiles, by indices, by windows of an image.
#ifndef DEEP_ACCEL_TILE_MOVE_OPS_TD
#define DEEP_ACCEL_TILE_MOVE_OPS_TD
include "tile_base.td"

def Tile_LoadOp : Tile_BufferOp<"load", [AttrSizedOperandSegments]> {
  let summary = "fill a tile from a window of a larger buffer";
  let description = [{
    The indices say where in the source the window begins, one for each dimension of the source. The tile's dimensions
    stand for the source's last ones; `dims` names others, in any order (a permutation transposes). Elements outside the
    source read as `fill` (zero where it is absent; of the tile's compute type). Values are converted to the tile's type.
  }];
  let arguments = (ins Reads<>:$source, Variadic<Index>:$indices, Writes<Tile_OnChip>:$tile,
                   Optional<Tile_Compute>:$fill, OptionalAttr<DenseI64ArrayAttr>:$dims);
  let assemblyFormat = [{
    $source `[` $indices `]` `into` $tile (`fill` $fill^ `:` type($fill))? (`dims` $dims^)? attr-dict
    `:` type($source) `,` type($tile)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{ /// The source's dimension that the tile's dimension `index` stands for.
    int64_t source_dim(int64_t index); }];
}

def Tile_StoreOp : Tile_BufferOp<"store"> {
  let summary = "write a tile to a window of a larger buffer";
  let description = [{
    The mirror image of `tile.load`: what would fall outside the destination is dropped, values are converted to the
    destination's type, and `dims` says which of its dimensions the tile's stand for.
  }];
  let arguments = (ins Reads<Tile_OnChip>:$tile, Writes<>:$dest, Variadic<Index>:$indices,
                   OptionalAttr<DenseI64ArrayAttr>:$dims);
  let assemblyFormat = [{
    $tile `into` $dest `[` $indices `]` (`dims` $dims^)? attr-dict `:` type($tile) `,` type($dest)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{ /// The destination's dimension that the tile's dimension `index` stands for.
    int64_t dest_dim(int64_t index); }];
}

def Tile_CopyOp : Tile_BufferOp<"copy"> {
  let summary = "copy between tiles of one shape, with conversion";
  let description = [{
    Between any two spaces on chip. Floats do not become integers by a copy: say how, in a `tile.map`.
  }];
  let arguments = (ins Reads<Tile_OnChip>:$source, Writes<Tile_OnChip>:$dest);
  let assemblyFormat = "$source `to` $dest attr-dict `:` type($source) `,` type($dest)";
  let hasVerifier = 1;
}

def Tile_TransposeOp : Tile_BufferOp<"transpose"> {
  let summary = "copy with the dimensions permuted: dest[i_perm[0], i_perm[1], ...] = source[i_0, i_1, ...]";
  let description = [{
    A permutation of any rank, with conversion. A product with a transposed factor needs none (see `tile.gemm`), nor does
    a load (see `dims` of `tile.load`).
  }];
  let arguments = (ins Reads<Tile_OnChip>:$source, Writes<Tile_OnChip>:$dest, DenseI64ArrayAttr:$permutation);
  let assemblyFormat = "$source `to` $dest $permutation attr-dict `:` type($source) `,` type($dest)";
  let hasVerifier = 1;
}

def Tile_GatherOp : Tile_BufferOp<"gather", [AttrSizedOperandSegments]> {
  let summary = "fill a tile with slices of a buffer that an index tile names";
  let description = [{
    tile[r, ...] = source[..., rows[r], ...]: the tile's first dimension runs over `rows` (integers), which replace the
    index of dimension `axis` of the source (`indices` has an entry for it too, which is added); the tile's other
    dimensions stand for the source's last ones, `axis` left out. Rows outside the source, negative ones too, and other
    elements outside it read as `fill` (zero where it is absent).
  }];
  let arguments = (ins Reads<>:$source, Variadic<Index>:$indices, Reads<Tile_OnChip>:$rows, I64Attr:$axis,
                   Writes<Tile_OnChip>:$tile, Optional<Tile_Compute>:$fill);
  let assemblyFormat = [{
    $source `[` $indices `]` `rows` $rows `axis` $axis `into` $tile (`fill` $fill^ `:` type($fill))? attr-dict
    `:` type($source) `,` type($rows) `,` type($tile)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{ /// The source's dimension that the tile's dimension `index` > 0 stands for.
    int64_t source_dim(int64_t index); }];
}

def Tile_ScatterOp : Tile_BufferOp<"scatter"> {
  let summary = "write a tile's slices to the places that an index tile names";
  let description = [{
    The mirror image of `tile.gather`; rows outside the destination are dropped. With `combine` the values are combined
    with what is there, and rows may repeat; without it, of equal rows the last wins.
  }];
  let arguments = (ins Reads<Tile_OnChip>:$tile, Updates<>:$dest, Variadic<Index>:$indices, Reads<Tile_OnChip>:$rows,
                   I64Attr:$axis, OptionalAttr<Tile_CombineAttr>:$combine);
  let assemblyFormat = [{
    $tile `into` $dest `[` $indices `]` `rows` $rows `axis` $axis (`combine` $combine^)? attr-dict
    `:` type($tile) `,` type($rows) `,` type($dest)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{ /// The destination's dimension that the tile's dimension `index` > 0 stands for.
    int64_t dest_dim(int64_t index); }];
}

def Tile_Im2colOp : Tile_BufferOp<"im2col"> {
  let summary = "the columns of an implicit matrix product for a convolution";
  let description = [{
    The image is N x H x W x C. Row p of the tile is output pixel `pixel` + p, counted over (n, oh, ow); column q is
    `channel` + q, counted over (kh, kw, c). `kernel`, `stride`, `dilation` are pairs; `pad` is top, left, bottom, right.
    What lies outside the image, or beyond the last pixel or column, is `fill` (zero where absent).
  }];
  let arguments = (ins Reads<>:$image, Index:$pixel, Index:$channel, Writes<Tile_OnChip>:$tile,
                   Optional<Tile_Compute>:$fill, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$stride,
                   DenseI64ArrayAttr:$dilation, DenseI64ArrayAttr:$pad);
  let assemblyFormat = [{
    $image `[` $pixel `,` $channel `]` `into` $tile (`fill` $fill^ `:` type($fill))? `kernel` $kernel `stride` $stride
    `dilation` $dilation `pad` $pad attr-dict `:` type($image) `,` type($tile)
  }];
  let hasVerifier = 1;
}

// An effect without a buffer keeps it in its place: a mere read with no result would be dropped as dead.
def Tile_PrefetchOp : Tile_Op<"prefetch", [AttrSizedOperandSegments, MemoryEffects<[MemWrite]>]> {
  let summary = "ask for a window of a buffer to be brought near; no effect on values";
  let description = [{
    `sizes` is the window; `level` 1, 2 or 3 the cache; `write` says that it will be written; where the condition `when`
    is false, nothing happens. Nothing outside the buffer is touched. Only where the addresses cannot be foreseen by the
    hardware is it likely to help: measure.
  }];
  let arguments = (ins Tile_Buffer:$source, Variadic<Index>:$indices, Optional<I1>:$when, DenseI64ArrayAttr:$sizes,
                   DefaultValuedAttr<I64Attr, "2">:$level, UnitAttr:$write);
  let assemblyFormat = [{
    $source `[` $indices `]` `sizes` $sizes (`level` $level^)? (`write` $write^)? (`when` $when^)? attr-dict
    `:` type($source)
  }];
  let hasVerifier = 1;
}

def Tile_AsyncLoadOp : Tile_BufferOp<"async_load", [AttrSizedOperandSegments]> {
  let summary = "a load that may still be under way until its token is waited for";
  let description = [{
    As `tile.load`, but the tile must be neither read nor written before `tile.wait` has taken the token, which the
    interpreter checks; nor must what it loads be written.
  }];
  let arguments = (ins Reads<>:$source, Variadic<Index>:$indices, Writes<Tile_OnChip>:$tile,
                   Optional<Tile_Compute>:$fill, OptionalAttr<DenseI64ArrayAttr>:$dims);
  let results = (outs Tile_Token:$token);
  let assemblyFormat = [{
    $source `[` $indices `]` `into` $tile (`fill` $fill^ `:` type($fill))? (`dims` $dims^)? attr-dict
    `:` type($source) `,` type($tile)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{ /// The source's dimension that the tile's dimension `index` stands for.
    int64_t source_dim(int64_t index); }];
}

def Tile_WaitOp : Tile_Op<"wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "wait for asynchronous loads";
  let description = [{
    Afterwards the tokens' tiles hold what was loaded.
  }];
  let arguments = (ins Variadic<Tile_Token>:$tokens);
  let assemblyFormat = "$tokens attr-dict";
  let hasVerifier = 1;
}
#endif
