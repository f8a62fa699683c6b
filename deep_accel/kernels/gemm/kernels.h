// Compiled matrix products, found by their configuration.
#pragma once

#include <memory>

#include "deep_accel/kernels/gemm/config.h"
#include "deep_accel/runtime/kernel.h"

namespace deep_accel::kernels {

// From this process's table by a hash of the configuration (tens of nanoseconds), else through the kernel cache, which
// goes by the program's text. Safe for threads. The reference lives as long as the process.
const Kernel& gemm_kernel(const GemmConfig& config);

}  // namespace deep_accel::kernels
