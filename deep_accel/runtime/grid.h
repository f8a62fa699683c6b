// The order in which the blocks of a grid are handed out.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "deep_accel/runtime/kernel_signature.h"

namespace deep_accel {

struct Block {
  int64_t x, y, z;
};

class Grid {
 public:
  // Sizes of the three axes. Throws Error, naming the kernel, where one is negative or their product does not fit.
  Grid(const std::string& kernel, const int64_t* sizes, BlockOrder order);

  int64_t blocks() const { return blocks_; }

  // Each block of the grid once, for index in [0, blocks()).
  Block block(int64_t index) const {
    switch (order_.kind) {
      case BlockOrder::Kind::rows:
        if (inner_ == 1) return {index, 0, 0};
        return {index / inner_, index % inner_ / z_, index % z_};
      case BlockOrder::Kind::columns:
        return {index % x_, index / x_ % y_, index / x_ / y_};
      case BlockOrder::Kind::swizzle:
        break;
    }
    int64_t plane = x_ * y_;
    int64_t z = index / plane, within = index % plane;
    int64_t group = within / (group_ * y_), place = within % (group_ * y_);
    int64_t first = group * group_;
    int64_t width = group_ < x_ - first ? group_ : x_ - first;  // the last group may be narrower
    return {first + place % width, place / width, z};
  }

 private:
  BlockOrder order_;
  int64_t x_, y_, z_;
  int64_t group_ = 1;
  int64_t inner_ = 1;  // blocks with the same x
  int64_t blocks_ = 0;
};

// The part of [0, total) that belongs to one of `parts` of nearly equal length.
std::pair<int64_t, int64_t> part_of(int64_t total, int64_t part, int64_t parts);

}  // namespace deep_accel
