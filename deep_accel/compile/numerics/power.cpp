// pow and rsqrt.
//
// |x|^y = 2^(y log2 |x|). An error of the exponent becomes a relative error of the result, multiplied by ln 2, so the
// exponent (up to 150 in f32, 1075 in f64) needs some ten bits more than the result has: f32 computes in f64, f64 in
// pairs of f64 ("double-double"; Dekker, "A floating-point technique for extending the available precision", 1971). The
// special cases are those of C, Annex F. Polynomials: scripts/minimax.py, under the names of the arrays.
#include <bit>
#include <limits>

#include "deep_accel/compile/numerics/functions.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace deep_accel::compile {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kTwoThirds = std::bit_cast<int64_t>(0.66666666666666667);

// log2(1 + f) / f, |f| <= 1/3: degree 13, 2^-38.5
constexpr double pow_log2[] = {1.4426950408925709,  -0.72134752046907891, 0.48089834380671048, -0.36067375190882939,
                               0.28853945793736341, -0.24044998129893061, 0.20607535292306287, -0.18030249654055547,
                               0.16090197732713185, -0.14501401620943755, 0.12347694784791435, -0.11172786441157857,
                               0.1577990518153988,  -0.15057529528762731};
// 2^r, |r| <= 1/2: degree 7, 2^-34.5
constexpr double pow_exp2[] = {0.99999999996167666,    0.69314718072838055,   0.24022651198143241,
                               0.055504103536895777,   0.0096180272567416951, 0.0013333922361055742,
                               0.00015469290233133446, 1.5201968571397466e-5};
// (log(1+f) - 2s - 2/3 s^3) / s^5 of s^2, s = f / (2 + f), |s| <= 1/5: 2^-66 of log(1+f)
constexpr double pow_atanh[] = {0.40000000000000002, 0.28571428571425994, 0.22222222223106036,
                                0.18181818043335549, 0.15384627149801872, 0.133327488494239,
                                0.11782044789036183, 0.10227905111015492, 0.12197155768396706};
// A sum of two, the second not above half a unit in the last place of the first.
struct Pair {
  Lanes high, low;
};

Pair exact_sum_ordered(Lanes larger, Lanes smaller) {
  const Lanes sum = larger + smaller;
  return {sum, smaller - (sum - larger)};
}

Pair exact_product(Lanes a, Lanes b) {
  const Lanes product = a * b;
  if (a.context().has_fma) return {product, fma(a, b, -product)};
  // Veltkamp's splitting: the upper 26 bits of each factor, so that the four partial products are exact.
  const auto upper = [](Lanes x) {
    const Lanes scaled = x * 134217729.0;  // 2^27 + 1
    return scaled - (scaled - x);
  };
  const Lanes a_high = upper(a), b_high = upper(b), a_low = a - a_high, b_low = b - b_high;
  return {product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low};
}

Pair product(Pair a, Pair b) {
  const Pair main = exact_product(a.high, b.high);
  return exact_sum_ordered(main.high, fma(a.high, b.low, fma(a.low, b.high, main.low)));
}

struct Parts {
  Lanes exponent, m;  // x = 2^exponent m, 2/3 <= m < 4/3
};

// Of positive normal f64 lanes.
Parts split(Lanes x) {
  const Lanes shifted = bits(x) - (kTwoThirds - (int64_t{1023} << 52));
  const Lanes biased = from_bits(shift_right(shifted, 52) | std::bit_cast<int64_t>(0x1p52));
  return {biased - (0x1p52 + 1023), from_bits((shifted & ((int64_t{1} << 52) - 1)) + kTwoThirds)};
}

// |x|^y for f32, except where the result does not depend on the logarithm.
Lanes magnitude_f32(Lanes a, Lanes y) {
  const auto f64 = a.builder().getF64Type();
  const Lanes wide = convert_float(a, f64);  // denormal f32 are normal f64
  const auto [exponent, m] = split(wide);
  const Lanes f = m - 1.0;
  Lanes log2 = fma(f, polynomial(f, pow_log2), exponent);
  log2 = select(wide == 0.0, -kInfinity, select(wide < kInfinity, log2, wide));
  const Lanes z = at_most(at_least(convert_float(y, f64) * log2, -200.0), 200.0);
  const double shift = Format::of(z).rounding_shift(Format::of(z).bias);
  const Lanes shifted = z + shift;
  const Lanes power = polynomial(z - (shifted - shift), pow_exp2);
  // The conversion to f32 overflows or rounds to denormal numbers as it should, once.
  return convert_float(power * power_from_shifted(shifted), a.element_type());
}

