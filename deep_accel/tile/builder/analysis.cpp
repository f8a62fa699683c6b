// What is known of integers without running the kernel: intervals, and differences that are constant.
#include <algorithm>

#include "deep_accel/tile/builder/state.h"
#include "mlir/IR/OperationSupport.h"

namespace deep_accel::tile {

namespace {

namespace arith = mlir::arith;

constexpr int kDepth = 32;  // of expressions that are looked into

Interval interval(mlir::Value value, int depth);

Interval of_variable(mlir::BlockArgument variable, int depth) {
  mlir::Operation* op = variable.getOwner()->getParentOp();
  const unsigned number = variable.getArgNumber();
  auto below = [&](Interval size) {
    return Interval{0, size.high ? std::optional(std::max<int64_t>(*size.high - 1, 0)) : std::nullopt};
  };
  if (auto grid = mlir::dyn_cast<GridOp>(op)) return below(interval(grid.getExtents()[number], depth));
  if (auto threads = mlir::dyn_cast<ThreadsOp>(op)) return {0, threads.getExtents()[number] - 1};
  if (auto map = mlir::dyn_cast<MapOp>(op)) {
    const mlir::OpFoldResult size = map.mixed_sizes()[number];
    if (auto known = mlir::getConstantIntValue(size)) return {0, std::max<int64_t>(*known - 1, 0)};
    return below(interval(mlir::cast<mlir::Value>(size), depth));
  }
  mlir::Value lower, upper, step;
  if (auto loop = mlir::dyn_cast<mlir::scf::ForOp>(op); loop && number == 0) {
    lower = loop.getLowerBound(), upper = loop.getUpperBound(), step = loop.getStep();
  } else if (auto pipeline = mlir::dyn_cast<PipelineOp>(op)) {
    lower = pipeline.getLower(), upper = pipeline.getUpper(), step = pipeline.getStep();
  }
  if (!lower) return {};
  const Interval from = interval(lower, depth), to = interval(upper, depth);
  Interval result{from.low, std::nullopt};
  if (to.high) result.high = *to.high - 1;
  // The last value that a loop from and with constants takes.
  auto by = constant_index(step);
  if (result.high && from.low && from.low == from.high && by && *by > 0 && *result.high >= *from.low) {
    result.high = *from.low + (*result.high - *from.low) / *by * *by;
  }
  return result;
}

std::optional<int64_t> sum(std::optional<int64_t> a, std::optional<int64_t> b) {
  int64_t result = 0;
  return a && b && !__builtin_add_overflow(*a, *b, &result) ? std::optional(result) : std::nullopt;
}

std::optional<int64_t> product(std::optional<int64_t> a, std::optional<int64_t> b) {
  int64_t result = 0;
  return a && b && !__builtin_mul_overflow(*a, *b, &result) ? std::optional(result) : std::nullopt;
}

std::optional<int64_t> negated(std::optional<int64_t> a) { return product(a, -1); }

Interval multiplied(const Interval& a, const Interval& b) {
  const std::optional<int64_t> corners[] = {product(a.low, b.low), product(a.low, b.high), product(a.high, b.low),
                                            product(a.high, b.high)};
  if (std::ranges::all_of(corners, [](auto c) { return c.has_value(); })) {
    auto [low, high] = std::minmax({*corners[0], *corners[1], *corners[2], *corners[3]});
    return {low, high};
  }
  if (a.low && b.low && *a.low >= 0 && *b.low >= 0) return {product(a.low, b.low), product(a.high, b.high)};
  return {};
}

Interval interval(mlir::Value value, int depth) {
  if (depth == 0) return {};
  if (auto known = constant_index(value)) return {*known, *known};
  if (auto variable = mlir::dyn_cast<mlir::BlockArgument>(value)) return of_variable(variable, depth - 1);
  mlir::Operation* op = value.getDefiningOp();
  if (mlir::isa<DimOp>(op)) return {0, std::nullopt};
  auto operand = [&](unsigned index) { return interval(op->getOperand(index), depth - 1); };
  if (mlir::isa<arith::IndexCastOp, arith::ExtSIOp>(op)) return operand(0);
  if (mlir::isa<arith::AddIOp>(op)) {
    const Interval a = operand(0), b = operand(1);
    return {sum(a.low, b.low), sum(a.high, b.high)};
  }
  if (mlir::isa<arith::SubIOp>(op)) {
    const Interval a = operand(0), b = operand(1);
    return {sum(a.low, negated(b.high)), sum(a.high, negated(b.low))};
  }
  if (mlir::isa<arith::MulIOp>(op)) return multiplied(operand(0), operand(1));
  if (mlir::isa<arith::MinSIOp>(op)) {
    const Interval a = operand(0), b = operand(1);
    Interval result;
    if (a.low && b.low) result.low = std::min(*a.low, *b.low);
    if (a.high || b.high)
      result.high =
          std::min(a.high.value_or(*(b.high ? b.high : a.high)), b.high.value_or(*(a.high ? a.high : b.high)));
    return result;
  }
  if (mlir::isa<arith::MaxSIOp>(op)) {
    const Interval a = operand(0), b = operand(1);
    Interval result;
    if (a.low || b.low)
      result.low = std::max(a.low.value_or(*(b.low ? b.low : a.low)), b.low.value_or(*(a.low ? a.low : b.low)));
    if (a.high && b.high) result.high = std::max(*a.high, *b.high);
    return result;
  }
  if (op->getNumOperands() != 2) return {};
  auto divisor = constant_index(op->getOperand(1));
  if (!divisor || *divisor <= 0) return {};
  const Interval a = operand(0);
  auto floored = [&](int64_t n) { return n >= 0 ? n / *divisor : -((-n + *divisor - 1) / *divisor); };
  if (mlir::isa<arith::FloorDivSIOp>(op) || (mlir::isa<arith::DivSIOp, arith::DivUIOp>(op) && a.low && *a.low >= 0)) {
    return {a.low ? std::optional(floored(*a.low)) : std::nullopt,
            a.high ? std::optional(floored(*a.high)) : std::nullopt};
  }
  if (mlir::isa<arith::CeilDivSIOp>(op)) {
    auto ceiled = [&](int64_t n) { return -floored(-n); };
    return {a.low ? std::optional(ceiled(*a.low)) : std::nullopt,
            a.high ? std::optional(ceiled(*a.high)) : std::nullopt};
  }
  if (mlir::isa<arith::RemSIOp, arith::RemUIOp>(op) && a.low && *a.low >= 0) {
    return {0, a.high ? std::min(*a.high, *divisor - 1) : *divisor - 1};
  }
  if (mlir::isa<arith::AndIOp>(op)) return {0, *divisor};
  return {};
}

// A value as a sum of multiples of values that are not looked into, and a constant.
struct Linear {
  llvm::SmallVector<std::pair<mlir::Value, int64_t>> terms;
  int64_t constant = 0;
};

// Whether both are always equal: the same value, or the same arithmetic on equal values.
bool same(mlir::Value a, mlir::Value b, int depth = kDepth) {
  if (a == b) return true;
  mlir::Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  if (!x || !y || depth == 0 || !mlir::isPure(x)) return false;
  return mlir::OperationEquivalence::isEquivalentTo(
      x, y, [&](mlir::Value m, mlir::Value n) { return mlir::success(same(m, n, depth - 1)); },
      /*markEquivalent=*/nullptr, mlir::OperationEquivalence::IgnoreLocations);
}

void add(Linear& linear, mlir::Value value, int64_t factor, int depth) {
  if (auto known = constant_index(value)) {
    linear.constant += factor * *known;
    return;
  }
  mlir::Operation* op = value.getDefiningOp();
  if (op && depth > 0) {
    if (mlir::isa<arith::AddIOp, arith::SubIOp>(op)) {
      add(linear, op->getOperand(0), factor, depth - 1);
      add(linear, op->getOperand(1), mlir::isa<arith::AddIOp>(op) ? factor : -factor, depth - 1);
      return;
    }
    if (mlir::isa<arith::MulIOp>(op)) {
      if (auto known = constant_index(op->getOperand(1)))
        return add(linear, op->getOperand(0), factor * *known, depth - 1);
      if (auto known = constant_index(op->getOperand(0)))
        return add(linear, op->getOperand(1), factor * *known, depth - 1);
    }
    if (mlir::isa<arith::IndexCastOp>(op)) return add(linear, op->getOperand(0), factor, depth - 1);
  }
  for (auto& [term, count] : linear.terms) {
    if (same(term, value)) {
      count += factor;
      return;
    }
  }
  linear.terms.push_back({value, factor});
}

}  // namespace

Interval interval_of(mlir::Value value) { return interval(value, kDepth); }

std::optional<int64_t> constant_difference(mlir::Value a, mlir::Value b) {
  Linear linear;
  add(linear, a, 1, kDepth);
  add(linear, b, -1, kDepth);
  if (llvm::any_of(linear.terms, [](const auto& term) { return term.second != 0; })) return std::nullopt;
  return linear.constant;
}

}  // namespace deep_accel::tile
