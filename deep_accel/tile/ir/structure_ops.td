// Structure: kernels, grids, buffers and their views, loops.
#ifndef DEEP_ACCEL_TILE_STRUCTURE_OPS_TD
#define DEEP_ACCEL_TILE_STRUCTURE_OPS_TD
include "tile_base.td"
include "mlir/Interfaces/ViewLikeInterface.td"

def Tile_KernelOp : Tile_Op<"kernel", [FunctionOpInterface, IsolatedFromAbove, NoTerminator, SingleBlock]> {
  let summary = "a kernel: what one launch does";
  let description = [{
    `tile.kernel @name(%argument: type {attributes}, ...) attributes {...} { body }`

    The body is scalar code, workspaces (`tile.alloc` in global space) and a sequence of `tile.grid` operations, its
    *phases*; one phase ends before the next begins, which is a barrier over the whole grid.

    Arguments are buffers in global space, or scalars of a compute type or `index`. Their attributes: `tile.name`, by
    which callers and messages know the argument; for buffers `tile.dims`, a name for each dimension of run-time size
    ("" for a static one; equal names are equal sizes, which is checked at each launch; "?" is free), and `tile.role`:
    "in" (read), "out" (written, contents before are undefined) or "inout". Buffers are contiguous, or say otherwise by
    `strided<...>` in their type.

    `tile.sizes = {M = [1, 4096], K = [16, 512, 16]}` among the kernel's own attributes says for `deepaccel tile verify`
    which sizes make sense: least, most, and optionally what they are multiples of.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                   OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::llvm::ArrayRef<::mlir::Type>":$args,
                             "::llvm::ArrayRef<::mlir::DictionaryAttr>":$arg_attrs)>];
  let extraClassDeclaration = [{
    ::mlir::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::mlir::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    /// The name of argument `index`, as the user wrote it.
    ::llvm::StringRef arg_name(unsigned index);
    /// What the kernel does with argument `index`; In for scalars.
    ::deep_accel::tile::Role arg_role(unsigned index);
    /// The names of the dimensions of buffer argument `index`, one for each dimension, "" where it is static.
    ::llvm::SmallVector<::llvm::StringRef> arg_dims(unsigned index);
    /// The first argument and dimension that carry the name, if any.
    ::std::optional<::std::pair<unsigned, unsigned>> find_dim(::llvm::StringRef name);
  }];
}

def Tile_DimOp : Tile_Op<"dim", [Pure]> {
  let summary = "the run-time size of a named dimension of the kernel's arguments";
  let description = [{
    The name is one of those in an argument's `tile.dims`. What is computed from sizes alone, outside of grids, is
    computed once for each launch.
  }];
  let arguments = (ins StrAttr:$name);
  let results = (outs Index:$result);
  let assemblyFormat = "$name attr-dict";
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name),
                            [{ build($_builder, $_state, $_builder.getIndexType(), $_builder.getStringAttr(name)); }]>];
}

def Tile_ExtentOp : Tile_Op<"extent", [Pure]> {
  let summary = "the size of one dimension of a buffer, static or not";
  let description = [{
    As `tile.dim`, but of any buffer and by position; the only way to the size of a dimension named "?".
  }];
  let arguments = (ins Tile_Buffer:$buffer, I64Attr:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$buffer `dim` $dim attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def Tile_GridOp : Tile_Op<"grid", [RecursiveMemoryEffects, NoTerminator, SingleBlock, HasParent<"KernelOp">]> {
  let summary = "a phase: its region runs once for each block of a grid, in any order and in parallel";
  let description = [{
    `tile.grid (%x, %y) = (%extent_x, %extent_y) attributes {...} { body }`

    One to three extents, each an index; the region's arguments are the block's indices. Blocks may share global memory
    but must not race on it: what one block writes no other block of the same phase reads or writes, save atomically
    (the interpreter reports races). `order` says how blocks are walked, for the caches' sake; `threads` is a hint.
  }];
  let arguments = (ins Variadic<Index>:$extents, OptionalAttr<Tile_OrderAttr>:$order);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$extents, CArg<"::deep_accel::tile::OrderAttr", "{}">:$order)>];
}

