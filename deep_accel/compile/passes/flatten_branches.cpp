// See flatten_branches.h.
#include "deep_accel/compile/passes/flatten_branches.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace deep_accel::compile {

namespace {

// True where 0 <= index < size for every point of the map: a constant, or an index of the map itself.
bool surely_inside(mlir::Value index, int64_t size, tile::MapOp map) {
  if (mlir::ShapedType::isDynamic(size)) return false;
  if (auto constant = mlir::getConstantIntValue(index)) return *constant >= 0 && *constant < size;
  auto argument = mlir::dyn_cast<mlir::BlockArgument>(index);
  if (!argument || argument.getOwner() != &map.getBody().front()) return false;
  auto extent = mlir::getConstantIntValue(map.mixed_sizes()[argument.getArgNumber()]);
  return extent && *extent <= size;
}

bool may_run_always(mlir::Operation& op, tile::MapOp map) {
  if (auto read = mlir::dyn_cast<tile::ReadOp>(op)) {
    return llvm::all_of(llvm::zip(read.getIndices(), read.getBuffer().getType().getShape()),
                        [&](auto pair) { return surely_inside(std::get<0>(pair), std::get<1>(pair), map); });
  }
  return op.getNumRegions() == 0 && mlir::isPure(&op);
}

void flatten(mlir::scf::IfOp branch, tile::MapOp map) {
  if (branch.getNumResults() == 0 || branch.getElseRegion().empty()) return;
  mlir::Block *one = branch.thenBlock(), *other = branch.elseBlock();
  for (mlir::Block* block : {one, other}) {
    for (mlir::Operation& op : block->without_terminator()) {
      if (!may_run_always(op, map)) return;
    }
  }
  mlir::OpBuilder builder(branch);
  llvm::SmallVector<mlir::Value> chosen;
  for (mlir::Block* block : {one, other}) {
    for (mlir::Operation& op : llvm::make_early_inc_range(block->without_terminator())) op.moveBefore(branch);
  }
  for (auto [a, b] : llvm::zip(one->getTerminator()->getOperands(), other->getTerminator()->getOperands())) {
    chosen.push_back(builder.create<mlir::arith::SelectOp>(branch.getLoc(), branch.getCondition(), a, b));
  }
  branch.replaceAllUsesWith(chosen);
  branch.erase();
}

}  // namespace

void flatten_branches(tile::KernelOp kernel) {
  llvm::SmallVector<mlir::scf::IfOp> branches;
  // Inner ones first: the outer one may then be flat too.
  kernel->walk<mlir::WalkOrder::PostOrder>([&](mlir::scf::IfOp branch) { branches.push_back(branch); });
  for (mlir::scf::IfOp branch : branches) {
    if (auto map = branch->getParentOfType<tile::MapOp>()) flatten(branch, map);
  }
}

}  // namespace deep_accel::compile
