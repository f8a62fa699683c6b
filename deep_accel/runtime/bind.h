// Checking arguments against a kernel's signature, and laying them out for the kernel.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "deep_accel/runtime/kernel.h"

namespace deep_accel {

// An array of a size known at run time that needs the heap only above N.
template <typename T, size_t N>
class SmallArray {
 public:
  explicit SmallArray(size_t size) {
    if (size > N) large_.resize(size);
  }
  T* data() { return large_.empty() ? small_.data() : large_.data(); }
  T& operator[](size_t i) { return data()[i]; }

 private:
  std::array<T, N> small_;
  std::vector<T> large_;
};

// Fills params (signature.params_count slots; kernel.h says how). Throws as launch() says.
void bind_arguments(const KernelSignature& signature, std::span<const Argument> arguments, int64_t* params);

}  // namespace deep_accel
