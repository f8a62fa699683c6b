#include "deep_accel/compile/passes/hazards.h"

namespace deep_accel::compile {

using mlir::Operation;
using mlir::Value;

namespace {

bool is_ordered(Operation* op) {
  return op
      ->walk([](Operation* inner) {
        return mlir::isa<tile::AtomicOp, tile::AtomicStoreOp, tile::ExternOp, tile::PrintOp, tile::AssertOp,
                         tile::BarrierOp, tile::ShuffleOp, tile::VoteOp, tile::WaitOp>(inner)
                   ? mlir::WalkResult::interrupt()
                   : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

// A whole-buffer write that reads nothing of what was there before.
bool overwrites(const tile::Access& access) {
  return access.covers && tile::root_buffer(access.buffer) == access.buffer;
}

}  // namespace

llvm::SmallVector<tile::Access> statement_accesses(Operation* op) {
  if (auto tile_op = mlir::dyn_cast<tile::TileOp>(op)) return tile_op.accesses();
  llvm::SmallVector<tile::Access> all;
  for (mlir::Region& region : op->getRegions()) {
    llvm::append_range(all, tile::region_accesses(region));
    // A region may run several times, or not at all.
    for (tile::Access& access : all) {
      access.reads |= access.covers;
      access.covers = false;
    }
  }
  if (mlir::isa<tile::PrefetchOp, tile::AllocOp, tile::ExtentOp, mlir::ViewLikeOpInterface>(op)) return all;
  for (Value operand : op->getOperands()) {
    if (tile::is_buffer(operand.getType())) all.push_back({operand, true, true, false});
  }
  return all;
}

bool may_write(Operation* op, Value buffer) {
  Value root = tile::root_buffer(buffer);
  return llvm::any_of(statement_accesses(op), [&](const tile::Access& access) {
    return access.writes && tile::root_buffer(access.buffer) == root;
  });
}

bool touches(Operation* op, Value buffer) {
  Value root = tile::root_buffer(buffer);
  return llvm::any_of(statement_accesses(op),
                      [&](const tile::Access& access) { return tile::root_buffer(access.buffer) == root; });
}

LoopHazards::LoopHazards(mlir::Block& body) {
  for (Operation& op : body) {
    statements_.push_back({&op, statement_accesses(&op)});
    if (is_ordered(&op)) ordered_.push_back(&op);
  }
  for (size_t i = 0; i < statements_.size(); ++i) {
    for (size_t j = i + 1; j < statements_.size(); ++j) find_between(statements_[i], statements_[j], false);
    for (size_t j = 0; j <= i; ++j) find_between(statements_[i], statements_[j], true);
  }
}

void LoopHazards::find_between(const Statement& first, const Statement& second, bool across_back_edge) {
  for (const tile::Access& a : first.accesses) {
    Value root = tile::root_buffer(a.buffer);
    for (const tile::Access& b : second.accesses) {
      if (tile::root_buffer(b.buffer) != root) continue;
      auto add = [&](HazardKind kind) { hazards_.push_back({kind, root, first.op, second.op, across_back_edge}); };
      // A value written in one iteration reaches the next one's read unless a statement before that overwrites it.
      auto overwritten_before = [&] {
        if (!across_back_edge) return false;
        for (const Statement& statement : statements_) {
          if (statement.op == second.op) return false;
          if (llvm::any_of(statement.accesses,
                           [&](const tile::Access& c) { return c.buffer == root && overwrites(c); })) {
            return true;
          }
        }
        return false;
      };
      const bool b_reads_old = b.reads && !overwrites(b);
      if (a.writes && b_reads_old && !overwritten_before()) add(HazardKind::ReadAfterWrite);
      if (a.reads && b.writes) add(HazardKind::WriteAfterRead);
      if (a.writes && b.writes) add(HazardKind::WriteAfterWrite);
    }
  }
}

bool LoopHazards::writes(Value buffer) const { return !writers(buffer).empty(); }

llvm::SmallVector<Operation*> LoopHazards::writers(Value buffer) const {
  Value root = tile::root_buffer(buffer);
  llvm::SmallVector<Operation*> found;
  for (const Statement& statement : statements_) {
    if (llvm::any_of(statement.accesses, [&](const tile::Access& access) {
          return access.writes && tile::root_buffer(access.buffer) == root;
        })) {
      found.push_back(statement.op);
    }
  }
  return found;
}

}  // namespace deep_accel::compile
