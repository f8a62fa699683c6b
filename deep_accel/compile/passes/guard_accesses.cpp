// See guard_accesses.h.
#include "deep_accel/compile/passes/guard_accesses.h"

#include "deep_accel/compile/passes/ranges.h"

namespace deep_accel::compile {

namespace {

using mlir::Operation;
using mlir::Value;
namespace arith = mlir::arith;
namespace scf = mlir::scf;

// Looks for what comes from outside of the program: memory, foreign code, scalar arguments.
class Origin {
 public:
  explicit Origin(Value value) : open_{value} {}

  bool is_data() {
    while (!open_.empty()) {
      const Value next = open_.pop_back_val();
      if (!seen_.insert(next).second) continue;
      auto argument = mlir::dyn_cast<mlir::BlockArgument>(next);
      if (argument ? is_data_argument(argument) : is_data_result(mlir::cast<mlir::OpResult>(next))) return true;
    }
    return false;
  }

 private:
  void follow(mlir::ValueRange values) { open_.append(values.begin(), values.end()); }

  bool is_data_argument(mlir::BlockArgument argument) {
    Operation* parent = argument.getOwner()->getParentOp();
    const unsigned number = argument.getArgNumber();
    if (auto loop = mlir::dyn_cast<scf::ForOp>(parent); loop && argument == loop.getInductionVar()) {
      follow({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
    } else if (loop) {
      follow({loop.getInitArgs()[number - 1], loop.getYieldedValues()[number - 1]});
    } else if (auto loop = mlir::dyn_cast<scf::WhileOp>(parent)) {
      if (argument.getOwner() == loop.getBeforeBody()) {
        follow({loop.getInits()[number], loop.getYieldedValues()[number]});
      } else {
        follow(loop.getConditionOp().getArgs()[number]);
      }
    } else if (mlir::isa<tile::PipelineOp, tile::GridOp, tile::MapOp, tile::ThreadsOp>(parent)) {
      follow(parent->getOperands());
    } else {
      return true;
    }
    return false;
  }

  bool is_data_result(mlir::OpResult result) {
    Operation* op = result.getOwner();
    const unsigned number = result.getResultNumber();
    if (mlir::isa<tile::ReadOp, tile::AtomicOp, tile::ShuffleOp, tile::ExternOp>(op)) return true;
    if (mlir::isa<tile::DimOp, tile::ExtentOp>(op)) return false;
    if (auto branch = mlir::dyn_cast<scf::IfOp>(op)) {
      follow({branch.thenYield().getOperand(number), branch.elseYield().getOperand(number)});
    } else if (auto loop = mlir::dyn_cast<scf::ForOp>(op)) {
      follow({loop.getInitArgs()[number], loop.getYieldedValues()[number]});
    } else if (auto loop = mlir::dyn_cast<scf::WhileOp>(op)) {
      follow(loop.getConditionOp().getArgs()[number]);
    } else if (op->getNumRegions() != 0) {
      return true;
    } else {
      follow(op->getOperands());
    }
    return false;
  }

  llvm::SmallVector<Value> open_;
  llvm::DenseSet<Value> seen_;
};

// Whether an index of an access lies inside its dimension; null where that is proven.
Value is_inside(mlir::OpBuilder& builder, Ranges& ranges, Value index, Value buffer, int64_t dim) {
  const mlir::Location where = builder.getInsertionPoint()->getLoc();
  const int64_t size = mlir::cast<mlir::MemRefType>(buffer.getType()).getDimSize(static_cast<unsigned>(dim));
  const bool dynamic = mlir::ShapedType::isDynamic(size);
  const Range range = ranges.of(index);
  if (range.low >= 0 && (dynamic ? ranges.is_below(index, buffer, dim) : range.high < size)) return {};
  const Value extent = dynamic ? builder.create<tile::ExtentOp>(where, buffer, dim).getResult()
                               : builder.create<arith::ConstantIndexOp>(where, size).getResult();
  const Value inside = builder.create<arith::CmpIOp>(where, arith::CmpIPredicate::ult, index, extent);
  const std::string message = "index " + std::to_string(dim) + " of " + tile::buffer_name(buffer) +
                              " must be at least 0 and below " + (dynamic ? "its size" : std::to_string(size)) +
                              "; correct the data, or test it";
  auto check = builder.create<tile::AssertOp>(where, inside, message);
  check->setAttr(kIndexErrorAttribute, builder.getUnitAttr());
  return inside;
}

void guard(Operation* access, Value buffer, mlir::MutableOperandRange indices) {
  mlir::OpBuilder builder(access);
  std::optional<Ranges> ranges;
  Value all;
  for (auto [dim, operand] : llvm::enumerate(indices)) {
    if (!Origin(operand.get()).is_data()) continue;
    if (!ranges) ranges.emplace(access);
    const Value inside = is_inside(builder, *ranges, operand.get(), buffer, static_cast<int64_t>(dim));
    if (inside) all = all ? builder.create<arith::AndIOp>(access->getLoc(), all, inside).getResult() : inside;
  }
  if (!all) return;
  const Value first = builder.create<arith::ConstantIndexOp>(access->getLoc(), 0);
  for (mlir::OpOperand& operand : indices) {
    operand.set(builder.create<arith::SelectOp>(access->getLoc(), all, operand.get(), first));
  }
}

}  // namespace

void guard_accesses(tile::KernelOp kernel) {
  kernel->walk([](Operation* op) {
    if (auto read = mlir::dyn_cast<tile::ReadOp>(op)) guard(op, read.getBuffer(), read.getIndicesMutable());
    if (auto write = mlir::dyn_cast<tile::WriteOp>(op)) guard(op, write.getBuffer(), write.getIndicesMutable());
    if (auto combine = mlir::dyn_cast<tile::CombineOp>(op)) guard(op, combine.getBuffer(), combine.getIndicesMutable());
    if (auto atomic = mlir::dyn_cast<tile::AtomicOp>(op)) guard(op, atomic.getBuffer(), atomic.getIndicesMutable());
  });
}

}  // namespace deep_accel::compile
