// Whether a map's output goes past the caches.
#include "deep_accel/compile/lower/map_emitter.h"

namespace deep_accel::compile {

using mlir::OpFoldResult;
using mlir::Value;
namespace arith = mlir::arith;

bool MapEmitter::may_stream(tile::WriteOp write) {
  const BufferRef& ref = emitter_.buffer(write.getBuffer());
  if (!ref.argument || ref.storage != ref.element || tile::is_packed(ref.storage)) return false;
  if (memory_step(write.getBuffer(), write.getIndices(), axis_) != 1) return false;
  const int64_t bytes = lanes_ * tile::storage_bits(ref.storage) / 8;
  return bytes >= 16 && llvm::none_of(op_.getBody().front().getOps<tile::ReadOp>(), [&](tile::ReadOp read) {
           return tile::root_buffer(read.getBuffer()) == tile::root_buffer(write.getBuffer());
         });
}

// Rows that begin at a line of the cache, of tensors that the caches would not hold anyway: lines of which a part only
// goes past the caches take longer than those that go through them.
Value MapEmitter::streaming_condition() {
  const Target& target = emitter_.target_;
  const int64_t threshold = target.l3 > 0 ? target.l3 : int64_t{8} << 20;
  Value all;
  for (auto write : op_.getBody().front().getOps<tile::WriteOp>()) {
    if (!may_stream(write)) continue;
    const BufferRef& ref = emitter_.buffer(write.getBuffer());
    const int64_t element_bytes = tile::storage_bits(ref.storage) / 8;
    Value bytes = elements_.index(element_bytes);
    int64_t fixed = element_bytes;
    bool dynamic = false;
    for (OpFoldResult size : ref.sizes) {
      if (const auto known = mlir::getConstantIntValue(size)) {
        fixed *= *known;
      } else {
        dynamic = true;
      }
      bytes = elements_.mul(bytes, size);
    }
    if (!dynamic && fixed <= threshold) return {};
    lane_values_[op_.getBody().getArgument(static_cast<unsigned>(axis_))] = LaneValue{elements_.index(int64_t{0}), 0};
    // Index arithmetic of the body, for the first element.
    mlir::IRMapping start;
    for (mlir::BlockArgument argument : op_.getBody().getArguments()) start.map(argument, lookup(argument).scalar);
    llvm::SmallVector<Value> indices;
    for (Value index : write.getIndices()) {
      Value found = clone_index(index, start);
      if (!found) return {};
      indices.push_back(found);
    }
    Value address = builder_.create<mlir::LLVM::PtrToIntOp>(builder_.getI64Type(),
                                                            elements_.address(ref, elements_.position(ref, indices)));
    const int64_t boundary = std::max<int64_t>(lanes_ * element_bytes, target.line);
    Value below = builder_.create<arith::AndIOp>(address, builder_.create<arith::ConstantIntOp>(boundary - 1, 64));
    Value holds =
        builder_.create<arith::CmpIOp>(arith::CmpIPredicate::eq, below, builder_.create<arith::ConstantIntOp>(0, 64));
    if (dynamic) {
      Value large = builder_.create<arith::CmpIOp>(arith::CmpIPredicate::ugt, bytes, elements_.index(threshold));
      holds = builder_.create<arith::AndIOp>(holds, large);
    }
    all = all ? builder_.create<arith::AndIOp>(all, holds).getResult() : holds;
  }
  return all;
}

// An index of the body computed outside of it; null where it depends on memory.
Value MapEmitter::clone_index(Value index, mlir::IRMapping& start) {
  if (Value known = start.lookupOrNull(index)) return known;
  mlir::Operation* def = index.getDefiningOp();
  if (!def || !op_->isProperAncestor(def)) return emitter_.value(index);
  if (!mlir::isMemoryEffectFree(def) || def->getNumRegions() != 0) return {};
  for (Value operand : def->getOperands()) {
    Value copy = clone_index(operand, start);
    if (!copy) return {};
    start.map(operand, copy);
  }
  return builder_.clone(*def, start)->getResult(0);
}

}  // namespace deep_accel::compile
