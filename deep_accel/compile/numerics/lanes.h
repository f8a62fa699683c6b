// Expressions over lanes: formulas on a scalar or on a fixed-length vector, written as mathematics and emitted as
// arith, math and vector operations. One formula serves every shape: constants are splat to the shape of the other
// side.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace deep_accel::compile {

/// Where expressions are emitted, and what the target can do.
struct LaneContext {
  mlir::ImplicitLocOpBuilder& builder;
  /// False: `fma` is a product and a sum, each rounded (the x86-64 baseline, where llvm.fma is a call into libm).
  bool has_fma = true;
  /// Multiplies by powers of two that are given as floats in one instruction (AVX-512).
  bool has_scalef = false;
};

/// The value of all lanes at once: floating point, integer or i1, a scalar or a vector.
///
/// Operators need both sides of one type. On floating point they are IEEE operations, on integers the wrapping ones.
class Lanes {
 public:
  Lanes(LaneContext& context, mlir::Value value) : context_(&context), value_(value) {}

  mlir::Value value() const { return value_; }
  LaneContext& context() const { return *context_; }
  mlir::ImplicitLocOpBuilder& builder() const { return context_->builder; }
  mlir::Type element_type() const { return mlir::getElementTypeOrSelf(value_.getType()); }
  unsigned width() const { return element_type().getIntOrFloatBitWidth(); }
  bool is_float() const { return llvm::isa<mlir::FloatType>(element_type()); }

  /// `element` in the shape of these lanes.
  mlir::Type shaped(mlir::Type element) const;
  /// A constant in every lane, of the type of these lanes.
  Lanes constant(double value) const;
  Lanes constant(int64_t value) const;
  Lanes constant(int value) const { return constant(static_cast<int64_t>(value)); }

 private:
  LaneContext* context_;
  mlir::Value value_;
};

Lanes operator+(Lanes a, Lanes b);
Lanes operator-(Lanes a, Lanes b);
Lanes operator*(Lanes a, Lanes b);
Lanes operator/(Lanes a, Lanes b);
Lanes operator-(Lanes a);
Lanes operator&(Lanes a, Lanes b);
Lanes operator|(Lanes a, Lanes b);
Lanes operator^(Lanes a, Lanes b);

// A constant on either side takes the type of the other; one that is integral serves both kinds of lanes.
template <typename T>
concept LaneConstant = std::is_arithmetic_v<T>;

template <LaneConstant T>
Lanes constant_like(Lanes a, T value) {
  if (a.is_float()) return a.constant(static_cast<double>(value));
  return a.constant(static_cast<int64_t>(value));
}

template <LaneConstant T>
Lanes operator+(Lanes a, T b) {
  return a + constant_like(a, b);
}
template <LaneConstant T>
Lanes operator-(Lanes a, T b) {
  return a - constant_like(a, b);
}
template <LaneConstant T>
Lanes operator*(Lanes a, T b) {
  return a * constant_like(a, b);
}
template <LaneConstant T>
Lanes operator&(Lanes a, T b) {
  return a & constant_like(a, b);
}
template <LaneConstant T>
Lanes operator|(Lanes a, T b) {
  return a | constant_like(a, b);
}
template <LaneConstant T>
Lanes operator^(Lanes a, T b) {
  return a ^ constant_like(a, b);
}
template <LaneConstant T>
Lanes operator+(T a, Lanes b) {
  return constant_like(b, a) + b;
}
template <LaneConstant T>
Lanes operator-(T a, Lanes b) {
  return constant_like(b, a) - b;
}
template <LaneConstant T>
Lanes operator/(T a, Lanes b) {
  return constant_like(b, a) / b;
}

Lanes shift_left(Lanes a, int count);
Lanes shift_right(Lanes a, int count);         ///< zeros come in
Lanes shift_right_signed(Lanes a, int count);  ///< copies of the sign come in

/// Ordered comparisons of floating point (false for NaN), signed ones of integers; a != b is true for NaN.
Lanes operator<(Lanes a, Lanes b);
Lanes operator<=(Lanes a, Lanes b);
Lanes operator>(Lanes a, Lanes b);
Lanes operator==(Lanes a, Lanes b);
Lanes operator!=(Lanes a, Lanes b);
template <LaneConstant T>
Lanes operator<(Lanes a, T b) {
  return a < constant_like(a, b);
}
template <LaneConstant T>
Lanes operator<=(Lanes a, T b) {
  return a <= constant_like(a, b);
}
template <LaneConstant T>
Lanes operator>(Lanes a, T b) {
  return a > constant_like(a, b);
}
template <LaneConstant T>
Lanes operator==(Lanes a, T b) {
  return a == constant_like(a, b);
}
template <LaneConstant T>
Lanes operator!=(Lanes a, T b) {
  return a != constant_like(a, b);
}
Lanes is_nan(Lanes a);

Lanes select(Lanes condition, Lanes a, Lanes b);
template <LaneConstant T>
Lanes select(Lanes condition, T a, Lanes b) {
  return select(condition, constant_like(b, a), b);
}
template <LaneConstant T>
Lanes select(Lanes condition, Lanes a, T b) {
  return select(condition, a, constant_like(a, b));
}

/// The smaller of x and the constant, and NaN for NaN (one instruction on x86).
Lanes at_most(Lanes x, double limit);
Lanes at_least(Lanes x, double limit);

Lanes unsigned_min(Lanes a, Lanes b);  ///< of integers

Lanes abs(Lanes a);
Lanes fma(Lanes a, Lanes b, Lanes c);  ///< a * b + c
template <LaneConstant T>
Lanes fma(Lanes a, T b, Lanes c) {
  return fma(a, constant_like(a, b), c);
}
template <LaneConstant T>
Lanes fma(Lanes a, Lanes b, T c) {
  return fma(a, b, constant_like(a, c));
}
template <LaneConstant T, LaneConstant U>
Lanes fma(Lanes a, T b, U c) {
  return fma(a, constant_like(a, b), constant_like(a, c));
}
/// x * 2^n for integral n of any size, rounded once; where the context has_scalef.
Lanes scale_by_power(Lanes x, Lanes n);
/// To the nearest integer, ties to the even one.
Lanes round_even(Lanes a);
/// The magnitude of `magnitude` (which must not be negative) with the sign of `sign`.
Lanes with_sign_of(Lanes magnitude, Lanes sign);

/// c[0] + c[1] x + c[2] x^2 + ..., by Horner's rule.
Lanes polynomial(Lanes x, std::span<const double> coefficients);
inline Lanes polynomial(Lanes x, std::initializer_list<double> coefficients) {
  return polynomial(x, std::span<const double>(coefficients.begin(), coefficients.size()));
}

/// The bits of floating point lanes as integers of the same width, and back.
Lanes bits(Lanes a);
Lanes from_bits(Lanes a);

/// Conversions of value to another element type of the same kind; floating point rounds to nearest even.
Lanes convert_float(Lanes a, mlir::Type element);
Lanes zero_extend(Lanes a, unsigned width);
Lanes sign_extend(Lanes a, unsigned width);
Lanes truncate(Lanes a, unsigned width);
/// Signed integers to floating point, and back (the value must be in range).
Lanes to_float(Lanes a, mlir::Type element);
Lanes to_int(Lanes a, unsigned width);

}  // namespace deep_accel::compile
