// Scalars of the interpreter: a value, and a bound on what rounding may do to it.
//
// A float is computed in double precision. Its `error` bounds the distance to what any correct program gives that
// computes in the float's own type: each operation adds what it may round (half an ulp; elementary functions some ulps)
// to what its operands' errors become (N. Higham, Accuracy and Stability of Numerical Algorithms, chapters 2 to 4). An
// error of infinity says that nothing is known: a comparison that the operands' errors leave open, a conversion to an
// integer at a step. Integers and booleans have errors too: 0, or infinity.
#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>

#include "deep_accel/base/dtype.h"
#include "deep_accel/base/numeric.h"

namespace deep_accel::tile::interpreter {

inline constexpr double kUnknown = std::numeric_limits<double>::infinity();

struct Scalar {
  union {
    double real;
    int64_t integer;  // sign-extended; i1 is 0 or 1
  };
  double error = 0;
  uint32_t origin = 0;  // not 0: the value is undefined, and this is why (Machine::explain)

  Scalar() : integer(0) {}
  static Scalar of_real(double value, double error = 0) {
    Scalar scalar;
    scalar.real = value;
    scalar.error = error;
    return scalar;
  }
  static Scalar of_integer(int64_t value, double error = 0) {
    Scalar scalar;
    scalar.integer = value;
    scalar.error = error;
    return scalar;
  }
  static Scalar undefined(uint32_t origin) {
    Scalar scalar;
    scalar.origin = origin;
    return scalar;
  }
  bool known() const { return error == 0; }
};

// The type of a scalar: one of the floats, or a signless integer of 1 to 64 bits (index has 64).
struct ScalarType {
  bool is_float = false;
  int width = 64;
  DType dtype = DType::f64;  // of floats
};

// Integers ------------------------------------------------------------------------------------------------------------

inline uint64_t unsigned_of(int64_t value, int width) {
  const auto bits = static_cast<uint64_t>(value);
  return width >= 64 ? bits : bits & ((uint64_t{1} << width) - 1);
}
inline int64_t signed_of(int64_t value, int width) {
  if (width >= 64) return value;
  const int shift = 64 - width;
  return static_cast<int64_t>(static_cast<uint64_t>(value) << shift) >> shift;
}
// The form in which integers of a width are held.
inline int64_t wrap(int64_t value, int width) {
  return width == 1 ? static_cast<int64_t>(unsigned_of(value, 1)) : signed_of(value, width);
}

// Rounding ------------------------------------------------------------------------------------------------------------

// Half an ulp of 1, and half the smallest denormal.
inline double unit_roundoff(DType dtype) { return dtype == DType::f32 ? 0x1p-24 : epsilon(dtype) / 2; }
inline double half_smallest(DType dtype) { return dtype == DType::f32 ? 0x1p-150 : dtype == DType::f64 ? 0 : 0x1p-25; }

// |a - b|, where equal infinities and NaNs are no distance apart.
inline double distance(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double apart = std::abs(a - b);
  return std::isnan(apart) ? kUnknown : apart;
}

// factor * error, where no error is none, whatever the factor.
inline double scaled(double factor, double error) { return error == 0 ? 0 : std::abs(factor) * error; }

// How far a monotone function may be from function(x.real), given how far x may be.
template <typename Function>
double monotone_error(const Function& function, const Scalar& x, double result) {
  if (x.error == 0) return 0;
  if (x.error == kUnknown) return kUnknown;
  return std::max(distance(function(x.real + x.error), result), distance(result, function(x.real - x.error)));
}

inline double round_to(DType dtype, double value) {
  if (dtype == DType::f64) return value;
  if (dtype == DType::f32) return static_cast<double>(static_cast<float>(value));
  return decode(dtype, encode(dtype, value));
}

// The value as it is stored in a type: rounded, also what is known of it.
inline Scalar rounded_to(DType dtype, const Scalar& x) {
  auto round = [dtype](double value) { return round_to(dtype, value); };
  const double result = round(x.real);
  Scalar scalar = Scalar::of_real(result, monotone_error(round, x, result));
  scalar.origin = x.origin;
  return scalar;
}

// The result of an operation in a float type: `value` in double precision, `propagated` from the operands. `ulps`: how
// well the type's own operation is rounded.
inline Scalar finish(DType dtype, double value, double propagated, double ulps = 0.5) {
  if (!std::isfinite(value)) return Scalar::of_real(value, propagated < kUnknown ? 0 : kUnknown);
  if (!(propagated < kUnknown)) return Scalar::of_real(value, kUnknown);
  const bool held_wide = dtype == DType::f32 || dtype == DType::f64;
  // What is representable is rounded to itself.
  if (propagated == 0 && ulps == 0.5 && round_to(dtype == DType::f64 ? DType::f32 : dtype, value) == value) {
    return Scalar::of_real(value);
  }
  double error = propagated + 2 * ulps * (unit_roundoff(dtype) * (std::abs(value) + propagated) + half_smallest(dtype));
  if (!held_wide) {
    const double result = round_to(dtype, value);
    return Scalar::of_real(result, error + distance(result, value));
  }
  // Beyond the type's range it has infinities that we do not have.
  const double reach = std::abs(value) + (ulps > 0.5 ? error : propagated);
  if (!std::isfinite(round_to(dtype, reach))) error = kUnknown;
  return Scalar::of_real(value, error);
}

// Arithmetic ----------------------------------------------------------------------------------------------------------

inline Scalar add(DType dtype, const Scalar& a, const Scalar& b) {
  return finish(dtype, a.real + b.real, a.error + b.error);
}
inline Scalar subtract(DType dtype, const Scalar& a, const Scalar& b) {
  return finish(dtype, a.real - b.real, a.error + b.error);
}
inline double product_error(const Scalar& a, const Scalar& b) {
  if (a.error == 0 && b.error == 0) return 0;
  return scaled(a.real, b.error) + scaled(b.real, a.error) + scaled(a.error, b.error);
}
inline Scalar multiply(DType dtype, const Scalar& a, const Scalar& b) {
  return finish(dtype, a.real * b.real, product_error(a, b));
}
inline Scalar divide(DType dtype, const Scalar& a, const Scalar& b) {
  const double quotient = a.real / b.real;
  double error = 0;
  if (a.error != 0 || b.error != 0) {
    const double least = std::abs(b.real) - b.error;
    if (std::isinf(b.real) && b.error < kUnknown) {
      error = a.error < kUnknown ? 0 : kUnknown;
    } else {
      error = least > 0 ? (a.error + scaled(quotient, b.error)) / least : kUnknown;
    }
  }
  return finish(dtype, quotient, error);
}
inline Scalar multiply_add(DType dtype, const Scalar& a, const Scalar& b, const Scalar& c) {
  return finish(dtype, std::fma(a.real, b.real, c.real), product_error(a, b) + c.error);
}
// The larger or smaller; of a NaN and a number the number, or with `propagate` the NaN.
inline Scalar extreme(const Scalar& a, const Scalar& b, bool larger, bool propagate) {
  const double error = std::max(a.error, b.error);
  if (std::isnan(a.real) || std::isnan(b.real)) {
    const bool first = std::isnan(a.real) == propagate;
    return Scalar::of_real(first ? a.real : b.real, error < kUnknown ? (first ? a.error : b.error) : kUnknown);
  }
  return Scalar::of_real(larger ? std::max(a.real, b.real) : std::min(a.real, b.real), error);
}

template <typename Function>
Scalar monotone(DType dtype, const Scalar& x, double ulps, const Function& function) {
  const double result = function(x.real);
  return finish(dtype, result, monotone_error(function, x, result), ulps);
}

// Conversions ---------------------------------------------------------------------------------------------------------

// Truncates and saturates, NaN gives 0 (base/numeric.h).
inline int64_t truncated(double value, int width, bool is_signed) {
  if (std::isnan(value)) return 0;
  const double whole = std::trunc(value);
  if (is_signed) {
    const double limit = std::ldexp(1.0, width - 1);
    if (whole >= limit) return width == 64 ? INT64_MAX : (int64_t{1} << (width - 1)) - 1;
    if (whole < -limit) return width == 64 ? INT64_MIN : -(int64_t{1} << (width - 1));
    return wrap(static_cast<int64_t>(whole), width);
  }
  if (whole <= 0) return 0;
  if (whole >= std::ldexp(1.0, width)) return wrap(-1, width);
  return wrap(static_cast<int64_t>(static_cast<uint64_t>(whole)), width);
}
inline Scalar to_integer(const Scalar& x, int width, bool is_signed) {
  const int64_t result = truncated(x.real, width, is_signed);
  const bool open = x.error != 0 && (truncated(x.real - x.error, width, is_signed) != result ||
                                     truncated(x.real + x.error, width, is_signed) != result);
  return Scalar::of_integer(result, open ? kUnknown : 0);
}
inline Scalar to_real(const Scalar& x, DType dtype, int width, bool is_signed) {
  const double value =
      is_signed ? static_cast<double>(signed_of(x.integer, width)) : static_cast<double>(unsigned_of(x.integer, width));
  return finish(dtype, value, x.error);
}

}  // namespace deep_accel::tile::interpreter
