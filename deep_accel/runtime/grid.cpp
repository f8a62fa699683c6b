// Checks of a grid's sizes.
#include "deep_accel/runtime/grid.h"

#include <algorithm>

#include "deep_accel/base/error.h"

namespace deep_accel {

Grid::Grid(const std::string& kernel, const int64_t* sizes, BlockOrder order)
    : order_(order), x_(sizes[0]), y_(sizes[1]), z_(sizes[2]) {
  bool valid = x_ >= 0 && y_ >= 0 && z_ >= 0;
  if (valid && x_ && y_ && z_) {
    valid = !__builtin_mul_overflow(y_, z_, &inner_) && !__builtin_mul_overflow(x_, inner_, &blocks_);
  }
  // Threads count a little past the end.
  if (!valid || blocks_ > INT64_MAX / 2) {
    throw Error("kernel '" + kernel + "' has an impossible grid of " + std::to_string(x_) + " x " + std::to_string(y_) +
                " x " + std::to_string(z_) + " blocks");
  }
  group_ = std::clamp<int64_t>(order_.group, 1, std::max<int64_t>(x_, 1));
}

std::pair<int64_t, int64_t> part_of(int64_t total, int64_t part, int64_t parts) {
  int64_t each = total / parts, more = total % parts;  // the first `more` parts have one more
  int64_t begin = part * each + std::min(part, more);
  return {begin, begin + each + (part < more)};
}

}  // namespace deep_accel
