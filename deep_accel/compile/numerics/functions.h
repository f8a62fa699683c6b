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

// 2^r, |r| <= 1: degree 13, 2^-56.3
inline constexpr double exp2_f64[] = {1.0,
                                      0.69314718055994529,
                                      0.24022650695910022,
                                      0.055504108664822714,
                                      0.0096181291076383527,
                                      0.0013333558146322044,
                                      0.00015403530386794604,
                                      1.5252733842750966e-5,
                                      1.3215488798985789e-6,
                                      1.017807957253266e-7,
                                      7.0546033062675411e-9,
                                      4.4460085544616171e-10,
                                      2.5910263118917573e-11,
                                      1.36045706310237e-12};
}  // namespace deep_accel::compile
