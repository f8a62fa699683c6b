// Checks and foreign code: assume, assert, print, extern.
#ifndef DEEP_ACCEL_TILE_CHECK_OPS_TD
#define DEEP_ACCEL_TILE_CHECK_OPS_TD
include "tile_base.td"

def Tile_AssumeOp : Tile_Op<"assume", [MemoryEffects<[MemWrite]>]> {
  let summary = "the condition holds: the compiler may rely on it (the interpreter checks it)";
  let description = [{
    The behaviour of a compiled kernel is undefined where it does not hold. `deepaccel tile verify` draws sizes for which
    it does.
  }];
  let arguments = (ins I1:$condition);
  let assemblyFormat = "$condition attr-dict";
}

def Tile_AssertOp : Tile_Op<"assert", [MemoryEffects<[MemWrite]>]> {
  let summary = "the launch fails with the message where the condition does not hold";
  let description = [{
    Blocks that already run go on to their end, others do not start; contents of outputs are undefined then. The first
    message is thrown, as `ValueError`.
  }];
  let arguments = (ins I1:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict";
  let hasVerifier = 1;
}

def Tile_PrintOp : Tile_BufferOp<"print", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "print a text and scalars, or a whole tile";
  let description = [{
    A line for each time that it is reached, on standard output or to the launch's own receiver. Each `{}` in the text
    stands for the next value; further ones follow the text, each after a blank. A tile of at most 4096 elements prints
    as `[1, 2, 3]`, its rows one after the other. Whole numbers print in full up to 2^53, others with nine significant
    digits. Lines of different blocks come in any order, but are not mixed.
  }];
  let arguments = (ins StrAttr:$text, Variadic<AnyTypeOf<[Tile_Scalar, Tile_Buffer]>>:$values);
  let assemblyFormat = "$text (`,` $values^ `:` type($values))? attr-dict";
  let hasVerifier = 1;
}

def Tile_ExternOp : Tile_BufferOp<"extern"> {
  let summary = "call a C function of the host program";
  let description = [{
    Buffers are passed as a pointer to their first element (static shape, contiguous), scalars by value (index as
    int64_t). `reads` and `writes` list the operands that are buffers which the function reads and writes. The function
    is looked up by name in the process when the kernel is loaded, and may be called by several threads at once.
  }];
  let arguments = (ins FlatSymbolRefAttr:$symbol, Variadic<AnyTypeOf<[Tile_Scalar, Tile_Buffer]>>:$operands,
                   DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$reads, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$writes);
  let results = (outs Optional<Tile_Scalar>:$result);
  let assemblyFormat = [{
    $symbol `(` $operands `)` (`reads` $reads^)? (`writes` $writes^)? attr-dict `:` functional-type($operands, results)
  }];
  let hasVerifier = 1;
}
#endif
