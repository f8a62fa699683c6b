// Compute: element access, maps, products, reductions, scans, atomics.
#ifndef DEEP_ACCEL_TILE_COMPUTE_OPS_TD
#define DEEP_ACCEL_TILE_COMPUTE_OPS_TD
include "tile_base.td"

def Tile_ReadOp : Tile_BufferOp<"read"> {
  let summary = "one element, widened to its compute type";
  let description = [{
    The element must lie inside the buffer and have been written; the interpreter checks both.
  }];
  let arguments = (ins Reads<>:$buffer, Variadic<Index>:$indices);
  let results = (outs Tile_Compute:$value);
  let assemblyFormat = "$buffer `[` $indices `]` attr-dict `:` type($buffer) `->` type($value)";
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$buffer, "::mlir::ValueRange":$indices)>];
}

def Tile_WriteOp : Tile_BufferOp<"write"> {
  let summary = "set one element, narrowed to its storage type";
  let description = [{
    The element must lie inside the buffer. Floats round to nearest even and overflow as the storage type's standard says;
    integers wrap.
  }];
  let arguments = (ins Tile_Compute:$value, Writes<>:$buffer, Variadic<Index>:$indices);
  let assemblyFormat = "$value `,` $buffer `[` $indices `]` attr-dict `:` type($value) `,` type($buffer)";
  let hasVerifier = 1;
}

def Tile_CombineOp : Tile_BufferOp<"combine"> {
  let summary = "combine a value into an element: element = combine(element, value)";
  let description = [{
    Inside a `tile.map`, iterations may combine into the same element: that is how reductions are written. Floating-point
    sums may be reassociated. `max` and `min` of floats give the other operand for a NaN, unless `propagate_nan`. See
    #tile.combine for the combinations.
  }];
  let arguments = (ins Tile_CombineAttr:$combine, Tile_Compute:$value, Updates<>:$buffer, Variadic<Index>:$indices,
                   UnitAttr:$propagate_nan);
  let assemblyFormat = [{
    $combine $value `,` $buffer `[` $indices `]` (`propagate_nan` $propagate_nan^)? attr-dict
    `:` type($value) `,` type($buffer)
  }];
  let hasVerifier = 1;
}

def Tile_MapOp : Tile_BufferOp<"map", [NoTerminator, SingleBlock, RecursiveMemoryEffects]> {
  let summary = "a scalar body for each point of an index space, in any order";
  let description = [{
    `tile.map (%i, %j) in [64, %n] { body }`

    One to six sizes, static or run-time indices; the region's arguments are the point's indices. The body is scalar
    code with `tile.read`, `tile.write`, `tile.combine`, `tile.atomic`, views, checks and `scf` loops and conditions.
    Iterations must be independent: what one writes no other reads or writes, save through `tile.combine` and
    `tile.atomic`. Maps over one index space are joined by the compiler, and their innermost axis becomes vectors.
  }];
  let arguments = (ins Variadic<Index>:$sizes, DenseI64ArrayAttr:$static_sizes);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::ArrayRef<::mlir::OpFoldResult>":$sizes)>];
  let extraClassDeclaration = [{
    /// The sizes, static ones as attributes.
    ::llvm::SmallVector<::mlir::OpFoldResult> mixed_sizes();
    int64_t rank() { return getStaticSizes().size(); }
  }];
}

def Tile_GemmOp : Tile_Op<"gemm", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<Tile_OpInterface, ["accesses", "cost", "layout_wish"]>]> {
  let summary = "matrix product of tiles: acc += op(a) . op(b)";
  let description = [{
    op(a) is M x K, op(b) is K x N, acc is M x N; `transpose_a`, `transpose_b` say that a is K x M, b is N x K. `clear`
    sets acc to zero first. Products are formed and summed in acc's compute type. An i32 acc takes factors of i8, ui8 and
    i4 (exact, wrapping); a float acc (f64, f32, f16, bf16) takes these and any float. Sums may be reassociated. Where
    both factors are bf16, without scales, and sums are f32, denormal factors and sums may count as zero: so they do in
    instructions that multiply bf16. Tiles may be windows (`tile.slice`) of others.

    With scales, acc[m, n] += sum over k of a[m, k] scale_a[m / (M / Ma), k / (K / Ka)] b[k, n] scale_b[k / (K / Kb),
    n / (N / Nb)], where scale_a is Ma x Ka and scale_b is Kb x Nb, each dividing its dimension.

    `live [%rows, %columns, %depth]` is a hint that compilers add: nobody reads rows and columns of acc from there on, so
    that they may hold anything; and a column of op(a) and a row of op(b) from the depth on are zero.
  }];
  let arguments = (ins Reads<Tile_OnChip>:$a, Reads<Tile_OnChip>:$b, Updates<Tile_OnChip>:$acc,
                   Arg<Optional<Tile_OnChip>, "", [MemRead]>:$scale_a, Arg<Optional<Tile_OnChip>, "", [MemRead]>:$scale_b,
                   Variadic<Index>:$live, UnitAttr:$transpose_a, UnitAttr:$transpose_b, UnitAttr:$clear);
  let assemblyFormat = [{
    $a `,` $b `,` $acc (`scales` `(` $scale_a^ `,` $scale_b `:` type($scale_a) `,` type($scale_b) `)`)?
    (`transpose_a` $transpose_a^)? (`transpose_b` $transpose_b^)? (`clear` $clear^)? (`live` `[` $live^ `]`)? attr-dict
    `:` type($a) `,` type($b) `,` type($acc)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t m(); int64_t n(); int64_t k();
  }];
}