// log2(a) = exponent + log2(e) (2s + s^3 (2/3 + s^2 p(s^2))) for positive finite a, with some 65 bits.
Pair log2_f64(Lanes a) {
  const Lanes tiny = a < std::numeric_limits<double>::min();
  const auto [exponent, m] = split(select(tiny, a * 0x1p54, a));
  const Lanes f = m - 1.0;
  // s = f / (2 + f): the quotient, and from its exact remainder the next bits.
  const Pair divisor = exact_sum_ordered(f.constant(2.0), f);
  const Lanes quotient = f / divisor.high;
  const Pair back = exact_product(quotient, divisor.high);
  const Lanes remainder = ((f - back.high) - back.low) - quotient * divisor.low;
  const Pair s = exact_sum_ordered(quotient, remainder / divisor.high);
  const Pair w = product(s, s);
  const Lanes tail = w.high * polynomial(w.high, pow_atanh);
  const Pair two_thirds = exact_sum_ordered(f.constant(0x1.5555555555555p-1), tail);
  const Pair inner{two_thirds.high, two_thirds.low + 0x1.5555555555555p-55};
  const Pair cubic = product(product(w, s), inner);
  const Pair doubled{s.high + s.high, s.low + s.low};
  const Pair sum = exact_sum_ordered(doubled.high, cubic.high);
  const Pair log = exact_sum_ordered(sum.high, sum.low + (cubic.low + doubled.low));
  const Pair log2 = product(log, {f.constant(0x1.71547652b82fep+0), f.constant(0x1.777d0ffda0d24p-56)});
  // Either the exponent is 0, or it is larger than log2(m), which is within -0.59 and 0.42.
  const Lanes whole = exponent + select(tiny, f.constant(-54.0), 0.0);
  const Lanes zero = f.constant(0.0);
  const Lanes none = whole == zero;
  const Pair total = exact_sum_ordered(select(none, log2.high, whole), select(none, zero, log2.high));
  return exact_sum_ordered(total.high, total.low + log2.low);
}

Lanes magnitude_f64(Lanes a, Lanes y) {
  const Pair log2 = log2_f64(a);
  // Beyond 2^65 every power is 0, 1 or infinite; the limit keeps the products finite.
  const Lanes limited = at_most(at_least(y, -0x1p65), 0x1p65);
  const Pair z = exact_product(limited, log2.high);
  const Lanes z_low = fma(limited, log2.low, z.low);
  // 2^z as exp2 does it; what z_low adds is within 2^-43, and is dropped where z is beyond the ends.
  const Lanes z_high = at_most(at_least(z.high, -1080.0), 1030.0);
  const double shift = Format::of(a).rounding_shift(Format::of(a).bias);
  const Lanes shifted = fma(z_high, 0.5, shift);
  const Lanes r = fma(shifted - shift, -2.0, z_high) + select(z_high == z.high, z_low, 0.0);
  const Lanes s = power_from_shifted(shifted);
  const Lanes power = polynomial(r, exp2_f64) * s * s;
  // 0 and infinity to a power, by the sign of the power; NaN stays.
  const Lanes grows = select(y > 0.0, a, 1.0 / a);
  const Lanes special = select(is_nan(y), y, grows);
  return select(a == 0.0, special, select(a < kInfinity, power, special));
}

}  // namespace

Lanes lane_pow(Lanes x, Lanes y) {
  const Lanes a = abs(x);
  Lanes result = a.width() == 64 ? magnitude_f64(a, y) : magnitude_f32(a, y);
  result = select(a == 1.0, select(is_nan(y), y, 1.0), result);
  // A negative base: the sign is that of an odd power, and other than whole powers of it are not real numbers.
  const Lanes whole = round_even(y) == y;
  const Lanes half = y * 0.5;
  const Lanes odd = whole & (round_even(half) != half);
  result = from_bits(bits(result) | select(odd, bits(x) ^ bits(a), bits(x).constant(0)));
  const Lanes negative = (x < 0.0) & (x > -kInfinity);
  const Lanes undefined = negative & (whole ^ Lanes(x.context(), whole.constant(1).value()));
  result = select(undefined, std::numeric_limits<double>::quiet_NaN(), result);
  // x^0 and 1^y are 1, even of NaN.
  return select(y == 0.0, 1.0, select(x == 1.0, 1.0, result));
}

Lanes lane_rsqrt(Lanes x) { return 1.0 / Lanes(x.context(), x.builder().create<mlir::math::SqrtOp>(x.value())); }

}  // namespace deep_accel::compile
