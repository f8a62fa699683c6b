// Tiles that are copies of global memory, read where they were copied from.
#pragma once

#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::compile {

// A map that reads a tile which is still the copy of a window of an input, element by element and in long rows, reads
// the window instead; writes to tiles that are overwritten before anything reads them go. What is left of a load is
// then often nothing, or a prefetch by another name.
void forward_loads(tile::KernelOp kernel);

}  // namespace deep_accel::compile
