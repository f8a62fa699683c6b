// See window.h. Bounds are proven by the signs and largest values of sums and products of block indices, loop variables
// and constants: enough for windows at multiples of the tile, without a solver.
#include "deep_accel/compile/passes/window.h"

#include "deep_accel/compile/passes/answers.h"

namespace deep_accel::compile {

using mlir::OpFoldResult;
using mlir::Value;
namespace arith = mlir::arith;
namespace scf = mlir::scf;

bool depend_on(mlir::ValueRange values, Value origin) {
  llvm::SmallVector<Value> open(values);
  llvm::DenseSet<Value> seen(values.begin(), values.end());
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (value == origin) return true;
    mlir::Operation* def = value.getDefiningOp();
    if (!def) continue;
    def->walk([&](mlir::Operation* op) {
      for (Value operand : op->getOperands()) {
        if (seen.insert(operand).second) open.push_back(operand);
      }
    });
  }
  return false;
}

std::optional<std::pair<Value, Value>> loop_bounds(Value index) {
  auto argument = mlir::dyn_cast<mlir::BlockArgument>(index);
  if (!argument) return std::nullopt;
  mlir::Operation* parent = argument.getOwner()->getParentOp();
  if (auto loop = mlir::dyn_cast<scf::ForOp>(parent); loop && loop.getInductionVar() == index) {
    return std::make_pair(loop.getLowerBound(), loop.getUpperBound());
  }
  if (auto loop = mlir::dyn_cast<tile::PipelineOp>(parent)) return std::make_pair(loop.getLower(), loop.getUpper());
  return std::nullopt;
}

namespace {

// What is proven about values that one question leads to.
class Bounds {
 public:
  bool nonnegative(Value index) {
    return nonnegative_.get(index, false, [&] { return prove_nonnegative(index); });
  }

  std::optional<int64_t> maximum(Value index) {
    return maxima_.get(index, std::nullopt, [&] { return prove_maximum(index); });
  }

 private:
  bool prove_nonnegative(Value index) {
    if (const auto constant = mlir::getConstantIntValue(index)) return *constant >= 0;
    if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(index)) {
      mlir::Operation* parent = argument.getOwner()->getParentOp();
      if (mlir::isa<tile::GridOp, tile::MapOp, tile::ThreadsOp>(parent)) return true;
      const auto bounds = loop_bounds(index);
      return bounds && nonnegative(bounds->first);
    }
    mlir::Operation* def = index.getDefiningOp();
    if (mlir::isa<tile::DimOp, tile::ExtentOp>(def)) return true;
    if (mlir::isa<arith::AddIOp, arith::MulIOp, arith::DivSIOp, arith::DivUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
                  arith::RemSIOp, arith::RemUIOp, arith::MinSIOp>(def)) {
      return nonnegative(def->getOperand(0)) && nonnegative(def->getOperand(1));
    }
    if (mlir::isa<arith::MaxSIOp>(def)) {
      return nonnegative(def->getOperand(0)) || nonnegative(def->getOperand(1));
    }
    return false;
  }

