// The one interface that every operation which touches buffers answers.
#ifndef DEEP_ACCEL_TILE_INTERFACE_TD
#define DEEP_ACCEL_TILE_INTERFACE_TD
include "mlir/IR/OpBase.td"

def Tile_OpInterface : OpInterface<"TileOp"> {
  let cppNamespace = "::deep_accel::tile";
  let description = [{What the compiler asks of every operation that touches buffers.}];
  let methods = [
    InterfaceMethod<"The buffers that the operation (with its region) reads and writes, and whether a write covers "
                    "the whole buffer.",
                    "::llvm::SmallVector<::deep_accel::tile::Access>", "accesses", (ins)>,
    InterfaceMethod<"Arithmetic and traffic of one execution; sizes that are not known count as one.",
                    "::deep_accel::tile::Cost", "cost", (ins)>,
    InterfaceMethod<"The layout that this operation would like an operand to have.",
                    "::deep_accel::tile::LayoutWish", "layout_wish", (ins "::mlir::OpOperand &":$operand),
                    /*methodBody=*/"", /*defaultImplementation=*/[{ return ::deep_accel::tile::LayoutWish::Any; }]>
  ];
}

#endif
