// exp, exp2, and what is built on exp: expm1, tanh, sigmoid.
//
// exp(x) = 2^(2k) exp(r) with k = round(x / (2 ln 2)), r = x - 2k ln 2, |r| <= ln 2. The even power lets 2^(2k) be
// multiplied as s * s with s = 2^k, which is always a normal number: so the largest and the denormal results come out
// right, in three operations (shift, multiply, multiply) and without a comparison; it costs one or two terms of
// the polynomial over the reduction to ln 2 / 2. Where no denormal or overflow can arise, or where the machine
// multiplies by any power of two in one instruction, n = round(x / ln 2) is used.
//
// 2 ln 2 is split in two (Cody and Waite, "Software Manual for the Elementary Functions", 1980, chapter 6): the high
// part has so few bits that its product with k is exact, with a fused multiply-add or without.
//
// Polynomials: scripts/minimax.py, under the names of the arrays; the error stated is the relative one.
#include <cmath>

#include "deep_accel/compile/numerics/functions.h"

namespace deep_accel::compile {
namespace {

constexpr double kLog2E = 1.4426950408889634;

// exp(r), |r| <= ln 2: degree 7, 2^-25.7
constexpr double exp_f32[] = {1.0,          1.0,           0.500000477,   0.166666359,
                              0.0416604765, 0.00833481643, 0.00141155848, 0.000197895453};
// exp(r), |r| <= ln 2: degree 13, 2^-56.1
constexpr double exp_f64[] = {1.0,
                              1.0,
                              0.499999999999999,
                              0.16666666666666882,
                              0.041666666666708894,
                              0.0083333333332826255,
                              0.0013888888882999399,
                              0.00019841269882336714,
                              2.4801591051615395e-5,
                              2.7557304564949117e-6,
                              2.7556118592519595e-7,
                              2.5054349203964527e-8,
                              2.106497983790141e-9,
                              1.5980878740499326e-10};
// exp(r), |r| <= ln(2) / 2: degree 6, 2^-28
constexpr double exp_half_f32[] = {1.0, 1.0, 0.499999881, 0.166665182, 0.0416696407, 0.00836894568, 0.0013746008};
// the same: degree 11, 2^-57.8
constexpr double exp_half_f64[] = {1.0,
                                   1.0,
                                   0.50000000000000122,
                                   0.1666666666666648,
                                   0.041666666666519747,
                                   0.0083333333334532755,
                                   0.0013888888945919429,
                                   0.00019841269592933014,
                                   2.4801491035077832e-5,
                                   2.7557511142669601e-6,
                                   2.7630905136688514e-7,
                                   2.5023397852455605e-8};
// 2^r, |r| <= 1/2: degree 6, 2^-28.2
constexpr double exp2_half_f32[] = {1.0,           0.693147182,   0.240226462,   0.0555035882,
                                    0.00961866509, 0.00133913034, 0.000152859589};
// the same: degree 11, 2^-57.3
constexpr double exp2_half_f64[] = {1.0,
                                    0.69314718055994529,
                                    0.24022650695910133,
                                    0.055504108664822277,
                                    0.0096181291075934892,
                                    0.0013333558146375942,
                                    0.00015403530457781703,
                                    1.5252733810737995e-5,
                                    1.3215434991181222e-6,
                                    1.0178084428851609e-7,
                                    7.0738279120885572e-9,
                                    4.4503235614081985e-10};
// 2^r, |r| <= 1: degree 7, 2^-25.9
constexpr double exp2_f32[] = {1.0,           0.693147242,   0.240226731,    0.0555036478,
                               0.00961671397, 0.00133419433, 0.000156540977, 1.49062507e-5};
// (exp(r) - 1 - r) / r^2, |r| <= ln(2) / 2: degree 4, 2^-26.1 of expm1(r)
constexpr double expm1_f32[] = {0.49999997, 0.166665435, 0.0416674986, 0.00836653169, 0.00138648646};
// the same: degree 9, 2^-55.5
constexpr double expm1_f64[] = {
    0.50000000000000056,    0.16666666666666594,   0.041666666666573829, 0.0083333333333861694, 0.0013888888932286157,
    0.00019841269727357557, 2.4801504570562647e-5, 2.755739938197387e-6, 2.7626274675276577e-7, 2.5056531204135926e-8};

// (tanh(x) - x) / x^3 of x^2, |x| <= 0.55: degree 4, 2^-29.8
constexpr double tanh_f32[] = {-0.333333194, 0.133326381, -0.0538570695, 0.0210893322, -0.00629717996};
// the same: degree 10, 2^-60.5
constexpr double tanh_f64[] = {-0.33333333333333304,   0.13333333333327335,    -0.053968253964114865,
                               0.021869488394853438,   -0.0088632327354589806, 0.0035920932816559188,
                               -0.0014555503823084266, 0.00058847375606116338, -0.00023345236246776223,
                               8.3413453426635495e-5,  -1.9552198494684467e-5};

// ln 2 in two parts: 16 bits and the next 24 (f32), 41 bits and the next 53 (f64).
struct Ln2 {
  double high, low;
  static Ln2 of(Lanes x) {
    if (x.width() == 64) return {0x1.62e42fefa4p-1, -0x1.8432a1b0e2634p-43};
    return {0x1.62e4p-1, 0x1.7f7d1cp-20};
  }
};

template <size_t N, size_t M>
Lanes polynomial_of(Lanes x, const double (&f32)[N], const double (&f64)[M]) {
  return x.width() == 64 ? polynomial(x, f64) : polynomial(x, f32);
}

struct Reduced {
  Lanes r, shifted;  // shifted: for power_from_shifted
};

// x = n ln 2 + r, |r| <= ln(2) / 2
Reduced reduce(Lanes x, int offset) {
  const Ln2 ln2 = Ln2::of(x);
  const double shift = Format::of(x).rounding_shift(offset);
  const Lanes shifted = fma(x, kLog2E, shift);
  const Lanes n = shifted - shift;
  return {fma(n, -ln2.low, fma(n, -ln2.high, x)), shifted};
}

double exp_underflow(Lanes x) { return x.width() == 64 ? -746.0 : -104.0; }
double exp_overflow(Lanes x) { return x.width() == 64 ? 710.0 : 89.0; }

// exp(x) for x <= 0, between half of the smallest denormal number and 1. Without overflow to think of, 2^n is taken
// larger by a constant, which leaves it normal, and is divided out in the end.
Lanes exp_of_negative(Lanes x) {
  const Format format = Format::of(x);
  const int offset = x.width() == 64 ? 512 : 64;
  x = at_least(x, exp_underflow(x));
  const auto [r, n] = reduce(x, format.bias + offset);
  return polynomial_of(r, exp_half_f32, exp_half_f64) * power_from_shifted(n) * std::ldexp(1.0, -offset);
}

}  // namespace

Lanes lane_exp(Lanes x) {
  const Format format = Format::of(x);
  const Ln2 ln2 = Ln2::of(x);
  const double shift = format.rounding_shift(format.bias);
  x = at_most(at_least(x, exp_underflow(x)), exp_overflow(x));
  if (x.context().has_scalef) {
    const auto [r, n] = reduce(x, 0);
    return scale_by_power(polynomial_of(r, exp_half_f32, exp_half_f64), n - format.rounding_shift());
  }
  const Lanes shifted = fma(x, kLog2E / 2, shift);
  const Lanes k = shifted - shift;
  const Lanes r = fma(k, -2 * ln2.low, fma(k, -2 * ln2.high, x));
  const Lanes s = power_from_shifted(shifted);
  return polynomial_of(r, exp_f32, exp_f64) * s * s;
}

Lanes lane_exp2(Lanes x) {
  const Format format = Format::of(x);
  const double shift = format.rounding_shift(format.bias);
  x = at_most(at_least(x, x.width() == 64 ? -1076.0 : -151.0), x.width() == 64 ? 1025.0 : 129.0);
  if (x.context().has_scalef) {
    const Lanes n = (x + format.rounding_shift()) - format.rounding_shift();
    return scale_by_power(polynomial_of(x - n, exp2_half_f32, exp2_half_f64), n);
  }
  const Lanes shifted = fma(x, 0.5, shift);
  const Lanes r = fma(shifted - shift, -2.0, x);
  const Lanes s = power_from_shifted(shifted);
  return polynomial_of(r, exp2_f32, exp2_f64) * s * s;
}

// exp(x) - 1 = 2 (2^(n-1) expm1(r) + (2^(n-1) - 1/2)); half of it first, so that n = 128 (1024) does not overflow
// early.
Lanes lane_expm1(Lanes x) {
  const Lanes clamped = at_most(at_least(x, x.width() == 64 ? -40.0 : -20.0), exp_overflow(x));
  const auto [r, n] = reduce(clamped, Format::of(x).bias - 1);
  const Lanes expm1_r = fma(r * r, polynomial_of(r, expm1_f32, expm1_f64), r);
  const Lanes power = power_from_shifted(n);
  const Lanes half = fma(expm1_r, power, power - 0.5);
  // Near 0, n = 0: expm1(r) itself, since half of a denormal number may not be exact.
  const Lanes result = select(abs(x) < 0.34, expm1_r, half + half);
  return with_sign_of(abs(result), x);
}

// Near 0, x + x^3 p(x^2). Above, 1 - 2 / (exp(2a) + 1): at a = 0.55 that is 1 - 1/2, so nothing cancels.
Lanes lane_tanh(Lanes x) {
  const Format format = Format::of(x);
  const Lanes a = at_most(abs(x), x.width() == 64 ? 20.0 : 9.5);  // tanh rounds to 1 there
  const Lanes square = a * a;
  const Lanes near_zero = fma(a * square, polynomial_of(square, tanh_f32, tanh_f64), a);
  const auto [r, n] = reduce(a + a, format.bias);
  const Lanes exp_plus_one = fma(polynomial_of(r, exp_half_f32, exp_half_f64), power_from_shifted(n), 1.0);
  const Lanes above = 1.0 - 2.0 / exp_plus_one;
  return with_sign_of(select(a < 0.55, near_zero, above), x);
}

// With e = exp(-|x|), which cannot overflow, and t = e / (1 + e): 1 - t for x >= 0, and e - e t for x < 0: so where e
// is small, or even denormal, t is no more than a correction.
Lanes lane_sigmoid(Lanes x) {
  const Lanes e = exp_of_negative(-abs(x));
  const Lanes t = e / (e + 1.0);
  const Lanes base = select(x < 0.0, e, 1.0);
  return fma(-base, t, base);
}

}  // namespace deep_accel::compile
