// What passes decided and why, kept on the grid for `explain`.
#pragma once

#include <string>

#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::compile {

// Appends a line to `tile.decisions` of the grid that encloses (or is) `op`; outside of grids, to the kernel's.
void note_decision(mlir::Operation* op, const std::string& text);

}  // namespace deep_accel::compile
