// See layout.h.
#include "deep_accel/compile/passes/layout.h"

#include "deep_accel/base/round_up.h"

namespace deep_accel::compile {

int64_t physical_bytes(tile::AllocOp alloc) {
  auto type = mlir::cast<mlir::MemRefType>(alloc.getType());
  mlir::Type storage = type.getElementType();
  if (auto attribute = alloc->getAttrOfType<mlir::TypeAttr>("tile.storage")) storage = attribute.getValue();
  int64_t elements = 1;
  auto panels = alloc->getAttrOfType<mlir::DenseI64ArrayAttr>("tile.panels");
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    int64_t taken = size;
    if (panels && panels[0] == static_cast<int64_t>(dim)) taken = round_up(size, panels[1]);
    elements *= taken;
  }
  return (elements * tile::storage_bits(storage) + 7) / 8;
}

}  // namespace deep_accel::compile
