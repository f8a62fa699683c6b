// Writes to tiles that nobody reads any more.
#pragma once

#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::compile {

// Drops, from maps, writes to tiles that nothing reads afterwards; tiles that are never read; maps that then do
// nothing.
void drop_dead_writes(tile::KernelOp kernel);

}  // namespace deep_accel::compile
