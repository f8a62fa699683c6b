// Elements whose place the data decides.
#pragma once

#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::compile {

// Before each access to a single element whose index was computed from what was read from memory or given as a number,
// and that neither arithmetic nor a condition around it proves to lie inside, writes an assertion that it does; where
// it does not, the access takes the first element instead (of memory that empty arguments have too). So data cannot
// make a kernel touch memory that is not its own: the launch fails with an IndexError that names the line. Moves of
// whole windows clip, and need none of this.
void guard_accesses(tile::KernelOp kernel);

// The discardable attribute of such assertions.
inline constexpr const char* kIndexErrorAttribute = "tile.index_error";

}  // namespace deep_accel::compile
