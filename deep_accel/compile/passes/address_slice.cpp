#include "deep_accel/compile/passes/address_slice.h"

namespace deep_accel::compile {

using mlir::Operation;
using mlir::Value;

bool AddressSlice::add(Value value) {
  if (!body_.getParent()->isAncestor(value.getParentRegion())) return true;
  if (value == body_.getArgument(0)) {
    varies_ = true;
    return true;
  }
  Operation* op = value.getDefiningOp();
  if (!op) return fail("its address is carried from one iteration to the next");
  return operations_.contains(op) || add_operation(op);
}

bool AddressSlice::add_operation(Operation* op) {
  if (auto read = mlir::dyn_cast<tile::ReadOp>(op)) {
    reads_memory_ = true;
    if (!add_contents(read.getBuffer(), op)) return false;
  } else if (op->getNumRegions() != 0 || !mlir::isMemoryEffectFree(op)) {
    return fail("its address is not plain scalar code");
  }
  for (Value operand : op->getOperands()) {
    if (!add(operand)) return false;
  }
  operations_.insert(op);
  return true;
}

bool AddressSlice::add_contents(Value tile, Operation* at) {
  const llvm::SmallVector<Operation*> writers = hazards_.writers(tile);
  if (writers.empty()) return true;
  const std::string name = tile::buffer_name(tile);
  auto load = writers.size() == 1 ? mlir::dyn_cast<tile::LoadOp>(writers.front()) : tile::LoadOp();
  Value root = tile::root_buffer(tile);
  auto alloc = root.getDefiningOp<tile::AllocOp>();
  if (!load || !alloc || load.getTile() != root)
    return fail("its address depends on " + name + ", which the loop writes");
  if (at->getBlock() != &body_ || !load->isBeforeInBlock(at)) {
    return fail("its address depends on " + name + ", which an earlier iteration filled");
  }
  if (hazards_.writes(load.getSource())) {
    return fail("its address depends on " + tile::buffer_name(load.getSource()) + ", which the loop writes");
  }
  if (operations_.contains(load)) return true;
  for (Value operand : load->getOperands()) {
    if (operand != root && !add(operand)) return false;
  }
  reads_memory_ = true;
  operations_.insert(alloc);
  operations_.insert(load);
  return true;
}

void AddressSlice::clone(mlir::OpBuilder& builder, mlir::IRMapping& mapping) const {
  for (Operation* op : operations_) {
    if (op->getNumResults() > 0 && mapping.contains(op->getResult(0))) continue;
    builder.clone(*op, mapping);
  }
}

}  // namespace deep_accel::compile
