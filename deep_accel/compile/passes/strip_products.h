// Products strip by strip: the left factor's rows are loaded as the register tiles need them.
#pragma once

#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::compile {

// Where a tile is loaded for one product alone, as its left factor, the load goes into a loop over strips of rows, each
// as high as a register tile: a strip stays in the first cache from the load to its last use, where the whole tile
// would make the way to the second and back. Prefetches that wait for the product are divided among the
// strips; those of the left factor ask for the next strip. Needs `tile.register_tile`, so that select_layouts comes
// before.
void strip_products(tile::KernelOp kernel);

}  // namespace deep_accel::compile
