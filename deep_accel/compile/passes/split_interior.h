// Blocks whose windows lie inside their tensors apart from the others.
#pragma once

#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::compile {

// Where a block of a grid is a sequence of maps, some of them behind the question whether a window lies inside its
// tensor, the questions become one that stands above the block: the interior version has no questions left between its
// maps, so that they can be joined, and the other version is the block as it was. Blocks with loops or products stay as
// they are: their questions are asked inside loops, or cost little beside a product.
void split_interior(tile::KernelOp kernel);

}  // namespace deep_accel::compile