def Tile_SparseGemmOp : Tile_BufferOp<"sparse_gemm"> {
  let summary = "product with a 2:4 structured sparse left factor: acc += expand(a, positions) . op(b)";
  let description = [{
    a is M x K/2, positions (i8) is M x K/2: of each group of four columns of the expanded matrix, a holds two, and
    positions says where in the group (0 to 3) each stands; the two differ. b is K x N (N x K with `transpose_b`). Types
    and `clear` as in `tile.gemm`.
  }];
  let arguments = (ins Reads<Tile_OnChip>:$a, Reads<Tile_OnChip>:$positions, Reads<Tile_OnChip>:$b,
                   Updates<Tile_OnChip>:$acc, UnitAttr:$transpose_b, UnitAttr:$clear);
  let assemblyFormat = [{
    $a `,` $positions `,` $b `,` $acc (`transpose_b` $transpose_b^)? (`clear` $clear^)? attr-dict
    `:` type($a) `,` type($positions) `,` type($b) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def Tile_ReduceOp : Tile_BufferOp<"reduce"> {
  let summary = "reduce a tile along one dimension";
  let description = [{
    The destination has the source's shape without `dim`, or with size one there. `clear` (the default is to accumulate
    into the destination) starts from the combination's identity. NaN in max and min: as `tile.combine`.
  }];
  let arguments = (ins Tile_CombineAttr:$combine, Reads<Tile_OnChip>:$source, Updates<Tile_OnChip>:$dest, I64Attr:$dim,
                   UnitAttr:$clear, UnitAttr:$propagate_nan);
  let assemblyFormat = [{
    $combine $source `into` $dest `dim` $dim (`clear` $clear^)? (`propagate_nan` $propagate_nan^)? attr-dict
    `:` type($source) `,` type($dest)
  }];
  let hasVerifier = 1;
}

def Tile_ScanOp : Tile_BufferOp<"scan"> {
  let summary = "inclusive scan (running combination) along one dimension";
  let description = [{
    The destination has the source's shape and may be the source. `reverse` runs from the end; `exclusive` leaves the
    element itself out (the first is the identity). Combinations are add, mul, max, min and those of bits.
  }];
  let arguments = (ins Tile_CombineAttr:$combine, Reads<Tile_OnChip>:$source, Writes<Tile_OnChip>:$dest, I64Attr:$dim,
                   UnitAttr:$reverse, UnitAttr:$exclusive);
  let assemblyFormat = [{
    $combine $source `into` $dest `dim` $dim (`reverse` $reverse^)? (`exclusive` $exclusive^)? attr-dict
    `:` type($source) `,` type($dest)
  }];
  let hasVerifier = 1;
}

def Tile_FillOp : Tile_BufferOp<"fill"> {
  let summary = "set every element of a tile to one value";
  let description = [{
    The value is of the compute type, and narrowed to the tile's type as by `tile.write`.
  }];
  let arguments = (ins Writes<Tile_OnChip>:$tile, Tile_Compute:$value);
  let assemblyFormat = "$tile `,` $value attr-dict `:` type($tile) `,` type($value)";
  let hasVerifier = 1;
}

def Tile_AtomicOp : Tile_BufferOp<"atomic", [AllTypesMatch<["value", "previous"]>]> {
  let summary = "combine a value into an element, atomically towards other blocks; gives the value before";
  let description = [{
    Element types f64, f32, i64, i32; every combination but mul and those of magnitudes. `exchange` stores; adding zero
    loads. `order` is what the operation orders of other accesses (#tile.memory_order). Where several blocks meet in one
    element of floats, results depend on their order by rounding.
  }];
  let arguments = (ins Tile_CombineAttr:$combine, Tile_Compute:$value, Updates<>:$buffer, Variadic<Index>:$indices,
                   DefaultValuedAttr<Tile_MemoryOrderAttr, "MemoryOrder::relaxed">:$memory_order);
  let results = (outs Tile_Compute:$previous);
  let assemblyFormat = [{
    $combine $value `,` $buffer `[` $indices `]` (`order` $memory_order^)? attr-dict `:` type($value) `,` type($buffer)
  }];
  let hasVerifier = 1;
}

def Tile_AtomicStoreOp : Tile_BufferOp<"atomic_store"> {
  let summary = "combine a tile into a window of a buffer, each element atomically";
  let description = [{
    Windows as in `tile.store`; what falls outside is dropped. Types and combinations as in `tile.atomic`: the way to split
    the sums of a product over blocks.
  }];
  let arguments = (ins Tile_CombineAttr:$combine, Reads<Tile_OnChip>:$tile, Updates<>:$dest, Variadic<Index>:$indices,
                   OptionalAttr<DenseI64ArrayAttr>:$dims,
                   DefaultValuedAttr<Tile_MemoryOrderAttr, "MemoryOrder::relaxed">:$memory_order);
  let assemblyFormat = [{
    $combine $tile `into` $dest `[` $indices `]` (`dims` $dims^)? (`order` $memory_order^)? attr-dict
    `:` type($tile) `,` type($dest)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{ /// The destination's dimension that the tile's dimension `index` stands for.
    int64_t dest_dim(int64_t index); }];
}
#endif
