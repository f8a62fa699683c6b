// Along which axis a map runs in vectors, and how wide: what is known of each access when one index moves by one.
#include <numeric>

#include "deep_accel/compile/lower/map_emitter.h"
#include "deep_accel/compile/numerics/vector_math.h"

namespace deep_accel::compile {

using mlir::Value;
namespace arith = mlir::arith;

bool MapEmitter::straight_line() {
  for (mlir::Operation& op : op_.getBody().front()) {
    if (mlir::isa<tile::ReadOp, tile::WriteOp, tile::CombineOp>(op)) continue;
    if (mlir::isa<arith::ConstantOp, tile::AssertOp, tile::ExtentOp>(op)) continue;
    if (!mlir::isa<arith::ArithDialect, mlir::math::MathDialect>(op.getDialect())) return false;
    if (op.getNumRegions() != 0 || op.getNumResults() != 1) return false;
    if (!op.hasTrait<mlir::OpTrait::Vectorizable>()) return false;
  }
  return true;
}

std::optional<int64_t> MapEmitter::index_step(Value index, int64_t axis) {
  return index_steps_.get({index, axis}, std::nullopt, [&] { return find_index_step(index, axis); });
}

std::optional<int64_t> MapEmitter::find_index_step(Value index, int64_t axis) {
  if (index == op_.getBody().getArgument(static_cast<unsigned>(axis))) return 1;
  if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(index)) return 0;
  mlir::Operation* def = index.getDefiningOp();
  if (!op_->isProperAncestor(def)) return 0;
  if (mlir::isa<arith::ConstantOp>(def)) return 0;
  auto binary = [&](auto join) -> std::optional<int64_t> {
    const auto a = index_step(def->getOperand(0), axis), b = index_step(def->getOperand(1), axis);
    int64_t step = 0;
    if (!a || !b || join(*a, *b, &step)) return std::nullopt;
    return step;
  };
  if (mlir::isa<arith::AddIOp>(def)) {
    return binary([](int64_t a, int64_t b, int64_t* sum) { return __builtin_add_overflow(a, b, sum); });
  }
  if (mlir::isa<arith::SubIOp>(def)) {
    return binary([](int64_t a, int64_t b, int64_t* sum) { return __builtin_sub_overflow(a, b, sum); });
  }
  if (mlir::isa<arith::IndexCastOp>(def)) return index_step(def->getOperand(0), axis);
  if (mlir::isa<arith::MulIOp>(def)) {
    for (int side = 0; side < 2; ++side) {
      const auto step = index_step(def->getOperand(side), axis);
      const auto factor = mlir::getConstantIntValue(def->getOperand(1 - side));
      if (step && *step == 0 && index_step(def->getOperand(1 - side), axis) == 0) return 0;
      int64_t product = 0;
      if (step && factor && !__builtin_mul_overflow(*step, *factor, &product)) return product;
    }
    return std::nullopt;
  }
  for (Value operand : def->getOperands()) {
    if (index_step(operand, axis) != 0) return std::nullopt;
  }
  return 0;
}

std::optional<int64_t> MapEmitter::memory_step(Value buffer, mlir::ValueRange indices, int64_t axis) {
  const BufferRef& ref = emitter_.buffer(buffer);
  int64_t total = 0;
  // Steps that do not fit are none that one could make use of.
  auto add = [&](int64_t step, int64_t stride) {
    int64_t product = 0;
    return !__builtin_mul_overflow(step, stride, &product) && !__builtin_add_overflow(total, product, &total);
  };
  for (auto [dim, index] : llvm::enumerate(indices)) {
    const auto step = index_step(index, axis);
    if (!step) return std::nullopt;
    if (*step == 0) continue;
    if (ref.panels) {
      // Along the panels' axis a vector stays within a panel only where it starts at one of its multiples: the map's
      // own index does.
      if (ref.panels->width == 1) {
        if (!add(*step, static_cast<int64_t>(dim) == ref.panels->axis ? ref.panels->rows : 1)) return std::nullopt;
      } else if (static_cast<int64_t>(dim) == ref.panels->axis) {
        const bool aligned = index == op_.getBody().getArgument(static_cast<unsigned>(axis));
        if (!aligned || *step != 1) return std::nullopt;
        if (!add(1, ref.panels->group)) return std::nullopt;
      } else if (ref.panels->group > 1) {
        // Side by side within a group, where vectors start at its first.
        const bool aligned = index == op_.getBody().getArgument(static_cast<unsigned>(axis));
        if (!aligned || !add(1, 1)) return std::nullopt;
      } else if (!add(*step, ref.panels->width)) {
        return std::nullopt;
      }
      continue;
    }
    const auto stride = mlir::getConstantIntValue(ref.strides[dim]);
    if (!stride || !add(*step, *stride)) return std::nullopt;
  }
  return total;
}

