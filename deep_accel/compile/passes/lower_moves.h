// Moves, reductions and scans as maps, their windows split in interior and edge.
#pragma once

#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::compile {

// Replaces load, store, copy, transpose, gather, scatter, im2col, fill, reduce, scan and atomic_store by maps over
// elements. A window that may leave its buffer gets two versions: whole, without a check inside, and
// clipped. Windows that are proven to stay inside get the first alone.
void lower_moves(tile::KernelOp kernel);

}  // namespace deep_accel::compile