  std::optional<int64_t> prove_maximum(Value index) {
    if (const auto constant = mlir::getConstantIntValue(index)) return *constant;
    if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(index)) {
      mlir::Operation* parent = argument.getOwner()->getParentOp();
      if (auto grid = mlir::dyn_cast<tile::GridOp>(parent)) {
        return below(maximum(grid.getExtents()[argument.getArgNumber()]));
      }
      const auto bounds = loop_bounds(index);
      return bounds ? below(maximum(bounds->second)) : std::nullopt;
    }
    mlir::Operation* def = index.getDefiningOp();
    if (def->getNumOperands() != 2) return std::nullopt;
    Value left = def->getOperand(0), right = def->getOperand(1);
    const auto a = maximum(left), b = maximum(right);
    if (!a || !b || !is_moderate(*a) || !is_moderate(*b)) return std::nullopt;
    if (mlir::isa<arith::AddIOp>(def)) return *a + *b;
    if (mlir::isa<arith::MulIOp>(def) && nonnegative(left) && nonnegative(right)) return *a * *b;
    const auto divisor = mlir::getConstantIntValue(right);
    if (divisor && *divisor > 0 && *a >= 0) {
      if (mlir::isa<arith::CeilDivSIOp, arith::CeilDivUIOp>(def)) return (*a + *divisor - 1) / *divisor;
      if (mlir::isa<arith::DivSIOp, arith::DivUIOp>(def)) return *a / *divisor;
    }
    return std::nullopt;
  }

  // Sums and products of such numbers fit.
  static bool is_moderate(int64_t value) { return value >= -(int64_t{1} << 31) && value <= int64_t{1} << 31; }
  static std::optional<int64_t> below(std::optional<int64_t> end) {
    if (!end || *end == INT64_MIN) return std::nullopt;
    return *end - 1;
  }

  int depth_ = 0;
  Answers<Value, bool> nonnegative_{depth_};
  Answers<Value, std::optional<int64_t>> maxima_{depth_};
};

}  // namespace

mlir::Attribute size_name(Value buffer, int64_t dim) {
  auto type = mlir::cast<mlir::MemRefType>(buffer.getType());
  mlir::Builder builder(buffer.getContext());
  if (!type.isDynamicDim(static_cast<unsigned>(dim))) return builder.getIndexAttr(type.getDimSize(dim));
  auto argument = mlir::dyn_cast<mlir::BlockArgument>(buffer);
  auto kernel = argument ? mlir::dyn_cast<tile::KernelOp>(argument.getOwner()->getParentOp()) : tile::KernelOp();
  if (!kernel) return {};
  const auto names = kernel.arg_dims(argument.getArgNumber());
  if (dim >= static_cast<int64_t>(names.size()) || names[dim].empty() || names[dim] == "?") return {};
  return builder.getStringAttr(names[dim]);
}

bool known_nonnegative(Value index) { return Bounds().nonnegative(index); }
std::optional<int64_t> known_maximum(Value index) { return Bounds().maximum(index); }

OpFoldResult extent_of(mlir::ImplicitLocOpBuilder& builder, Value buffer, int64_t dim) {
  auto type = mlir::cast<mlir::MemRefType>(buffer.getType());
  if (!type.isDynamicDim(static_cast<unsigned>(dim))) {
    return builder.getIndexAttr(type.getDimSize(static_cast<unsigned>(dim)));
  }
  return builder.create<tile::ExtentOp>(builder.getIndexType(), buffer, builder.getI64IntegerAttr(dim)).getResult();
}

Value convert_compute(mlir::ImplicitLocOpBuilder& builder, Value value, mlir::Type to) {
  mlir::Type from = value.getType();
  if (from == to) return value;
  const unsigned from_bits = from.getIntOrFloatBitWidth(), to_bits = to.getIntOrFloatBitWidth();
  if (mlir::isa<mlir::FloatType>(from)) {
    if (!mlir::isa<mlir::FloatType>(to)) return builder.create<arith::FPToSIOp>(to, value);
    if (to_bits > from_bits) return builder.create<arith::ExtFOp>(to, value);
    return builder.create<arith::TruncFOp>(to, value);
  }
  if (mlir::isa<mlir::FloatType>(to)) {
    if (from_bits == 1) return builder.create<arith::UIToFPOp>(to, value);
    return builder.create<arith::SIToFPOp>(to, value);
  }
  if (to_bits == 1) {
    Value zero = builder.create<arith::ConstantOp>(builder.getIntegerAttr(from, 0));
    return builder.create<arith::CmpIOp>(arith::CmpIPredicate::ne, value, zero);
  }
  if (from_bits == 1) return builder.create<arith::ExtUIOp>(to, value);
  if (to_bits > from_bits) return builder.create<arith::ExtSIOp>(to, value);
  return builder.create<arith::TruncIOp>(to, value);
}

