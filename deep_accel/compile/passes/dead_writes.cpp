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

// The last operation of a block that may read a tile, itself or in its regions; null where none does.
mlir::Operation* last_reader(tile::AllocOp alloc, mlir::Block& block) {
  mlir::Operation* last = nullptr;
  llvm::SmallVector<Value> views{alloc.getBuffer()};
  while (!views.empty()) {
    for (mlir::Operation* user : views.pop_back_val().getUsers()) {
      if (mlir::isa<tile::WriteOp>(user)) continue;
      if (mlir::isa<mlir::ViewLikeOpInterface>(user)) views.push_back(user->getResult(0));
      mlir::Operation* reader = block.findAncestorOpInBlock(*user);
      if (reader && (!last || last->isBeforeInBlock(reader))) last = reader;
    }
  }
  return last;
}

// Writes to a tile that nothing after them reads: what is left of a tile whose last values went on in registers.
void drop_last_writes(tile::AllocOp alloc, mlir::Block& block) {
  mlir::Operation* last = last_reader(alloc, block);
  llvm::SmallVector<tile::WriteOp> unread;
  for (mlir::Operation* user : alloc->getUsers()) {
    auto write = mlir::dyn_cast<tile::WriteOp>(user);
    mlir::Operation* map = user->getParentOp();
    if (!write || !mlir::isa<tile::MapOp>(map) || map->getBlock() != &block) continue;
    if (last && map->isBeforeInBlock(last)) continue;
    // Reads in the map itself are of its own iteration, and come before the write.
    const bool read_after =
        map == last && llvm::any_of(llvm::make_range(std::next(user->getIterator()), user->getBlock()->end()),
                                    [&](mlir::Operation& op) { return may_read(&op, alloc); });
    if (!read_after) unread.push_back(write);
  }
  for (tile::WriteOp write : unread) write.erase();
}

void drop_last_writes(tile::AllocOp alloc) {
  mlir::Block& block = *alloc->getBlock();
  if (!mlir::isa<tile::GridOp>(block.getParentOp())) return;  // a loop might come back and read
  drop_last_writes(alloc, block);
  // Of a choice between two versions of the block, each.
  mlir::Operation* last = last_reader(alloc, block);
  for (auto branch : block.getOps<mlir::scf::IfOp>()) {
    if (last && branch->isBeforeInBlock(last)) continue;
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
