// See ranges.h.
#include "deep_accel/compile/passes/ranges.h"

#include <algorithm>

#include "deep_accel/compile/passes/window.h"

namespace deep_accel::compile {

namespace {

using mlir::Operation;
using mlir::Value;
namespace arith = mlir::arith;
namespace scf = mlir::scf;
using Predicate = arith::CmpIPredicate;

std::optional<Range> range_of_storage(mlir::Type type) {
  auto integer = mlir::dyn_cast<mlir::IntegerType>(type);
  if (!integer || integer.getWidth() >= 63) return std::nullopt;
  const int64_t count = int64_t{1} << integer.getWidth();
  if (integer.isUnsigned() || integer.getWidth() == 1) return Range{0, count - 1};
  return Range{-count / 2, count / 2 - 1};
}

// One less and one more, where that is a number.
int64_t before(int64_t x) { return x == std::numeric_limits<int64_t>::min() ? x : x - 1; }
int64_t after(int64_t x) { return x == std::numeric_limits<int64_t>::max() ? x : x + 1; }

Range of_argument(mlir::BlockArgument argument, llvm::function_ref<Range(Value)> find) {
  Operation* parent = argument.getOwner()->getParentOp();
  auto up_to = [&](Value end) { return Range{0, std::max<int64_t>(before(find(end).high), 0)}; };
  if (auto grid = mlir::dyn_cast<tile::GridOp>(parent)) return up_to(grid.getExtents()[argument.getArgNumber()]);
  if (auto map = mlir::dyn_cast<tile::MapOp>(parent)) {
    const mlir::OpFoldResult size = map.mixed_sizes()[argument.getArgNumber()];
    const auto known = mlir::getConstantIntValue(size);
    return known ? Range{0, std::max<int64_t>(*known, 1) - 1} : up_to(mlir::cast<Value>(size));
  }
  if (const auto bounds = loop_bounds(argument)) {
    const int64_t low = find(bounds->first).low;
    return Range{low, std::max(low, before(find(bounds->second).high))};
  }
  return Range();
}

// True for casts that keep every number: to at least as many bits, of which an index has 64. A truth cast is -1.
bool keeps_number(Operation* cast) {
  if (!mlir::isa<arith::IndexCastOp, arith::ExtSIOp>(cast)) return false;
  auto bits = [](mlir::Type type) { return type.isIndex() ? 64u : type.getIntOrFloatBitWidth(); };
  const mlir::Type from = cast->getOperand(0).getType(), to = cast->getResult(0).getType();
  return from.isIntOrIndex() && bits(from) > 1 && bits(from) <= bits(to);
}

// Without the casts that keep the number.
Value uncast(Value value) {
  for (Operation* cast = value.getDefiningOp(); cast && keeps_number(cast); cast = value.getDefiningOp()) {
    value = cast->getOperand(0);
  }
  return value;
}

bool is_truth(Value value, bool wanted) {
  const auto constant = mlir::getConstantIntValue(value);
  return constant && (*constant != 0) == wanted;
}

Predicate mirrored(Predicate predicate) {
  switch (predicate) {
    case Predicate::slt:
      return Predicate::sgt;
    case Predicate::sle:
      return Predicate::sge;
    case Predicate::sgt:
      return Predicate::slt;
    case Predicate::sge:
      return Predicate::sle;
    case Predicate::ult:
      return Predicate::ugt;
    case Predicate::ule:
      return Predicate::uge;
    case Predicate::ugt:
      return Predicate::ult;
    case Predicate::uge:
      return Predicate::ule;
    case Predicate::eq:
    case Predicate::ne:
      break;
  }
  return predicate;
}

}  // namespace

Ranges::Ranges(Operation* at) {
  for (Operation* inner = at; Operation* outer = inner->getParentOp(); inner = outer) {
    if (auto branch = mlir::dyn_cast<scf::IfOp>(outer)) {
      learn(branch.getCondition(), inner->getParentRegion() == &branch.getThenRegion());
    }
  }
}

void Ranges::learn(Value condition, bool holds) {
  Operation* op = condition.getDefiningOp();
  if (!op) return;
  if (auto compare = mlir::dyn_cast<arith::CmpIOp>(op)) {
    const Predicate predicate = holds ? compare.getPredicate() : arith::invertPredicate(compare.getPredicate());
    facts_.push_back({predicate, uncast(compare.getLhs()), uncast(compare.getRhs())});
    facts_.push_back({mirrored(predicate), uncast(compare.getRhs()), uncast(compare.getLhs())});
    return;
  }
  // Both of a conjunction that holds, both of a disjunction that does not.
  if (holds ? mlir::isa<arith::AndIOp>(op) : mlir::isa<arith::OrIOp>(op)) {
    for (Value part : op->getOperands()) learn(part, holds);
  } else if (auto choice = mlir::dyn_cast<arith::SelectOp>(op)) {
    learn_choice(choice.getCondition(), choice.getTrueValue(), choice.getFalseValue(), holds);
  } else if (auto branch = mlir::dyn_cast<scf::IfOp>(op)) {
    const unsigned number = mlir::cast<mlir::OpResult>(condition).getResultNumber();
    learn_choice(branch.getCondition(), branch.thenYield().getOperand(number), branch.elseYield().getOperand(number),
                 holds);
  } else if (mlir::isa<arith::XOrIOp>(op) && is_truth(op->getOperand(1), true)) {
    learn(op->getOperand(0), !holds);
  }
}

// A conjunction or disjunction as a choice between its second part and a constant.
void Ranges::learn_choice(Value condition, Value one, Value other, bool holds) {
  if (!is_truth(holds ? other : one, !holds)) return;
  learn(condition, holds);
  learn(holds ? one : other, holds);
}

std::optional<Range> Ranges::computed(Value value) {
  if (auto constant = mlir::getConstantIntValue(value)) return Range{*constant, *constant};
  if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(value)) {
    return of_argument(argument, [&](Value next) { return of(next); });
  }
  Operation* op = value.getDefiningOp();
  if (mlir::isa<tile::DimOp, tile::ExtentOp>(op)) return Range{0, Range().high};
  if (auto read = mlir::dyn_cast<tile::ReadOp>(op))
    return range_of_storage(read.getBuffer().getType().getElementType());
  auto operand = [&](unsigned number) { return of(op->getOperand(number)); };
  if (mlir::isa<arith::IndexCastOp, arith::ExtSIOp>(op)) {
    return op->getOperand(0).getType().isInteger(1) ? Range{-1, 0} : operand(0);
  }
  if (mlir::isa<arith::SelectOp>(op)) {
    const Range a = operand(1), b = operand(2);
    return Range{std::min(a.low, b.low), std::max(a.high, b.high)};
  }
  if (op->getNumOperands() != 2) return std::nullopt;
  const Range a = operand(0), b = operand(1);
  auto unless = [](bool overflow, int64_t low, int64_t high) {
    return overflow ? std::nullopt : std::optional(Range{low, high});
  };
  int64_t low = 0, high = 0;
  if (mlir::isa<arith::AddIOp>(op)) {
    const bool overflow = __builtin_add_overflow(a.low, b.low, &low) || __builtin_add_overflow(a.high, b.high, &high);
    return unless(overflow, low, high);
  }
  if (mlir::isa<arith::SubIOp>(op)) {
    const bool overflow = __builtin_sub_overflow(a.low, b.high, &low) || __builtin_sub_overflow(a.high, b.low, &high);
    return unless(overflow, low, high);
  }
  if (mlir::isa<arith::MulIOp>(op) && a.low >= 0 && b.low >= 0) {
    const bool overflow = __builtin_mul_overflow(a.low, b.low, &low) || __builtin_mul_overflow(a.high, b.high, &high);
    return unless(overflow, low, high);
  }
  if (mlir::isa<arith::AndIOp>(op) && (a.low >= 0 || b.low >= 0)) {
    return Range{0, a.low < 0 ? b.high : b.low < 0 ? a.high : std::min(a.high, b.high)};
  }
  if (mlir::isa<arith::MinSIOp>(op)) return Range{std::min(a.low, b.low), std::min(a.high, b.high)};
  if (mlir::isa<arith::MaxSIOp>(op)) return Range{std::max(a.low, b.low), std::max(a.high, b.high)};
  if (mlir::isa<arith::ShRSIOp, arith::ShRUIOp>(op) && a.low >= 0 && b.low >= 0 && b.high < 63) {
    return Range{a.low >> b.high, a.high >> b.low};
  }
  if (mlir::isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(op) && a.low >= 0 && b.low > 0) {
    return Range{a.low / b.high, a.high / b.low};
  }
  if (mlir::isa<arith::RemSIOp, arith::RemUIOp>(op) && a.low >= 0 && b.low > 0) {
    return Range{0, std::min(a.high, b.high - 1)};
  }
  return std::nullopt;
}

