// Asynchronous loads as plain ones: on a CPU a load is done when it returns.
#pragma once

#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::compile {

// Replaces every tile.async_load below `root` by tile.load and drops the waits. An error where a statement touches a
// tile between its load and the wait, or where a load has no wait in its block: the program would depend on timing.
mlir::LogicalResult lower_async_loads(mlir::Operation* root);

}  // namespace deep_accel::compile
