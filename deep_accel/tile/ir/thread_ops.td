// Threads: code in the block-SIMT manner, a body for each thread of a block with barriers between its parts.
#ifndef DEEP_ACCEL_TILE_THREAD_OPS_TD
#define DEEP_ACCEL_TILE_THREAD_OPS_TD
include "tile_base.td"

def Tile_ThreadsOp : Tile_BufferOp<"threads", [NoTerminator, SingleBlock, RecursiveMemoryEffects]> {
  let summary = "a body for each thread of the block";
  let description = [{
    `tile.threads (%t) in [128] { body }`

    One to three static extents, at most 4096 threads together; the region's arguments are the thread's indices, the
    first the fastest. Threads run in any order between barriers, and must not race. The compiler cuts the body at its
    barriers and makes a map of each part, so that threads become lanes of vectors.
  }];
  let arguments = (ins DenseI64ArrayAttr:$extents);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::ArrayRef<int64_t>":$extents)>];
  let extraClassDeclaration = [{ int64_t count(); }];
}

def Tile_BarrierOp : Tile_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "no thread of the block goes on before all have come here";
  let description = [{
    In `tile.threads`, at its top level or in `scf.for`, `scf.while` and `scf.if` whose conditions are the same for all
    threads. What threads wrote before it others may read after it. `id` and `count` name a barrier of a part of the
    threads (those that reach it).
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$id, OptionalAttr<I64Attr>:$count);
  let assemblyFormat = "(`id` $id^)? (`count` $count^)? attr-dict";
  let hasVerifier = 1;
}

def Tile_ShuffleOp : Tile_Op<"shuffle", [MemoryEffects<[MemRead, MemWrite]>, AllTypesMatch<["value", "result"]>]> {
  let summary = "the value of another thread of the same group of `width` threads; a barrier too";
  let description = [{
    `index`: of lane `lane`; `up`, `down`: that far below or above; `xor`: lane number xor `lane`. Where there is no such
    lane in the group, the thread's own value.
  }];
  let arguments = (ins Tile_ShuffleAttr:$mode, Tile_Compute:$value, I32:$lane, DefaultValuedAttr<I64Attr, "32">:$width);
  let results = (outs Tile_Compute:$result);
  let assemblyFormat = "$mode $value `,` $lane (`width` $width^)? attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Tile_VoteOp : Tile_Op<"vote", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "whether any, whether all, or how many threads of a group say yes; a barrier too";
  let description = [{
    Groups are of `width` consecutive threads, a power of two. The result is the same for all threads of a group: 0 or 1
    for `any` and `all`, the number of threads whose condition holds for `count`.
  }];
  let arguments = (ins Tile_VoteAttr:$mode, I1:$condition, DefaultValuedAttr<I64Attr, "32">:$width);
  let results = (outs I32:$result);
  let assemblyFormat = "$mode $condition (`width` $width^)? attr-dict";
  let hasVerifier = 1;
}
#endif
