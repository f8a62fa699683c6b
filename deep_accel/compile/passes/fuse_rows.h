// Maps over the same rows, row by row.
#pragma once

#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::compile {

// A run of maps over [R, ...], each of which needs of what the others do its own row alone, becomes a loop over the
// rows with the maps inside: a long row stays in the first cache from its first pass to its last, where the whole tile
// would not. While the costliest pass of a row runs, the next row of each input is prefetched.
void fuse_rows(tile::KernelOp kernel);

}  // namespace deep_accel::compile
