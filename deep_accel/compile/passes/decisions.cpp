#include "deep_accel/compile/passes/decisions.h"

namespace deep_accel::compile {

void note_decision(mlir::Operation* op, const std::string& text) {
  constexpr llvm::StringLiteral key("tile.decisions");
  mlir::Operation* holder = op;
  while (holder && !mlir::isa<tile::GridOp, tile::KernelOp>(holder)) holder = holder->getParentOp();
  if (!holder) return;
  mlir::Builder builder(op->getContext());
  llvm::SmallVector<mlir::Attribute> lines;
  if (auto known = holder->getAttrOfType<mlir::ArrayAttr>(key)) llvm::append_range(lines, known);
  lines.push_back(builder.getStringAttr(text));
  holder->setAttr(key, builder.getArrayAttr(lines));
}

}  // namespace deep_accel::compile
