// Packed factors of products that the blocks of a worker share: packed once, kept for the blocks that follow.
#pragma once

#include "deep_accel/compile/target/target.h"
#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::compile {

// Where a worker's next block will load the same window of an input for a product, the load gets several tiles that
// outlive the block, one for each iteration of the loops around it, and is left out where its tile holds the window
// already. A tile's marks say which: the indices of its load. Chooses the order of the blocks where the program does
// not. The allocs carry `tile.kept`: "tile", or "marks" for what the runtime resets before a worker's first block.
void keep_factors(tile::KernelOp kernel, const Target& target);

}  // namespace deep_accel::compile