void Ranges::narrow(Range& range, Value value) {
  const Value bare = uncast(value);
  for (const Fact& fact : facts_) {
    if (fact.left != bare) continue;
    const Range right = of(fact.right);
    switch (fact.predicate) {
      case Predicate::eq:
        range.low = std::max(range.low, right.low), range.high = std::min(range.high, right.high);
        break;
      case Predicate::slt:
        range.high = std::min(range.high, before(right.high));
        break;
      case Predicate::sle:
        range.high = std::min(range.high, right.high);
        break;
      case Predicate::sgt:
        range.low = std::max(range.low, after(right.low));
        break;
      case Predicate::sge:
        range.low = std::max(range.low, right.low);
        break;
      case Predicate::ult:
      case Predicate::ule:
        // Below a number that has no sign, as a number without one.
        if (right.low < 0) break;
        range.low = std::max<int64_t>(range.low, 0);
        range.high = std::min(range.high, fact.predicate == Predicate::ult ? before(right.high) : right.high);
        break;
      case Predicate::ne:
      case Predicate::ugt:
      case Predicate::uge:
        break;
    }
  }
}

// Of what the value's type can hold: sums of narrow numbers that do not fit it wrap.
Range Ranges::find(Value value) {
  const std::optional<Range> known = computed(value);
  const std::optional<Range> held = range_of_storage(value.getType());
  Range range = known.value_or(Range());
  if (held && (range.low < held->low || range.high > held->high)) range = *held;
  narrow(range, value);
  return range;
}

bool Ranges::is_below(Value value, Value buffer, int64_t dim) const {
  const Value bare = uncast(value);
  const mlir::Attribute size = size_name(buffer, dim);
  return llvm::any_of(facts_, [&](const Fact& fact) {
    if (fact.left != bare || (fact.predicate != Predicate::slt && fact.predicate != Predicate::ult)) return false;
    if (auto extent = fact.right.getDefiningOp<tile::ExtentOp>()) {
      if (extent.getBuffer() == buffer && static_cast<int64_t>(extent.getDim()) == dim) return true;
      return size && size == size_name(extent.getBuffer(), static_cast<int64_t>(extent.getDim()));
    }
    auto named = fact.right.getDefiningOp<tile::DimOp>();
    return named && size == named.getNameAttr();
  });
}

}  // namespace deep_accel::compile
