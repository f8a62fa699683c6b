#include "deep_accel/compile/passes/async_loads.h"

#include "deep_accel/compile/passes/hazards.h"

namespace deep_accel::compile {

using mlir::Block;
using mlir::Operation;

namespace {

bool waits_for(Operation* op, tile::AsyncLoadOp load) {
  auto wait = mlir::dyn_cast<tile::WaitOp>(op);
  return wait && llvm::is_contained(wait.getTokens(), load.getToken());
}

// The first statement from `from` to the end of its block that touches the load's tile with no wait before it.
Operation* first_early_touch(Block::iterator from, Block::iterator end, tile::AsyncLoadOp load) {
  for (Operation& op : llvm::make_range(from, end)) {
    if (waits_for(&op, load)) return nullptr;
    if (!touches(&op, load.getTile())) continue;
    if (mlir::isa<tile::TileOp>(op) || op.getNumRegions() == 0) return &op;
    // Control flow may wait inside, before it touches the tile.
    for (mlir::Region& region : op.getRegions()) {
      for (Block& block : region) {
        if (Operation* early = first_early_touch(block.begin(), block.end(), load)) return early;
      }
    }
  }
  return nullptr;
}

mlir::LogicalResult check(tile::AsyncLoadOp load) {
  const std::string name = tile::buffer_name(load.getTile());
  Operation* wait = nullptr;
  for (Operation* user : load.getToken().getUsers()) {
    if (!mlir::isa<tile::WaitOp>(user)) {
      return user->emitError("the token of an asynchronous load of ")
             << name << " is handed on here; wait for it in the block of the load";
    }
    if (user->getBlock() == load->getBlock() && (!wait || user->isBeforeInBlock(wait))) wait = user;
  }
  Operation* early = first_early_touch(std::next(load->getIterator()), load->getBlock()->end(), load);
  if (early) {
    mlir::InFlightDiagnostic error = early->emitError("touches the tile ")
                                     << name << " while an asynchronous load may still write it";
    error.attachNote(load.getLoc()) << "the load begins here";
    if (wait) {
      error.attachNote(wait->getLoc()) << "and is waited for only here; move the statement behind the wait";
    } else {
      error.attachNote(load.getLoc()) << "and is never waited for in this block; add a tile.wait before the statement";
    }
    return error;
  }
  if (!wait) {
    return load.emitError("the asynchronous load of ")
           << name << " is not waited for in its block; add a tile.wait behind it";
  }
  return mlir::success();
}

}  // namespace

mlir::LogicalResult lower_async_loads(Operation* root) {
  llvm::SmallVector<tile::AsyncLoadOp> loads;
  root->walk([&](tile::AsyncLoadOp load) { loads.push_back(load); });
  for (tile::AsyncLoadOp load : loads) {
    if (failed(check(load))) return mlir::failure();
  }
  // What remains is waits for these loads alone: every other token would come from a load that handed it on.
  root->walk([](tile::WaitOp wait) { wait.erase(); });
  for (tile::AsyncLoadOp load : loads) {
    mlir::OpBuilder builder(load);
    builder.create<tile::LoadOp>(load.getLoc(), load.getSource(), load.getIndices(), load.getTile(), load.getFill(),
                                 load.getDimsAttr());
    load.erase();
  }
  return mlir::success();
}

}  // namespace deep_accel::compile
