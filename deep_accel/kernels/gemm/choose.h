// Chooses the tiles of a matrix product by a small model of caches and registers.
#pragma once

#include <cstdint>
#include <string>

#include "deep_accel/kernels/gemm/config.h"

namespace deep_accel::kernels {

// Up to so many rows (or columns), the other factor is read from memory no faster than it is used.
inline constexpr int64_t kFewRows = 8;

struct GemmSizes {
  int64_t batch = 1, m = 0, n = 0, k = 0;
};

// The same for any number of threads, so that results do not depend on it. `tile_size`: the rows and columns of a
// block that the caller would like; 0: the model's own.
GemmConfig choose_gemm(const GemmKind& kind, const GemmSizes& sizes, int64_t tile_size = 0);

}  // namespace deep_accel::kernels
