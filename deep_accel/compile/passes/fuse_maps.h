// Maps over one index space joined into one, so that what the first writes the second finds in registers.
#pragma once

#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::compile {

// Joins maps of a block that have the same sizes where each iteration of the later one needs, of what the earlier one
// does, its own iteration alone; forwards written elements to the reads that follow; drops tiles that nobody reads.
void fuse_maps(tile::KernelOp kernel);

}  // namespace deep_accel::compile
