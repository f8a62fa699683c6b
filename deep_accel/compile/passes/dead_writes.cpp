// See dead_writes.h.
#include "deep_accel/compile/passes/dead_writes.h"

#include "deep_accel/compile/passes/map_elements.h"

namespace deep_accel::compile {

using mlir::Value;

namespace {

void drop_unread_tiles(tile::KernelOp kernel) {
  llvm::SmallVector<tile::AllocOp> allocs;
  kernel.walk([&](tile::AllocOp alloc) { allocs.push_back(alloc); });
  for (tile::AllocOp alloc : allocs) {
    if (!llvm::all_of(alloc->getUsers(), [](mlir::Operation* user) { return mlir::isa<tile::WriteOp>(user); }))
      continue;
    for (mlir::Operation* user : llvm::make_early_inc_range(alloc->getUsers())) user->erase();
    alloc.erase();
  }
}

// Whether an operation (with its regions) may read a tile or hand it on.
bool may_read(mlir::Operation* op, Value tile) {
  bool reads = false;
  op->walk([&](mlir::Operation* inner) {
    if (mlir::isa<tile::WriteOp>(inner)) return;
    for (Value operand : inner->getOperands()) {
      if (mlir::isa<mlir::MemRefType>(operand.getType()) && tile::root_buffer(operand) == tile) reads = true;
    }
  });
  return reads;
}

// Writes to a tile that nothing after them reads: what is left of a tile whose last values went on in registers.
void drop_last_writes(tile::AllocOp alloc, mlir::Block& block) {
  llvm::SmallVector<tile::MapOp> maps(block.getOps<tile::MapOp>());
  for (tile::MapOp map : llvm::reverse(maps)) {
    for (mlir::Operation* op = map->getNextNode(); op; op = op->getNextNode()) {
      if (may_read(op, alloc)) return;
    }
    // Reads in the map itself are of its own iteration, and come before the write.
    llvm::SmallVector<tile::WriteOp> writes;
    for (mlir::Operation& op : map.getBody().front()) {
      if (auto write = mlir::dyn_cast<tile::WriteOp>(op)) {
        if (write.getBuffer() == alloc) writes.push_back(write);
      } else if (!writes.empty() && may_read(&op, alloc)) {
        return;
      }
    }
    for (tile::WriteOp write : writes) write.erase();
    if (may_read(map, alloc)) return;
  }
}

void drop_last_writes(tile::AllocOp alloc) {
  if (!mlir::isa<tile::GridOp>(alloc->getBlock()->getParentOp())) return;  // a loop might come back and read
  drop_last_writes(alloc, *alloc->getBlock());
  // Of a choice between two versions of the block, each.
  for (auto branch : alloc->getBlock()->getOps<mlir::scf::IfOp>()) {
    for (mlir::Operation* op = branch->getNextNode(); op; op = op->getNextNode()) {
      if (may_read(op, alloc)) return;
    }
    drop_last_writes(alloc, *branch.thenBlock());
    if (branch.elseBlock()) drop_last_writes(alloc, *branch.elseBlock());
  }
}

}  // namespace

void drop_dead_writes(tile::KernelOp kernel) {
  kernel.walk([](tile::AllocOp alloc) { drop_last_writes(alloc); });
  drop_unread_tiles(kernel);
  // Maps that do nothing any more.
  kernel.walk([&](tile::MapOp map) {
    const auto elements = elements_of(map);
    if (elements && llvm::none_of(*elements, [](const Element& element) { return element.writes; })) map.erase();
  });
}

}  // namespace deep_accel::compile
