// Kernels for tests: C source compiled at run time into the image of a shared library.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "deep_accel/runtime/kernel.h"

namespace deep_accel {

// What each source may use: the context (kernel.h), and SIGNATURE(...)END with JSON in which ' stands for ".
std::vector<std::byte> compile_c(const std::string& source);

inline std::shared_ptr<const Kernel> kernel_from_c(const std::string& source) {
  return Kernel::load(compile_c(source));
}

}  // namespace deep_accel
