// How the rows of a product are divided among register tiles.
#pragma once

#include <cstdint>

namespace deep_accel::compile {

// Strips of `high` rows and, where the rows do not divide evenly, of one row less: a remainder of a few rows would
// leave the multipliers waiting.
struct Strips {
  int64_t rows;   // of the product
  int64_t count;  // of all strips
  int64_t high;   // rows of the first `tall` strips; the others have one less
  int64_t tall;
};

inline Strips divide_in_strips(int64_t rows, int64_t most) {
  const int64_t count = (rows + most - 1) / most, high = (rows + count - 1) / count;
  return {rows, count, high, rows - count * (high - 1)};
}

}  // namespace deep_accel::compile
