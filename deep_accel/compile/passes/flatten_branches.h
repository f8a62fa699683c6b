// Conditional values in maps, without the branch.
#pragma once

#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::compile {

// In maps, replaces each scf.if that only chooses between values by both computations and an arith.select, where
// computing the one that is not wanted can do no harm: scalar code that may be run early, and reads of elements that
// lie inside their buffer for every point of the map. A body without branches runs in vectors, and can be joined with
// its neighbours.
void flatten_branches(tile::KernelOp kernel);

}  // namespace deep_accel::compile
