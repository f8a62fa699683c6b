// How many bytes a tile takes in memory, given what layout inference wrote on its alloc.
#pragma once

#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::compile {

// `tile.panels` (axis among the last two dimensions, width, and group where there are groups) rounds that dimension up
// to whole panels.
llvm::SmallVector<int64_t> physical_shape(tile::AllocOp alloc);

// `tile.storage` replaces the element type.
int64_t physical_bytes(tile::AllocOp alloc);

// Tiles that outlive a block (keep_factors.h), and those of them that the runtime resets before a worker's first block.
inline bool is_kept(tile::AllocOp alloc) { return alloc->hasAttr("tile.kept"); }
inline bool is_marks(tile::AllocOp alloc) {
  auto kind = alloc->getAttrOfType<mlir::StringAttr>("tile.kept");
  return kind && kind.getValue() == "marks";
}

}  // namespace deep_accel::compile
