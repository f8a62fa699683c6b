// What one execution of each operation costs: arithmetic operations, and bytes that go to or come from global memory.
// Sizes and trip counts that are not known count as one.
#include <cmath>

#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::tile {

using mlir::Operation;
using mlir::Region;
using mlir::Value;

namespace {

mlir::MemRefType memref(Value buffer) { return mlir::cast<mlir::MemRefType>(buffer.getType()); }

double elements(Value tile) {
  double count = 1;
  for (int64_t size : memref(tile).getShape()) {
    if (!mlir::ShapedType::isDynamic(size)) count *= static_cast<double>(size);
  }
  return count;
}

// Traffic of `count` elements of a buffer: none where it is not in global memory.
double traffic(Value buffer, double count) {
  if (!is_global(buffer.getType())) return 0;
  return count * static_cast<double>(storage_bits(memref(buffer).getElementType())) / 8;
}

double extent(mlir::OpFoldResult size) {
  auto known = mlir::getConstantIntValue(size);
  return known ? static_cast<double>(*known) : 1;
}

// How often a loop runs.
double trips(Value lower, Value upper, Value step) {
  auto first = constant_index(lower), last = constant_index(upper), stride = constant_index(step);
  if (!first || !last || !stride || *stride < 1) return 1;
  return *last > *first ? std::ceil(static_cast<double>(*last - *first) / static_cast<double>(*stride)) : 0;
}

// Floating-point arithmetic counts; that on indices and integers goes beside it.
double scalar_flops(Operation* op) {
  if (!mlir::isa_and_nonnull<mlir::arith::ArithDialect, mlir::math::MathDialect>(op->getDialect())) return 0;
  if (mlir::isa<mlir::arith::ConstantOp, mlir::arith::SelectOp, mlir::arith::BitcastOp>(op)) return 0;
  if (mlir::isa<mlir::math::FmaOp>(op)) return 2;
  return llvm::any_of(op->getOperandTypes(), [](mlir::Type type) { return mlir::isa<mlir::FloatType>(type); }) ? 1 : 0;
}

double product_flops(Value acc, double depth) { return 2 * elements(acc) * depth; }

Cost times(Cost cost, double count) { return {cost.flops * count, cost.bytes * count}; }

Cost op_cost(Operation& op) {
  if (auto tile_op = mlir::dyn_cast<TileOp>(op)) return tile_op.cost();
  Cost cost{scalar_flops(&op), 0};
  for (Region& region : op.getRegions()) cost += region_cost(region);
  if (auto loop = mlir::dyn_cast<mlir::scf::ForOp>(op)) {
    return times(cost, trips(loop.getLowerBound(), loop.getUpperBound(), loop.getStep()));
  }
  if (auto loop = mlir::dyn_cast<PipelineOp>(op)) {
    return times(cost, trips(loop.getLower(), loop.getUpper(), loop.getStep()));
  }
  return cost;
}

}  // namespace

Cost region_cost(Region& region) {
  Cost cost;
  for (mlir::Block& block : region) {
    for (Operation& op : block) cost += op_cost(op);
  }
  return cost;
}

// Moves ---------------------------------------------------------------------------------------------------------------

Cost LoadOp::cost() { return {0, traffic(getSource(), elements(getTile()))}; }
Cost AsyncLoadOp::cost() { return {0, traffic(getSource(), elements(getTile()))}; }
Cost StoreOp::cost() { return {0, traffic(getDest(), elements(getTile()))}; }
Cost CopyOp::cost() { return {}; }
Cost TransposeOp::cost() { return {}; }
Cost GatherOp::cost() { return {0, traffic(getSource(), elements(getTile()))}; }
Cost Im2colOp::cost() { return {0, traffic(getImage(), elements(getTile()))}; }

Cost ScatterOp::cost() {
  const double count = elements(getTile()), bytes = traffic(getDest(), count);
  return getCombine() ? Cost{count, 2 * bytes} : Cost{0, bytes};
}

// Compute -------------------------------------------------------------------------------------------------------------

Cost ReadOp::cost() { return {0, traffic(getBuffer(), 1)}; }
Cost WriteOp::cost() { return {0, traffic(getBuffer(), 1)}; }
Cost CombineOp::cost() { return {1, 2 * traffic(getBuffer(), 1)}; }
Cost AtomicOp::cost() { return {1, 2 * traffic(getBuffer(), 1)}; }
Cost AtomicStoreOp::cost() { return {elements(getTile()), 2 * traffic(getDest(), elements(getTile()))}; }
Cost FillOp::cost() { return {}; }
Cost ReduceOp::cost() { return {elements(getSource()), 0}; }
Cost ScanOp::cost() { return {elements(getSource()), 0}; }
Cost GemmOp::cost() { return {product_flops(getAcc(), static_cast<double>(k())), 0}; }

// The zeros of the expanded factor are not multiplied: the depth is a's own.
Cost SparseGemmOp::cost() { return {product_flops(getAcc(), static_cast<double>(getA().getType().getDimSize(1))), 0}; }

Cost MapOp::cost() {
  double points = 1;
  for (mlir::OpFoldResult size : mixed_sizes()) points *= extent(size);
  return times(region_cost(getBody()), points);
}

Cost ThreadsOp::cost() { return times(region_cost(getBody()), static_cast<double>(count())); }

// Foreign code and output: what they do is not known, but that extern's buffers are passed over once.
Cost ExternOp::cost() {
  Cost cost;
  for (int64_t operand : getReads()) cost.bytes += traffic(getOperand(operand), elements(getOperand(operand)));
  for (int64_t operand : getWrites()) cost.bytes += traffic(getOperand(operand), elements(getOperand(operand)));
  return cost;
}

Cost PrintOp::cost() { return {}; }

}  // namespace deep_accel::tile
