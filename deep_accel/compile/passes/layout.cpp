// See layout.h.
#include "deep_accel/compile/passes/layout.h"

#include "deep_accel/base/round_up.h"

namespace deep_accel::compile {

llvm::SmallVector<int64_t> physical_shape(tile::AllocOp alloc) {
  llvm::SmallVector<int64_t> shape(alloc.getType().getShape());
  if (auto panels = alloc->getAttrOfType<mlir::DenseI64ArrayAttr>("tile.panels")) {
    int64_t& along = shape[shape.size() - 2 + static_cast<size_t>(panels[0])];
    along = round_up(along, panels[1]);
  }
  return shape;
}

int64_t physical_bytes(tile::AllocOp alloc) {
  mlir::Type storage = alloc.getType().getElementType();
  if (auto attribute = alloc->getAttrOfType<mlir::TypeAttr>("tile.storage")) storage = attribute.getValue();
  int64_t elements = 1;
  for (int64_t size : physical_shape(alloc)) elements *= size;
  return (elements * tile::storage_bits(storage) + 7) / 8;
}

}  // namespace deep_accel::compile
