// How many bytes a tile takes in memory, given what layout inference wrote on its alloc.
#pragma once

#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::compile {

// `tile.storage` replaces the element type; `tile.panels` (axis, width, and group where there are groups) rounds that
// dimension up to whole panels.
int64_t physical_bytes(tile::AllocOp alloc);

}  // namespace deep_accel::compile
