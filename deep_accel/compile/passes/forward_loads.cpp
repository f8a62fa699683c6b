// See forward_loads.h.
#include "deep_accel/compile/passes/forward_loads.h"

#include "deep_accel/compile/passes/dead_writes.h"

namespace deep_accel::compile {

using mlir::Value;

namespace {

// Shorter rows of a window may lie so that they push each other out of a cache, where the tile's do not.
constexpr int64_t long_row_bytes = 1024;

// True for the indices (%i, %j, ...) of a map that runs over the whole tile.
bool covers(tile::MapOp map, Value tile, mlir::ValueRange indices) {
  auto type = mlir::cast<mlir::MemRefType>(tile.getType());
  if (map.getStaticSizes() != type.getShape()) return false;
  return llvm::equal(indices, map.getBody().getArguments());
}

bool is_input(Value buffer) {
  auto argument = mlir::dyn_cast<mlir::BlockArgument>(buffer);
  auto kernel = argument ? mlir::dyn_cast<tile::KernelOp>(argument.getOwner()->getParentOp()) : tile::KernelOp();
  return kernel && kernel.arg_role(argument.getArgNumber()) == tile::Role::in;
}

// Rows along the map's last axis, contiguous in both and long.
bool has_long_rows(tile::MapOp map, tile::ReadOp source) {
  mlir::MemRefType type = source.getBuffer().getType();
  const auto layout = tile::layout_of(type);
  if (!layout || layout->strides.empty() || layout->strides.back() != 1) return false;
  Value last = source.getIndices().back(), axis = map.getBody().getArguments().back();
  if (auto sum = last.getDefiningOp<mlir::arith::AddIOp>()) {
    if (sum.getRhs() == axis && !map->isProperAncestor(sum.getLhs().getParentBlock()->getParentOp())) last = axis;
    if (sum.getLhs() == axis && !map->isProperAncestor(sum.getRhs().getParentBlock()->getParentOp())) last = axis;
  }
  return last == axis && map.getStaticSizes().back() * tile::storage_bits(type.getElementType()) / 8 >= long_row_bytes;
}

// The read of an input whose value the map's only write to the tile is, where the tile becomes that copy.
tile::ReadOp copied_from(tile::MapOp map, tile::AllocOp tile) {
  tile::ReadOp source;
  for (mlir::Operation& op : map.getBody().front()) {
    if (auto combine = mlir::dyn_cast<tile::CombineOp>(op); combine && combine.getBuffer() == tile.getBuffer())
      return {};
    auto write = mlir::dyn_cast<tile::WriteOp>(op);
    if (!write || write.getBuffer() != tile.getBuffer()) continue;
    auto read = write.getValue().getDefiningOp<tile::ReadOp>();
    if (source || !read || read->getBlock() != write->getBlock() || !is_input(read.getBuffer()) ||
        read.getBuffer().getType().getElementType() != tile.getType().getElementType() ||
        !covers(map, tile, write.getIndices()) || !has_long_rows(map, read)) {
      return {};
    }
    source = read;
  }
  return source;
}

// The same value inside another map with the same sizes.
Value repeat(mlir::OpBuilder& builder, Value value, tile::MapOp from, mlir::IRMapping& mapping) {
  if (Value known = mapping.lookupOrNull(value)) return known;
  mlir::Operation* def = value.getDefiningOp();
  if (!def || !from->isProperAncestor(def)) return value;
  for (Value operand : def->getOperands()) {
    Value copy = repeat(builder, operand, from, mapping);
    mapping.map(operand, copy);
  }
  return builder.clone(*def, mapping)->getResult(0);
}

bool repeatable(Value value, tile::MapOp from) {
  mlir::Operation* def = value.getDefiningOp();
  if (!def || !from->isProperAncestor(def)) return true;
  return def->getNumRegions() == 0 && mlir::isMemoryEffectFree(def) &&
         llvm::all_of(def->getOperands(), [&](Value operand) { return repeatable(operand, from); });
}

// Indices of the map, each at most once, the last axis last: rows are walked as they lie.
bool walks_rows(tile::MapOp map, mlir::ValueRange indices) {
  llvm::SmallPtrSet<void*, 6> seen;
  for (Value index : indices) {
    auto argument = mlir::dyn_cast<mlir::BlockArgument>(index);
    if (!argument || argument.getOwner()->getParentOp() != map || !seen.insert(index.getAsOpaquePointer()).second) {
      return false;
    }
  }
  return !indices.empty() && indices.back() == map.getBody().getArguments().back();
}

void forward_reads(tile::MapOp map, tile::AllocOp tile, tile::MapOp copier, tile::ReadOp source) {
  for (mlir::Operation& op : llvm::make_early_inc_range(map.getBody().front())) {
    if (auto write = mlir::dyn_cast<tile::WriteOp>(op); write && write.getBuffer() == tile.getBuffer()) return;
    if (auto combine = mlir::dyn_cast<tile::CombineOp>(op); combine && combine.getBuffer() == tile.getBuffer()) return;
    auto read = mlir::dyn_cast<tile::ReadOp>(op);
    if (!read || read.getBuffer() != tile.getBuffer() || !walks_rows(map, read.getIndices())) continue;
    mlir::OpBuilder builder(read);
    mlir::IRMapping mapping;
    mapping.map(copier.getBody().getArguments(), read.getIndices());
    llvm::SmallVector<Value> indices;
    for (Value index : source.getIndices()) indices.push_back(repeat(builder, index, copier, mapping));
    Value value = builder.create<tile::ReadOp>(read.getLoc(), source.getBuffer(), indices);
    read.getValue().replaceAllUsesWith(value);
    read.erase();
  }
}

bool touches_tile(mlir::Operation* op, tile::AllocOp tile) {
  return llvm::any_of(tile->getUsers(), [&](mlir::Operation* user) { return op->isAncestor(user); });
}

bool writes_tile(mlir::Operation* op, tile::AllocOp tile) {
  return llvm::any_of(tile->getUsers(),
                      [&](mlir::Operation* user) { return op->isAncestor(user) && !mlir::isa<tile::ReadOp>(user); });
}

void forward_in(mlir::Block& block, tile::AllocOp tile) {
  tile::MapOp copier;
  tile::ReadOp source;
  for (mlir::Operation& op : block) {
    auto map = mlir::dyn_cast<tile::MapOp>(op);
    if (map && source) forward_reads(map, tile, copier, source);
    if (!writes_tile(&op, tile)) continue;
    source = map ? copied_from(map, tile) : tile::ReadOp();
    copier = map;
    if (source && !llvm::all_of(source.getIndices(), [&](Value index) { return repeatable(index, copier); }))
      source = {};
  }
}

// The map's writes to the whole tile where, in the map, nothing reads the tile.
llvm::SmallVector<tile::WriteOp> blind_writes(tile::MapOp map, tile::AllocOp tile) {
  llvm::SmallVector<tile::WriteOp> writes;
  for (mlir::Operation* user : tile->getUsers()) {
    if (!map->isProperAncestor(user)) continue;
    auto write = mlir::dyn_cast<tile::WriteOp>(user);
    if (!write || write->getBlock() != &map.getBody().front() || !covers(map, tile, write.getIndices())) return {};
    writes.push_back(write);
  }
  return writes;
}

// Writes that the next statement which touches the tile overwrites.
void drop_overwritten(mlir::Block& block, tile::AllocOp tile) {
  llvm::SmallVector<tile::WriteOp> before;
  for (mlir::Operation& op : block) {
    if (!touches_tile(&op, tile)) continue;
    auto map = mlir::dyn_cast<tile::MapOp>(op);
    llvm::SmallVector<tile::WriteOp> writes = map ? blind_writes(map, tile) : llvm::SmallVector<tile::WriteOp>();
    if (!writes.empty()) {
      for (tile::WriteOp write : before) write.erase();
    }
    before = std::move(writes);
  }
}

}  // namespace

void forward_loads(tile::KernelOp kernel) {
  llvm::SmallVector<tile::AllocOp> tiles;
  kernel.walk([&](tile::AllocOp alloc) {
    const bool plain = llvm::all_of(alloc->getUsers(), [](mlir::Operation* user) {
      return mlir::isa<tile::ReadOp, tile::WriteOp, tile::CombineOp>(user);
    });
    if (plain && !alloc->hasAttr("tile.panels") && !alloc->hasAttr("tile.storage")) tiles.push_back(alloc);
  });
  llvm::SetVector<mlir::Block*> blocks;
  kernel.walk([&](tile::MapOp map) { blocks.insert(map->getBlock()); });
  for (tile::AllocOp tile : tiles) {
    for (mlir::Block* block : blocks) {
      forward_in(*block, tile);
      drop_overwritten(*block, tile);
    }
  }
  drop_dead_writes(kernel);
}

}  // namespace deep_accel::compile
