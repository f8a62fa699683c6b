// sin and cos, over the whole range of arguments.
//
// a = |x| = n pi/2 + r, |r| <= pi/4. Up to a limit, pi/2 is subtracted in three parts (Cody and Waite). Above it, and
// when any lane needs it, all lanes take the slow path: n and r from a * 2/pi with enough bits of 2/pi (Payne and
// Hanek, "Radian reduction for trigonometric functions", 1983), in floating point. The bits come in pieces short enough
// for the product with (half of) a to be exact; a multiple of 4 is taken from each product, exactly, and what is left
// is summed. Then sin(r) or cos(r) by the parity of n, with the sign of its second bit.
//
// Polynomials: scripts/minimax.py, under the names of the arrays.
#include <cmath>
#include <string_view>
#include <vector>

#include "deep_accel/compile/numerics/functions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace deep_accel::compile {
namespace {

constexpr double kTwoOverPi = 0.63661977236758134;
constexpr double kHalfPi = 1.5707963267948966;

// The first 1200 bits of 2/pi.
constexpr std::string_view kTwoOverPiDigits =
    "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424dd2e006492eea09d1921cfe1deb1cb129"
    "a73ee88235f52ebb4484e99c7026b45f7e413991d639835339f49c845f8bbdf9283b1ff897ffde05980fef2f118b5a0a6d1f6d367ecf"
    "27cb09b74f463f669e5fea2d7527bac7ebe5f17b3d0739f78a5292ea6bfb5fb11f8d5d0856033046fc7b";

// (sin(r) - r) / r^3 of r^2, |r| <= pi/4: 2^-28 of sin(r)
constexpr double sin_f32[] = {-0.166666552, 0.00833219197, -0.000195187909};
// (cos(r) - 1 + r^2/2) / r^4 of r^2: 2^-33
constexpr double cos_f32[] = {0.0416666456, -0.0013887313, 2.44329713e-5};
// the same: 2^-58 and 2^-64
constexpr double sin_f64[] = {-0.16666666666666632,  0.0083333333333224929,  -0.0001984126982986147,
                              2.7557313708375028e-6, -2.5050760458869763e-8, 1.5896921650950387e-10};
constexpr double cos_f64[] = {0.041666666666666616,   -0.0013888888888876517, 2.4801587290790891e-5,
                              -2.7557314691030366e-7, 2.0875765194412289e-9,  -1.1361648593983966e-11};

// |x| up to which the subtraction in parts is exact enough.
constexpr double kLimitF32 = 0x1p16;
constexpr double kLimitF64 = 0x1p20;

struct Reduced {
  Lanes r;  // in the type of x
  Lanes n;  // an integer of the width of x; its two lowest bits count
};

// Pieces of 24 bits of 2/pi, each a number of its own: their sum is 2/pi * 2^scale.
std::vector<double> pieces_of_two_over_pi(size_t bits_needed, int scale) {
  std::vector<double> pieces;
  for (size_t at = 0; at * 4 < bits_needed && at + 6 <= kTwoOverPiDigits.size(); at += 6) {
    const auto piece = std::stoul(std::string(kTwoOverPiDigits.substr(at, 6)), nullptr, 16);
    pieces.push_back(std::ldexp(static_cast<double>(piece), scale - static_cast<int>(at + 6) * 4));
  }
  return pieces;
}

Lanes modulo_four(Lanes product) { return product - round_even(product * 0.25) * 4.0; }

// f32: every product of 24 and 24 bits is exact in f64; seven or eight pieces reach 2^-64 below the largest argument.
Reduced reduce_huge_f32(Lanes a) {
  auto& builder = a.builder();
  const Lanes wide = convert_float(a, builder.getF64Type());
  Lanes fraction = wide.constant(0.0), quotient = wide.constant(0.0);
  for (const double piece : pieces_of_two_over_pi(128 + 64, 0)) {
    fraction = fraction + modulo_four(wide * piece);
    const Lanes whole = round_even(fraction);
    fraction = fraction - whole;
    quotient = quotient + whole;
  }
  return {convert_float(fraction * kHalfPi, a.element_type()), to_int(quotient, 32)};
}

// f64: the argument in two halves, 49 pieces in a loop, and the fraction in double-double, since an argument may be as
// near as 2^-61 to a multiple of pi/2 (Muller, "Elementary Functions").
Reduced reduce_huge_f64(Lanes a) {
  auto& builder = a.builder();
  auto& context = a.context();
  // The last pieces would be below the normal numbers: the argument lends them some of its exponent.
  constexpr int kScale = 200;
  const auto pieces = pieces_of_two_over_pi(1024 + 152, kScale);
  a = a * std::ldexp(1.0, -kScale);
  const auto table_type = mlir::VectorType::get({static_cast<int64_t>(pieces.size())}, builder.getF64Type());
  mlir::Value table =
      builder.create<mlir::arith::ConstantOp>(mlir::DenseElementsAttr::get(table_type, llvm::ArrayRef<double>(pieces)));
  const Lanes high = from_bits(bits(a) & ~int64_t{0x7ffffff});
  const Lanes low = a - high;
  mlir::Value begin = builder.create<mlir::arith::ConstantIndexOp>(0);
  mlir::Value end = builder.create<mlir::arith::ConstantIndexOp>(static_cast<int64_t>(pieces.size()));
  mlir::Value step = builder.create<mlir::arith::ConstantIndexOp>(1);
  mlir::Value zero = a.constant(0.0).value();

  auto loop = builder.create<mlir::scf::ForOp>(begin, end, step, mlir::ValueRange{zero, zero, zero});
  {
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Lanes sum(context, loop.getRegionIterArg(0)), rest(context, loop.getRegionIterArg(1)),
        quotient(context, loop.getRegionIterArg(2));
    mlir::Value scalar = builder.create<mlir::vector::ExtractElementOp>(
        table, builder.create<mlir::arith::IndexCastOp>(builder.getI64Type(), loop.getInductionVar()).getResult());
    if (llvm::isa<mlir::VectorType>(a.value().getType())) {
      scalar = builder.create<mlir::vector::BroadcastOp>(a.value().getType(), scalar);
    }
    const Lanes piece(context, scalar);
    for (const Lanes half : {high, low}) {
      // An exact sum of two numbers (Knuth): sum + product = next + error.
      const Lanes product = modulo_four(half * piece);
      const Lanes next = sum + product;
      const Lanes part = next - sum;
      rest = rest + ((sum - (next - part)) + (product - part));
      const Lanes whole = round_even(next);
      quotient = quotient + whole;
      const Lanes fraction = next - whole;
      sum = fraction + rest;
      const Lanes rest_part = sum - fraction;
      rest = (fraction - (sum - rest_part)) + (rest - rest_part);
    }
    builder.create<mlir::scf::YieldOp>(mlir::ValueRange{sum.value(), rest.value(), quotient.value()});
  }
  const Lanes fraction = Lanes(context, loop.getResult(0)) + Lanes(context, loop.getResult(1));
  // The quotient is small: adding 1.5 * 2^52 leaves it in the last bits.
  return {fraction * kHalfPi, bits(Lanes(context, loop.getResult(2)) + Format::of(a).rounding_shift())};
}

Reduced reduce_moderate(Lanes a) {
  const double shift = Format::of(a).rounding_shift();
  const Lanes shifted = fma(a, kTwoOverPi, shift);
  const Lanes n = shifted - shift;
  if (a.width() == 64) {
    // 33, 33 and 53 bits: the first two products are exact, with a fused multiply-add or without.
    const Lanes r = fma(n, -0x1.3198a2e037073p-69, fma(n, -0x1.0b4611a6p-34, fma(n, -0x1.921fb544p+0, a)));
    return {r, bits(shifted)};
  }
  if (a.context().has_fma) {
    // Three times 24 bits. The first step is exact: a and n * 1.57 are multiples of 2^-23 (or n <= 1), and r < 1.
    const Lanes r = fma(n, 0x1.ee59dap-50, fma(n, 0x1.777a5cp-25, fma(n, -0x1.921fb6p+0, a)));
    return {r, bits(shifted)};
  }
  const auto f64 = a.builder().getF64Type();
  const Lanes n64 = convert_float(n, f64);
  const Lanes r = fma(n64, -0x1.0b4611a626331p-34, fma(n64, -0x1.921fb544p+0, convert_float(a, f64)));
  return {convert_float(r, a.element_type()), bits(shifted)};
}

mlir::Value any_lane(Lanes condition) {
  auto& builder = condition.builder();
  auto type = llvm::dyn_cast<mlir::VectorType>(condition.value().getType());
  if (!type) return condition.value();
  mlir::Value flat = condition.value();
  if (type.getRank() != 1) {
    flat = builder.create<mlir::vector::ShapeCastOp>(
        mlir::VectorType::get({type.getNumElements()}, type.getElementType()), flat);
  }
  return builder.create<mlir::vector::ReductionOp>(mlir::vector::CombiningKind::OR, flat);
}

Reduced reduce(Lanes a) {
  auto& builder = a.builder();
  const Reduced moderate = reduce_moderate(a);
  // Infinities and NaN are huge too: the slow path makes NaN of both.
  const double limit = a.width() == 64 ? kLimitF64 : kLimitF32;
  const Lanes fits = a <= limit;
  const Lanes huge = fits ^ Lanes(a.context(), fits.constant(1).value());
  auto branch = builder.create<mlir::scf::IfOp>(mlir::TypeRange{a.value().getType(), moderate.n.value().getType()},
                                                any_lane(huge), /*withElseRegion=*/true);
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  const Reduced slow = a.width() == 64 ? reduce_huge_f64(a) : reduce_huge_f32(a);
  // The other lanes keep what they had: it is more accurate there, and no lane's result depends on its neighbours.
  builder.create<mlir::scf::YieldOp>(
      mlir::ValueRange{select(huge, slow.r, moderate.r).value(), select(huge, slow.n, moderate.n).value()});
  builder.setInsertionPointToStart(branch.elseBlock());
  builder.create<mlir::scf::YieldOp>(mlir::ValueRange{moderate.r.value(), moderate.n.value()});
  return {Lanes(a.context(), branch.getResult(0)), Lanes(a.context(), branch.getResult(1))};
}

// sin(a + quarter_turns * pi/2) for a >= 0, as bits.
Lanes sine_bits(Lanes a, int quarter_turns) {
  const bool wide = a.width() == 64;
  auto [r, n] = reduce(a);
  if (quarter_turns) n = n + quarter_turns;
  const Lanes s = r * r;
  const Lanes sine = fma(r * s, wide ? polynomial(s, sin_f64) : polynomial(s, sin_f32), r);
  const Lanes cosine = fma(s * s, wide ? polynomial(s, cos_f64) : polynomial(s, cos_f32), fma(s, -0.5, 1.0));
  const Lanes value = select((n & 1) == 0, sine, cosine);
  return bits(value) ^ shift_left(n & 2, static_cast<int>(a.width()) - 2);
}

}  // namespace

Lanes lane_sin(Lanes x) {
  const Lanes a = abs(x);
  return from_bits(sine_bits(a, 0) ^ (bits(x) ^ bits(a)));
}

Lanes lane_cos(Lanes x) { return from_bits(sine_bits(abs(x), 1)); }

}  // namespace deep_accel::compile
