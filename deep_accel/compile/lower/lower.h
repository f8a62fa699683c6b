// From kernels in the tile dialect to functions on scalars and vectors, which upstream passes take to LLVM.
#pragma once

#include "deep_accel/compile/target/target.h"
#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::compile {

// Replaces every tile.kernel by functions with the interface of runtime/kernel.h: `<name>_plan`, and `<name>_phase<k>`
// for each grid. Expects what the passes on tiles leave: kernel-level code, reads and writes, maps, products,
// prefetches, checks, atomics and foreign calls, with `tile.offset` on every tile. Errors are diagnostics.
mlir::LogicalResult lower_kernels(mlir::ModuleOp module, const Target& target);

}  // namespace deep_accel::compile
