// See guard_accesses.h.
#include "deep_accel/compile/passes/guard_accesses.h"

#include "deep_accel/compile/passes/ranges.h"

namespace deep_accel::compile {

namespace {

using mlir::Operation;
using mlir::Value;
namespace arith = mlir::arith;

// Whether what the kernel read from memory, or got from foreign code, goes into the value.
bool from_data(Value value) {
  llvm::SmallVector<Value> open{value};
  llvm::SmallPtrSet<Operation*, 16> seen;
  while (!open.empty()) {
    const Value next = open.pop_back_val();
    Operation* op = next.getDefiningOp();
    if (!op || !seen.insert(op).second) continue;
    if (mlir::isa<tile::ReadOp, tile::AtomicOp, tile::ShuffleOp, tile::ExternOp>(op)) return true;
    if (auto branch = mlir::dyn_cast<mlir::scf::IfOp>(op)) {
      open.append(branch.thenYield()->operand_begin(), branch.thenYield()->operand_end());
      open.append(branch.elseYield()->operand_begin(), branch.elseYield()->operand_end());
    } else {
      open.append(op->operand_begin(), op->operand_end());
    }
  }
  return false;
}

// Whether an index of an access lies inside its dimension; null where that is proven.
Value is_inside(mlir::OpBuilder& builder, const Ranges& ranges, Value index, Value buffer, int64_t dim) {
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
    if (!from_data(operand.get())) continue;
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
