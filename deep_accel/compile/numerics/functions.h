// The elementary functions on lanes; vector_math.h is their face towards the passes.
#pragma once

#include "deep_accel/compile/numerics/lanes.h"

namespace deep_accel::compile {

// exponential.cpp
Lanes lane_exp(Lanes x);
Lanes lane_exp2(Lanes x);
Lanes lane_expm1(Lanes x);
Lanes lane_tanh(Lanes x);
Lanes lane_sigmoid(Lanes x);
// logarithm.cpp
Lanes lane_log(Lanes x);
Lanes lane_log2(Lanes x);
Lanes lane_log1p(Lanes x);
// error_function.cpp
Lanes lane_erf(Lanes x);
// trigonometric.cpp
Lanes lane_sin(Lanes x);
Lanes lane_cos(Lanes x);
// power.cpp
Lanes lane_pow(Lanes x, Lanes y);
Lanes lane_rsqrt(Lanes x);

/// What the functions must know of a format: f32 or f64.
struct Format {
  int mantissa_bits;
  int bias;

  static Format of(Lanes x) { return x.width() == 64 ? Format{52, 1023} : Format{23, 127}; }
  /// Adding this and taking it away again rounds |x| < 2^(mantissa_bits - 2) to an integer n (ties to even). The sum's
  /// lowest bits hold n + offset: shifted up by `mantissa_bits` they are the exponent of 2^n where offset is the bias.
  double rounding_shift(int offset = 0) const {
    return 1.5 * static_cast<double>(int64_t{1} << mantissa_bits) + static_cast<double>(offset);
  }
};

/// 2^n from fma(x, c, Format::rounding_shift(bias)), where n is within the exponents of normal numbers.
inline Lanes power_from_shifted(Lanes shifted) {
  return from_bits(shift_left(bits(shifted), Format::of(shifted).mantissa_bits));
}

}  // namespace deep_accel::compile
