// Elementary functions of the math dialect, through libm in double precision, with what their operands' errors become.
#include <bit>

#include "deep_accel/tile/interpreter/decode_scalar.h"

namespace deep_accel::tile::interpreter {

namespace math = mlir::math;

namespace {

// Functions that rise or fall throughout: the ends of an interval bound what lies between.
using Real = double (*)(double);

Scalar step(const Scalar& x, Real function) {
  const double result = function(x.real);
  return Scalar::of_real(result, monotone_error(function, x, result));
}

double round_half_even(double x) { return std::rint(x); }  // in the default rounding mode

// |sin'|, |cos'| <= 1, and two values are never more than 2 apart.
Scalar wave(DType dtype, const Scalar& x, double ulps, Real function) {
  return finish(dtype, function(x.real), x.error == kUnknown ? kUnknown : std::min(x.error, 2.0), ulps);
}

// Smooth and even: falls to zero and rises again.
Scalar bowl(DType dtype, const Scalar& x, double ulps, Real function) {
  const double result = function(x.real);
  double error = monotone_error(function, x, result);
  if (x.error < kUnknown && std::abs(x.real) < x.error) error = std::max(error, distance(function(0), result));
  return finish(dtype, result, error, ulps);
}

// Rises between its poles.
Scalar tangent(DType dtype, const Scalar& x, double ulps) {
  const double result = std::tan(x.real);
  double error = kUnknown;
  if (x.error == 0) error = 0;
  const double period = std::acos(-1.0);
  auto branch = [&](double at) { return std::floor(at / period + 0.5); };
  if (x.error > 0 && x.error < kUnknown && branch(x.real - x.error) == branch(x.real + x.error)) {
    error = monotone_error([](double at) { return std::tan(at); }, x, result);
  }
  return finish(dtype, result, error, ulps);
}

Scalar arc_tangent(DType dtype, const Scalar& y, const Scalar& x, double ulps) {
  double error = 0;
  if (y.error != 0 || x.error != 0) {
    const double away = std::hypot(x.real, y.real) - (x.error + y.error);
    const bool may_turn = x.real - x.error < 0 && std::abs(y.real) <= y.error;  // across the cut, by a whole turn
    error = away > 0 && !may_turn ? (x.error + y.error) / away : kUnknown;
  }
  return finish(dtype, std::atan2(y.real, x.real), error, ulps);
}

// Monotone in the base's absolute value and in the exponent, so that the corners bound what lies between; a base that
// may have either sign only where nothing is raised to an uncertain power.
Scalar power(DType dtype, const Scalar& base, const Scalar& exponent, double ulps) {
  const double result = std::pow(base.real, exponent.real);
  double error = 0;
  if (base.error == kUnknown || exponent.error == kUnknown) {
    error = kUnknown;
  } else if (base.error != 0 || exponent.error != 0) {
    const double low = base.real - base.error, high = base.real + base.error;
    const bool one_sign = low > 0 || (high < 0 && exponent.error == 0);
    if (!one_sign && !(exponent.error == 0 && exponent.real >= 0)) {
      error = kUnknown;
    } else {
      for (double b : {low, high}) {
        for (double e : {exponent.real - exponent.error, exponent.real + exponent.error}) {
          error = std::max(error, distance(std::pow(b, e), result));
        }
      }
      if (!one_sign) error = std::max(error, distance(std::pow(0, exponent.real), result));
    }
  }
  return finish(dtype, result, error, ulps);
}

Scalar copy_sign(const Scalar& x, const Scalar& sign) {
  const bool open = sign.error != 0 && !(std::abs(sign.real) > sign.error);
  return Scalar::of_real(std::copysign(x.real, sign.real), open ? x.error + 2 * std::abs(x.real) : x.error);
}

// By squaring, wrapping. A negative exponent gives 1 / base^n truncated: 0 but for bases 1 and -1.
int64_t integer_power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    return 0;
  }
  uint64_t result = 1, factor = static_cast<uint64_t>(base);
  for (auto rest = static_cast<uint64_t>(exponent); rest != 0; rest >>= 1) {
    if (rest & 1) result *= factor;
    factor *= factor;
  }
  return static_cast<int64_t>(result);
}

}  // namespace

