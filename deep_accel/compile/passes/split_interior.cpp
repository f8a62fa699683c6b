// See split_interior.h.
#include "deep_accel/compile/passes/split_interior.h"

#include "deep_accel/compile/passes/window.h"

namespace deep_accel::compile {

using mlir::Value;
namespace arith = mlir::arith;
namespace scf = mlir::scf;

namespace {

bool is_question(mlir::Operation* op) { return mlir::isa<scf::IfOp>(op) && op->hasAttr(interior_attribute); }

// A grid's block, cut in what only computes scalars (and makes tiles) and what does things.
struct Cut {
  llvm::SmallVector<mlir::Operation*> above, rest;
  llvm::SmallVector<Value> conditions;
};

// Nullopt where the block has no questions to gather, or other structure than maps.
std::optional<Cut> cut(mlir::Block& block) {
  Cut result;
  llvm::SmallPtrSet<mlir::Operation*, 16> late;
  for (mlir::Operation& op : block) {
    const bool waits =
        llvm::any_of(op.getOperands(), [&](Value operand) { return late.contains(operand.getDefiningOp()); });
    const bool scalar = mlir::isa<tile::AllocOp>(op) || (op.getNumRegions() == 0 && mlir::isMemoryEffectFree(&op));
    if (scalar && !waits) {
      result.above.push_back(&op);
      continue;
    }
    if (op.getNumRegions() != 0 && !mlir::isa<tile::MapOp>(op) && !is_question(&op)) return std::nullopt;
    if (mlir::isa<tile::GemmOp>(op)) return std::nullopt;
    if (is_question(&op)) {
      if (waits) return std::nullopt;
      Value condition = op.getOperand(0);
      if (!llvm::is_contained(result.conditions, condition)) result.conditions.push_back(condition);
    }
    late.insert(&op);
    result.rest.push_back(&op);
  }
  if (result.conditions.empty() || result.rest.size() < 2) return std::nullopt;
  return result;
}

void split(tile::GridOp grid) {
  mlir::Block& block = grid.getBody().front();
  const auto parts = cut(block);
  if (!parts) return;
  for (mlir::Operation* op : parts->above) op->moveBefore(parts->rest.front());
  mlir::ImplicitLocOpBuilder builder(grid.getLoc(), parts->rest.front());
  Value whole = parts->conditions.front();
  for (Value condition : llvm::drop_begin(parts->conditions)) whole = builder.create<arith::AndIOp>(whole, condition);
  auto branch = builder.create<scf::IfOp>(whole, /*withElseRegion=*/true);

  builder.setInsertionPointToStart(branch.thenBlock());
  mlir::IRMapping mapping;
  for (mlir::Operation* op : parts->rest) {
    if (!is_question(op)) {
      builder.clone(*op, mapping);
      continue;
    }
    for (mlir::Operation& inner : mlir::cast<scf::IfOp>(op).thenBlock()->without_terminator()) {
      builder.clone(inner, mapping);
    }
  }
  for (mlir::Operation* op : parts->rest) op->moveBefore(branch.elseBlock()->getTerminator());
}

}  // namespace

void split_interior(tile::KernelOp kernel) {
  kernel.walk([](tile::GridOp grid) { split(grid); });
}

}  // namespace deep_accel::compile