void make_map(mlir::ImplicitLocOpBuilder& builder, llvm::ArrayRef<OpFoldResult> sizes, const ElementBody& body) {
  if (sizes.empty()) return body({});
  auto map = builder.create<tile::MapOp>(sizes);
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&map.getBody().front());
  body(map.getBody().getArguments());
}

void make_window(mlir::ImplicitLocOpBuilder& builder, llvm::ArrayRef<WindowDim> dims, llvm::ArrayRef<WindowDim> points,
                 const ElementBody& inside, const ElementBody& outside) {
  auto constant = [&](int64_t value) -> Value { return builder.create<arith::ConstantIndexOp>(value); };
  auto as_value = [&](OpFoldResult size) {
    if (auto fixed = mlir::getConstantIntValue(size)) return constant(*fixed);
    return mlir::cast<Value>(size);
  };
  Value zero = constant(0);
  Value whole, within_points;  // null: known to hold
  auto require = [&](Value& all, arith::CmpIPredicate predicate, Value a, Value b) {
    Value holds = builder.create<arith::CmpIOp>(predicate, a, b);
    all = all ? builder.create<arith::AndIOp>(all, holds).getResult() : holds;
  };
  auto check = [&](Value& all, const WindowDim& dim) {
    if (!known_nonnegative(dim.offset)) require(all, arith::CmpIPredicate::sge, dim.offset, zero);
    const auto extent = mlir::getConstantIntValue(dim.extent), maximum = known_maximum(dim.offset);
    if (extent && maximum && *maximum <= *extent - dim.size) return;
    // Not offset + size <= extent, whose left side would wrap where the offset, perhaps read from memory, is huge.
    Value last = builder.createOrFold<arith::SubIOp>(as_value(dim.extent), constant(dim.size));
    require(all, arith::CmpIPredicate::sle, dim.offset, last);
  };
  for (const WindowDim& point : points) check(within_points, point);
  whole = within_points;
  for (const WindowDim& dim : dims) check(whole, dim);

  llvm::SmallVector<OpFoldResult> sizes =
      llvm::map_to_vector(dims, [&](const WindowDim& dim) -> OpFoldResult { return builder.getIndexAttr(dim.size); });
  if (!whole) return make_map(builder, sizes, inside);

  const bool has_else = outside || !dims.empty();
  auto branch = builder.create<scf::IfOp>(whole, has_else);
  branch->setAttr(interior_attribute, builder.getUnitAttr());
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  make_map(builder, sizes, inside);
  if (!has_else) return;
  builder.setInsertionPointToStart(branch.elseBlock());
  if (outside) make_map(builder, sizes, outside);
  if (dims.empty()) return;
  llvm::SmallVector<OpFoldResult> clipped;
  llvm::SmallVector<Value> lower;
  for (const WindowDim& dim : dims) {
    Value first = zero;
    if (!known_nonnegative(dim.offset)) {
      first = builder.create<arith::MaxSIOp>(zero, builder.create<arith::SubIOp>(zero, dim.offset));
      first = builder.create<arith::MinSIOp>(first, constant(dim.size));
    }
    Value last = builder.create<arith::SubIOp>(as_value(dim.extent), dim.offset);
    last = builder.create<arith::MinSIOp>(last, constant(dim.size));
    Value count = builder.createOrFold<arith::SubIOp>(last, first);
    count = builder.create<arith::MaxSIOp>(count, zero);
    if (within_points) count = builder.create<arith::SelectOp>(within_points, count, zero);
    lower.push_back(first);
    clipped.push_back(count);
  }
  make_map(builder, clipped, [&](mlir::ValueRange indices) {
    llvm::SmallVector<Value> shifted;
    for (auto [index, first] : llvm::zip_equal(indices, lower)) {
      shifted.push_back(first == zero ? index : builder.create<arith::AddIOp>(index, first).getResult());
    }
    inside(shifted);
  });
}

}  // namespace deep_accel::compile