def Tile_AllocOp : Tile_Op<"alloc", [MemoryEffects<[MemAlloc]>]> {
  let summary = "a buffer of static shape, with undefined contents";
  let description = [{
    In shared, fragment or local space inside a grid: one for each block (inside `tile.threads`, local: one for each
    thread). In global space outside a grid: a workspace that all blocks of all phases see.
    The name is for messages. `align` asks for more than the usual 64 bytes. Where the buffer lies, and which others
    share its memory, is the compiler's affair. Reading an element before it was written is an error, which the
    interpreter reports.
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$name, OptionalAttr<I64Attr>:$align);
  let results = (outs Res<Tile_Buffer, "", [MemAlloc]>:$buffer);
  let assemblyFormat = "($name^)? attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def Tile_SliceOp : Tile_Op<"slice", [Pure, ViewLikeOpInterface]> {
  let summary = "a window of a buffer, without a copy";
  let description = [{
    An offset for each dimension of the source; the result has the window's static sizes, the source's strides, and, where
    `dims` is given, only those dimensions (the others have size one in the window). The window lies inside the source.
  }];
  let arguments = (ins Tile_Buffer:$source, Variadic<Index>:$offsets, OptionalAttr<DenseI64ArrayAttr>:$dims);
  let results = (outs Tile_Buffer:$result);
  let assemblyFormat = "$source `[` $offsets `]` (`dims` $dims^)? attr-dict `:` type($source) `to` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Value getViewSource() { return getSource(); }
    /// The dimension of the source that dimension `index` of the result stands for.
    int64_t source_dim(int64_t index);
  }];
}

def Tile_ReshapeOp : Tile_Op<"reshape", [Pure, ViewLikeOpInterface]> {
  let summary = "the same elements under another shape, without a copy; the source must be contiguous";
  let description = [{
    Both shapes are static and have the same number of elements, which keep their row-major order.
  }];
  let arguments = (ins Tile_Buffer:$source);
  let results = (outs Tile_Buffer:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{ ::mlir::Value getViewSource() { return getSource(); } }];
}

def Tile_BitcastOp : Tile_Op<"bitcast", [Pure, ViewLikeOpInterface]> {
  let summary = "the same bytes as another element type; the last dimension scales with the width";
  let description = [{
    Nothing is converted: the way to the codes behind narrow floats, and to several values packed in one integer. The
    last dimension must be static, without gaps, and hold a whole number of the new elements.
  }];
  let arguments = (ins Tile_Buffer:$source);
  let results = (outs Tile_Buffer:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{ ::mlir::Value getViewSource() { return getSource(); } }];
}

def Tile_PipelineOp : Tile_Op<"pipeline", [RecursiveMemoryEffects, NoTerminator, SingleBlock]> {
  let summary = "a sequential loop whose iterations may overlap where that cannot be observed";
  let description = [{
    `tile.pipeline %k = %lower to %upper step %step stages(3) attributes {...} { body }`

    `stages` is how many iterations may be in flight. `stage` and `order` place the body's effectful statements by hand,
    one entry for each. The meaning is that of the plain loop: the compiler overlaps only what has no hazards.
  }];
  let arguments = (ins Index:$lower, Index:$upper, Index:$step, DefaultValuedAttr<I64Attr, "1">:$stages,
                   OptionalAttr<DenseI64ArrayAttr>:$stage, OptionalAttr<DenseI64ArrayAttr>:$order);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$lower, "::mlir::Value":$upper, "::mlir::Value":$step,
                             CArg<"int64_t", "1">:$stages)>];
  let extraClassDeclaration = [{
    ::mlir::Value induction_variable() { return getBody().getArgument(0); }
    /// The body's effectful statements, in order.
    ::llvm::SmallVector<::mlir::Operation *> statements();
  }];
}
#endif
