// Checks and foreign code: assume, assert, print, extern.
#ifndef DEEP_ACCEL_TILE_CHECK_OPS_TD
#define DEEP_ACCEL_TILE_CHECK_OPS_TD
include "tile_base.td"

def Tile_AssumeOp : Tile_Op<"assume", [MemoryEffects<[MemWrite]>]> {
  let summary = "the condition holds: the compiler may rely on it (the interpreter checks it)";
  let description = [{Example: `tile.assume %multiple_of_16`}];
  let arguments = (ins I1:$condition);
  let assemblyFormat = "$condition attr-dict";
}

def Tile_AssertOp : Tile_Op<"assert", [MemoryEffects<[MemWrite]>]> {
  let summary = "the launch fails with the message where the condition does not hold";
  let description = [{Example: `tile.assert %in_range, "token id outside the table"`}];
  let arguments = (ins I1:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict";
}

def Tile_PrintOp : Tile_BufferOp<"print", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "print a text and scalars, or a whole tile";
  let description = [{Example: `tile.print "row", %i, %v : index, f32`}];
  let arguments = (ins StrAttr:$text, Variadic<AnyTypeOf<[Tile_Scalar, Tile_Buffer]>>:$values);
  let assemblyFormat = "$text (`,` $values^ `:` type($values))? attr-dict";
}

def Tile_ExternOp : Tile_BufferOp<"extern"> {
  let summary = "call a C function of the host program";
  let description = [{
    Buffers are passed as a pointer to their first element (static shape, contiguous), scalars by value (index as
    int64_t). `reads` and `writes` list the operands that are buffers which the function reads and writes.

    Example: `tile.extern @my_function(%t, %n) reads [0] writes [0] : (memref<64xf32, #tile.space<shared>>, index) -> ()`
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