bool ScalarDecoder::mathematics() {
  const DType dtype = type_.dtype;
  const int width = type_.width;
  // What the machine's options allow a function is asked at run time.
  auto function = [&](auto apply) {
    const Slot a = operand(0), to = result();
    decoder_.emit(op_, [=](Thread& t) {
      const Scalar& x = t.scalars[a];
      t.scalars[to] = x.origin != 0 ? x : apply(x, t.machine.options().math_ulps);
    });
    return true;
  };
  auto monotone_function = [&](Real real, bool correctly_rounded = false) {
    return function(
        [=](const Scalar& x, double ulps) { return monotone(dtype, x, correctly_rounded ? 0.5 : ulps, real); });
  };
  auto function2 = [&](auto apply) {
    const Slot a = operand(0), b = operand(1), to = result();
    decoder_.emit(op_, [=](Thread& t) {
      const Scalar &x = t.scalars[a], &y = t.scalars[b];
      t.scalars[to] = x.origin != 0 ? x : y.origin != 0 ? y : apply(x, y, t.machine.options().math_ulps);
    });
    return true;
  };
  auto steps = [&](Real real) { return unary([=](const Scalar& x) { return step(x, real); }); };
  auto bit_count = [&](auto count) {
    return unary([=](const Scalar& x) {
      return Scalar::of_integer(wrap(count(unsigned_of(x.integer, width)), width), x.error);
    });
  };

  return llvm::TypeSwitch<mlir::Operation*, bool>(op_)
      .Case([&](math::AbsFOp) { return unary([](auto& x) { return Scalar::of_real(std::abs(x.real), x.error); }); })
      .Case([&](math::CeilOp) { return steps([](double x) { return std::ceil(x); }); })
      .Case([&](math::FloorOp) { return steps([](double x) { return std::floor(x); }); })
      .Case([&](math::TruncOp) { return steps([](double x) { return std::trunc(x); }); })
      .Case([&](math::RoundOp) { return steps([](double x) { return std::round(x); }); })
      .Case([&](math::RoundEvenOp) { return steps(round_half_even); })
      .Case([&](math::CopySignOp) { return binary(copy_sign); })
      .Case(
          [&](math::FmaOp) { return ternary([=](auto& a, auto& b, auto& c) { return multiply_add(dtype, a, b, c); }); })
      .Case([&](math::SqrtOp) { return monotone_function([](double x) { return std::sqrt(x); }, true); })
      .Case([&](math::RsqrtOp) { return monotone_function([](double x) { return 1 / std::sqrt(x); }); })
      .Case([&](math::CbrtOp) { return monotone_function([](double x) { return std::cbrt(x); }); })
      .Case([&](math::ExpOp) { return monotone_function([](double x) { return std::exp(x); }); })
      .Case([&](math::Exp2Op) { return monotone_function([](double x) { return std::exp2(x); }); })
      .Case([&](math::ExpM1Op) { return monotone_function([](double x) { return std::expm1(x); }); })
      .Case([&](math::LogOp) { return monotone_function([](double x) { return std::log(x); }); })
      .Case([&](math::Log2Op) { return monotone_function([](double x) { return std::log2(x); }); })
      .Case([&](math::Log10Op) { return monotone_function([](double x) { return std::log10(x); }); })
      .Case([&](math::Log1pOp) { return monotone_function([](double x) { return std::log1p(x); }); })
      .Case([&](math::ErfOp) { return monotone_function([](double x) { return std::erf(x); }); })
      .Case([&](math::TanhOp) { return monotone_function([](double x) { return std::tanh(x); }); })
      .Case([&](math::SinhOp) { return monotone_function([](double x) { return std::sinh(x); }); })
      .Case([&](math::AsinOp) { return monotone_function([](double x) { return std::asin(x); }); })
      .Case([&](math::AcosOp) { return monotone_function([](double x) { return std::acos(x); }); })
      .Case([&](math::AtanOp) { return monotone_function([](double x) { return std::atan(x); }); })
      .Case([&](math::AsinhOp) { return monotone_function([](double x) { return std::asinh(x); }); })
      .Case([&](math::AcoshOp) { return monotone_function([](double x) { return std::acosh(x); }); })
      .Case([&](math::AtanhOp) { return monotone_function([](double x) { return std::atanh(x); }); })
      .Case([&](math::CoshOp) {
        return function(
            [=](auto& x, double ulps) { return bowl(dtype, x, ulps, [](double at) { return std::cosh(at); }); });
      })
      .Case([&](math::SinOp) {
        return function(
            [=](auto& x, double ulps) { return wave(dtype, x, ulps, [](double at) { return std::sin(at); }); });
      })
      .Case([&](math::CosOp) {
        return function(
            [=](auto& x, double ulps) { return wave(dtype, x, ulps, [](double at) { return std::cos(at); }); });
      })
      .Case([&](math::TanOp) { return function([=](auto& x, double ulps) { return tangent(dtype, x, ulps); }); })
      .Case([&](math::Atan2Op) {
        return function2([=](auto& y, auto& x, double ulps) { return arc_tangent(dtype, y, x, ulps); });
      })
      .Case([&](math::PowFOp) {
        return function2([=](auto& x, auto& y, double ulps) { return power(dtype, x, y, ulps); });
      })
      .Case([&](math::FPowIOp) {
        // Repeated products round once for each bit of the exponent, twice where it is set.
        return function2([=](auto& x, auto& y, double ulps) {
          const double products = 2 * std::log2(std::abs(static_cast<double>(y.integer)) + 1) + 1;
          const Scalar exponent = Scalar::of_real(static_cast<double>(y.integer), y.error);
          return power(dtype, x, exponent, std::max(ulps, products));
        });
      })
      .Case([&](math::AbsIOp) {
        return unary([=](auto& x) {
          const int64_t value = signed_of(x.integer, width);
          return Scalar::of_integer(
              wrap(value < 0 ? static_cast<int64_t>(0 - static_cast<uint64_t>(value)) : value, width), x.error);
        });
      })
      .Case([&](math::IPowIOp) {
        return integers([=](int64_t a, int64_t b) { return integer_power(signed_of(a, width), signed_of(b, width)); });
      })
      .Case([&](math::CtPopOp) { return bit_count([](uint64_t x) { return int64_t{std::popcount(x)}; }); })
      .Case([&](math::CountLeadingZerosOp) {
        return bit_count([=](uint64_t x) { return int64_t{std::countl_zero(x)} - (64 - width); });
      })
      .Case([&](math::CountTrailingZerosOp) {
        return bit_count([=](uint64_t x) { return std::min(int64_t{std::countr_zero(x)}, int64_t{width}); });
      })
      .Default(false);
}

}  // namespace deep_accel::tile::interpreter
