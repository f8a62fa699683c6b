// Layout and packing inference: how the tiles that products read lie in memory, and the products' register tiles.
#pragma once

#include "deep_accel/compile/target/target.h"
#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::compile {

// Gives each tile.gemm `tile.register_tile` (rows, columns), and `tile.group` where instructions take several products
// at once (dot_products.h), `tile.tile_registers` where AMX does; gives the tile of its right factor, and on some
// targets of its left one, `tile.panels` (axis, width, group) and both factors' tiles `tile.storage` where their
// elements are decoded on the way in. A factor that cannot lie so (a slice, a tile that others see as bytes) is copied
// to a tile of its own. Sparse products become dense ones. What was decided is appended to the grid's `tile.decisions`.
void select_layouts(tile::KernelOp kernel, const Target& target);

// Rows and columns of the accumulators that stay in registers, for a product of M x N on the target.
std::pair<int64_t, int64_t> register_tile(int64_t m, int64_t n, int64_t element_bits, const Target& target);

}  // namespace deep_accel::compile
