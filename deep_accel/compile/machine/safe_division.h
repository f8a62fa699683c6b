// Integer division that cannot stop the process.
#pragma once

#include <memory>

#include "deep_accel/tile/ir/mlir_headers.h"

namespace deep_accel::compile {

// On the LLVM dialect. Processors of the x86 family raise a signal where an integer is divided by zero, or the least
// one by -1; LLVM calls both undefined. Here the first gives the dividend (and the remainder 0), the second wraps. For
// the interpreter both are errors.
std::unique_ptr<mlir::Pass> create_safe_division_pass();

}  // namespace deep_accel::compile
