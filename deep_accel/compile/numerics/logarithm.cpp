// log, log2, log1p.
//
// x = 2^e (1 + f) with 1 + f in [2/3, 4/3): log(x) = e ln 2 + log(1 + f). That interval holds 1 in its middle, so near
// x = 1 e is 0 and nothing cancels. log(1 + f) = f - f^2/2 + f^3 q(f).
// Polynomials: scripts/minimax.py, under the names of the arrays; the error stated is relative to log(1 + f).
#include <bit>
#include <limits>

#include "deep_accel/compile/numerics/functions.h"

namespace deep_accel::compile {
namespace {

constexpr double kLn2 = 0.69314718055994531;  // rounded to f32 it is off by 2^-28 of itself only: one part is enough
constexpr int64_t kTwoThirdsF32 = std::bit_cast<int32_t>(0.66666667f);
constexpr int64_t kTwoThirdsF64 = std::bit_cast<int64_t>(0.66666666666666667);

// degree 7: 2^-27.6
constexpr double log_f32[] = {0.333332211, -0.249998018, 0.200101644, -0.166803211,
                              0.140092999, -0.121863678, 0.139693201, -0.128831476};
// degree 17: 2^-54
constexpr double log_f64[] = {0.33333333333337078,  -0.25000000000013534,  0.19999999998438242,  -0.16666666662908802,
                              0.14285714493532006,  -0.12500000389626242,  0.11111097984131861,  -0.099999793045799673,
                              0.090913694968992737, -0.083339712741356042, 0.076826931448852803, -0.071308127423419465,
                              0.06788504222046822,  -0.063906724393057446, 0.049729478164501462, -0.045747791925386395,
                              0.088281360506498194, -0.086221027608771428};
// log2(1 + f) / f, degree 9: 2^-26.2
constexpr double log2_f32[] = {1.44269502,   -0.721347511, 0.480898827,  -0.360672832, 0.288620323,
                               -0.240573928, 0.202878505,  -0.176739305, 0.19850716,   -0.182009324};
// log2(1 + f) / f, degree 20: 2^-55.6
constexpr double log2_f64[] = {1.4426950408889634,   -0.72134752044448103,  0.48089834696299866,  -0.36067376022268427,
                               0.28853900817629463,  -0.24044917339593413,  0.20609929162135249,  -0.18033688766973413,
                               0.16029944998334508,  -0.14426913789650939,  0.13115390236512481,  -0.12023521325368972,
                               0.11098420545164994,  -0.10285746166485399,  0.096020663915156498, -0.092341406917351598,
                               0.086793483866289947, -0.065383124066961895, 0.062300690604071431, -0.12551557853193276,
                               0.11908638338238618};

struct Parts {
  Lanes exponent, f;
};

// The parts of positive finite lanes; of others, anything.
Parts split(Lanes x) {
  const bool wide = x.width() == 64;
  const Lanes tiny = x < (wide ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min());
  const Lanes normal = select(tiny, x * (wide ? 0x1p54 : 0x1p25), x);
  const Lanes correction = select(tiny, x.constant(wide ? -54.0 : -25.0), 0.0);
  const Lanes i = bits(normal);
  if (wide) {
    // 64-bit integers have no arithmetic shift and no conversion below AVX-512: shift the biased exponent into the
    // last bits of 2^52 instead.
    const Lanes shifted = i - (kTwoThirdsF64 - (int64_t{1023} << 52));
    const Lanes biased = from_bits(shift_right(shifted, 52) | std::bit_cast<int64_t>(0x1p52));
    const Lanes m = from_bits((shifted & ((int64_t{1} << 52) - 1)) + kTwoThirdsF64);
    return {biased - (0x1p52 + 1023) + correction, m - 1.0};
  }
  const Lanes scaled = (i - kTwoThirdsF32) & int64_t{0xff800000};
  return {fma(to_float(scaled, x.element_type()), 0x1p-23, correction), from_bits(i - scaled) - 1.0};
}

// log(1 + f) for -1/3 <= f <= 1/3
Lanes log1p_reduced(Lanes f) {
  const Lanes q = f.width() == 64 ? polynomial(f, log_f64) : polynomial(f, log_f32);
  return fma(f * f, fma(f, q, -0.5), f);
}

// `y`, but the right value where `x` is +inf, NaN, zero or negative; log1p has its zero at -1.
Lanes with_special_cases(Lanes y, Lanes x, double zero = 0) {
  y = select(x < std::numeric_limits<double>::infinity(), y, x);
  y = select(x == zero, -std::numeric_limits<double>::infinity(), y);
  return select(x < zero, std::numeric_limits<double>::quiet_NaN(), y);
}

}  // namespace

Lanes lane_log(Lanes x) {
  const auto [exponent, f] = split(x);
  return with_special_cases(fma(exponent, kLn2, log1p_reduced(f)), x);
}

Lanes lane_log2(Lanes x) {
  const auto [exponent, f] = split(x);
  const Lanes p = f.width() == 64 ? polynomial(f, log2_f64) : polynomial(f, log2_f32);
  return with_special_cases(fma(f, p, exponent), x);
}

// The exponent e comes from 1 + x, rounded; but f = 2^-e (1 + x) - 1 = 2^-e x + (2^-e - 1) from x itself, in which no
// bit is lost. 2^-e x subtracts e in the exponent of x; 2^-e is a quarter of 2^(2-e), which is normal for every e.
Lanes lane_log1p(Lanes x) {
  const bool wide = x.width() == 64;
  const int64_t two_thirds = wide ? kTwoThirdsF64 : kTwoThirdsF32;
  const int64_t exponent_mask = wide ? int64_t(0xfff) << 52 : 0xff800000;
  const int64_t four = wide ? std::bit_cast<int64_t>(4.0) : std::bit_cast<int32_t>(4.0f);
  const Lanes scaled = (bits(x + 1.0) - two_thirds) & exponent_mask;
  const Lanes four_scaled = from_bits(four - scaled);
  const Lanes f = from_bits(bits(x) - scaled) + fma(four_scaled, 0.25, -1.0);
  Lanes exponent = x;
  if (wide) {
    const Lanes biased = from_bits(shift_right(scaled + (int64_t{1023} << 52), 52) | std::bit_cast<int64_t>(0x1p52));
    exponent = biased - (0x1p52 + 1023);
  } else {
    exponent = to_float(scaled, x.element_type()) * 0x1p-23;
  }
  const Lanes y = fma(exponent, kLn2, log1p_reduced(f));
  return with_special_cases(select(x == 0.0, x, y), x, -1.0);
}

}  // namespace deep_accel::compile
