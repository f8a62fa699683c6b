// Sizes and offsets that are multiples of something.
#pragma once

#include <cstdint>

namespace deep_accel {

// The smallest multiple that is at least `value`, of a positive `multiple`; the two together fit in 63 bits.
constexpr int64_t round_up(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

}  // namespace deep_accel