int64_t MapEmitter::choose_axis() {
  int64_t best = -1;
  double best_worth = 0;
  for (int64_t axis = 0; axis < op_.rank(); ++axis) {
    int64_t score = 0, apart = 0;
    for (mlir::Operation& op : op_.getBody().front()) {
      Value buffer;
      mlir::ValueRange indices;
      bool writes = true;
      if (auto read = mlir::dyn_cast<tile::ReadOp>(op)) {
        buffer = read.getBuffer(), indices = read.getIndices(), writes = false;
      } else if (auto write = mlir::dyn_cast<tile::WriteOp>(op)) {
        buffer = write.getBuffer(), indices = write.getIndices();
      } else if (auto combine = mlir::dyn_cast<tile::CombineOp>(op)) {
        buffer = combine.getBuffer(), indices = combine.getIndices();
      } else {
        continue;
      }
      const auto step = memory_step(buffer, indices, axis);
      // A write that does not move with the axis is the same element over and over: no axis for vectors.
      if (step == 0 && mlir::isa<tile::WriteOp>(op)) score -= 100;
      if (step == 1) score += writes ? 4 : 3;
      if (!step || (*step != 0 && *step != 1)) score -= 2, ++apart;
    }
    const auto size = mlir::getConstantIntValue(op_.mixed_sizes()[axis]);
    if (score <= 0 || (size && *size == 1)) continue;
    // Lanes that lie apart are moved one by one, and vectors that the axis does not fill do less.
    const auto lanes = static_cast<double>(emitter_.target_.lanes(32));
    const double filled = size ? std::min(1.0, static_cast<double>(*size) / lanes) : 1;
    const double worth = static_cast<double>(score) * filled - 4 * static_cast<double>(apart);
    if (best < 0 || worth >= best_worth) best = axis, best_worth = worth;
  }
  return best;
}

int64_t MapEmitter::choose_lanes() {
  int64_t widest = 32;
  bool packed = false;
  int64_t panel_width = 0, group = 1;
  for (mlir::Operation& op : op_.getBody().front()) {
    for (mlir::Type type : op.getResultTypes()) {
      if (type.isF64() || type.isInteger(64)) widest = 64;
    }
    for (Value operand : op.getOperands()) {
      if (auto type = mlir::dyn_cast<mlir::MemRefType>(operand.getType())) {
        packed |= tile::is_packed(type.getElementType());
        const auto& panels = emitter_.buffer(operand).panels;
        if (panels && panels->width > 1) {
          panel_width = std::gcd(panel_width, panels->width);
          group = std::max(group, panels->group);
        }
      }
    }
  }
  int64_t lanes = emitter_.target_.lanes(static_cast<int>(widest));
  if (packed) lanes = std::max<int64_t>(lanes, 8);
  if (group > 1) panel_width = group;
  while (panel_width != 0 && panel_width % lanes != 0) lanes /= 2;
  const auto size = mlir::getConstantIntValue(op_.mixed_sizes()[axis_]);
  while (size && *size < lanes && lanes > 2) lanes /= 2;
  return lanes;
}

// Elementary functions are long chains of operations, of which a core with few registers sees too few at once if the
// chains follow each other: there the vectors of several copies are emitted as one long vector, which LLVM cuts
// operation by operation.
bool MapEmitter::advances_together() {
  if (emitter_.target_.function_copies == 1) return false;
  bool functions = false;
  for (mlir::Operation& op : op_.getBody().front()) {
    functions |= is_elementary_function(&op);
    if (mlir::isa<tile::AssertOp>(op)) return false;
    mlir::Value buffer;
    mlir::ValueRange indices;
    if (auto read = mlir::dyn_cast<tile::ReadOp>(op)) buffer = read.getBuffer(), indices = read.getIndices();
    if (auto write = mlir::dyn_cast<tile::WriteOp>(op)) buffer = write.getBuffer(), indices = write.getIndices();
    if (auto combine = mlir::dyn_cast<tile::CombineOp>(op))
      buffer = combine.getBuffer(), indices = combine.getIndices();
    if (!buffer) continue;
    if (emitter_.buffer(buffer).panels || tile::is_packed(emitter_.buffer(buffer).storage)) return false;
    const auto step = memory_step(buffer, indices, axis_);
    if (step != 0 && step != 1) return false;
  }
  return functions;
}

int64_t MapEmitter::choose_unroll() {
  const bool together = advances_together();
  if (horizontal_.empty() && !together) return 1;
  const auto size = mlir::getConstantIntValue(op_.mixed_sizes()[axis_]);
  int64_t unroll = together ? emitter_.target_.function_copies : 4;
  while (size && unroll > 1 && *size < lanes_ * unroll) unroll /= 2;
  return unroll;
}

}  // namespace deep_accel::compile
