// Functions of scalars, and conversions between their types.
#include <cmath>
#include <limits>

#include "deep_accel/base/numeric.h"
#include "deep_accel/tile/builder/operands.h"

namespace deep_accel::tile {

namespace arith = mlir::arith;
namespace math = mlir::math;

namespace {

// A function of one float.
template <typename Op, typename Function>
Scalar elementary(const Operand& x, Function&& on_literal) {
  auto state = state_of({&x});
  if (!state) return on_literal(number(x));
  const ScalarType type = is_float(x.scalar().type()) ? x.scalar().type() : ScalarType::f32;
  return state->wrap(state->folded<Op>(state->value(x.scalar(), type)));
}

// A rounding of one float; integers are whole already.
template <typename Op, typename Function>
Scalar rounding(const Operand& x, Function&& on_literal) {
  return x.scalar().is_floating() ? elementary<Op>(x, on_literal) : x.scalar();
}

// By squaring, so that huge exponents (of -1, 0 and 1; of others the product overflows) end too.
Scalar whole_power(const Operand& x, int64_t exponent) {
  Scalar result = 1, square = x.scalar();
  while (exponent > 0) {
    if (exponent % 2 != 0) result = Operand(result, x.where()) * Operand(square, x.where());
    exponent /= 2;
    if (exponent > 0) square = Operand(square, x.where()) * Operand(square, x.where());
  }
  return result;
}

}  // namespace

// Functions
// -------------------------------------------------------------------------------------------------------------

Scalar exp(const Operand& x) {
  return elementary<math::ExpOp>(x, [](double v) { return std::exp(v); });
}
Scalar exp2(const Operand& x) {
  return elementary<math::Exp2Op>(x, [](double v) { return std::exp2(v); });
}
Scalar expm1(const Operand& x) {
  return elementary<math::ExpM1Op>(x, [](double v) { return std::expm1(v); });
}
Scalar log(const Operand& x) {
  return elementary<math::LogOp>(x, [](double v) { return std::log(v); });
}
Scalar log2(const Operand& x) {
  return elementary<math::Log2Op>(x, [](double v) { return std::log2(v); });
}
Scalar log1p(const Operand& x) {
  return elementary<math::Log1pOp>(x, [](double v) { return std::log1p(v); });
}
Scalar sqrt(const Operand& x) {
  return elementary<math::SqrtOp>(x, [](double v) { return std::sqrt(v); });
}
Scalar rsqrt(const Operand& x) {
  return elementary<math::RsqrtOp>(x, [](double v) { return 1 / std::sqrt(v); });
}
Scalar sin(const Operand& x) {
  return elementary<math::SinOp>(x, [](double v) { return std::sin(v); });
}
Scalar cos(const Operand& x) {
  return elementary<math::CosOp>(x, [](double v) { return std::cos(v); });
}
Scalar tanh(const Operand& x) {
  return elementary<math::TanhOp>(x, [](double v) { return std::tanh(v); });
}
Scalar erf(const Operand& x) {
  return elementary<math::ErfOp>(x, [](double v) { return std::erf(v); });
}
Scalar floor(const Operand& x) {
  return rounding<math::FloorOp>(x, [](double v) { return std::floor(v); });
}
Scalar ceil(const Operand& x) {
  return rounding<math::CeilOp>(x, [](double v) { return std::ceil(v); });
}
Scalar trunc(const Operand& x) {
  return rounding<math::TruncOp>(x, [](double v) { return std::trunc(v); });
}
Scalar round(const Operand& x) {
  return rounding<math::RoundEvenOp>(x, [](double v) { return std::nearbyint(v); });
}

// log(x) / log(10), sin / cos: the dialect's vector mathematics has neither of its own.
Scalar log10(const Operand& x) {
  if (!x.scalar().state()) return std::log10(number(x));
  return Operand(log2(x), x.where()) * Operand(0.30102999566398119521, x.where());
}
Scalar tan(const Operand& x) {
  if (!x.scalar().state()) return std::tan(number(x));
  return Operand(sin(x), x.where()) / Operand(cos(x), x.where());
}
Scalar sigmoid(const Operand& x) {
  if (!x.scalar().state()) return 1 / (1 + std::exp(-number(x)));
  const auto& where = x.where();
  return Operand(1.0, where) / Operand(Operand(1.0, where) + Operand(exp(Operand(-x, where)), where), where);
}

Scalar abs(const Operand& x) {
  if (x.scalar().is_floating()) return elementary<math::AbsFOp>(x, [](double v) { return std::fabs(v); });
  auto state = state_of({&x});
  if (!state) return integer(x) < 0 ? -x : x.scalar();
  if (x.scalar().is_boolean()) return x.scalar();
  return state->wrap(state->folded<math::AbsIOp>(state->value(x.scalar())));
}

Scalar pow(const Operand& x, const Operand& y) {
  const Pair pair(x, y);
  if (!pair.state) {
    if (!both_integers(x, y) || integer(y) < 0) return std::pow(number(x), number(y));
    return whole_power(x, integer(y));
  }
  // Small whole powers by multiplication.
  if (auto exponent = y.scalar().constant(); exponent && *exponent >= 1 && *exponent <= 4) {
    Scalar result = x.scalar();
    for (int64_t i = 1; i < *exponent; ++i) result = Operand(result, x.where()) * x;
    return result;
  }
  BuilderState& state = *pair.state;
  if (pair.floating()) return state.wrap(state.folded<math::PowFOp>(pair.a, pair.b));
  return state.wrap(
      state.folded<math::PowFOp>(state.convert(pair.a, ScalarType::f32), state.convert(pair.b, ScalarType::f32)));
}

Scalar fma(const Operand& a, const Operand& b, const Operand& c) {
  auto state = state_of({&a, &b, &c});
  if (!state) return std::fma(number(a), number(b), number(c));
  ScalarType type = BuilderState::common_type(a.scalar(), b.scalar());
  if (c.scalar().type() == ScalarType::f64 && !c.scalar().is_literal()) type = ScalarType::f64;
  if (!is_float(type)) type = ScalarType::f32;
  return state->wrap(state->folded<math::FmaOp>(state->value(a.scalar(), type), state->value(b.scalar(), type),
                                                state->value(c.scalar(), type)));
}

Scalar is_nan(const Operand& x) { return x.scalar().is_floating() ? x != x : Scalar(false); }
Scalar is_inf(const Operand& x) {
  if (!x.scalar().is_floating()) return false;
  return Operand(abs(x), x.where()) == Operand(std::numeric_limits<double>::infinity(), x.where());
}

// Conversions
// -----------------------------------------------------------------------------------------------------------

Scalar cast(const Operand& x, ScalarType type) {
  auto state = state_of({&x});
  if (state) return state->wrap(state->value(x.scalar(), type));
  if (type == ScalarType::boolean) return number(x) != 0;
  if (is_float(type)) return number(x);
  return x.scalar().is_floating() ? decode_integer(DType::i64, encode(DType::i64, number(x))) : integer(x);
}

Scalar cast(const Operand& x, DType dtype) {
  const ScalarType type = compute_type(dtype);
  auto state = state_of({&x});
  if (!state) {
    if (dtype == DType::boolean) return number(x) != 0;
    if (deep_accel::is_float(dtype)) return decode(dtype, encode(dtype, number(x)));
    return decode_integer(dtype,
                          x.scalar().is_floating() ? encode(dtype, number(x)) : encode_integer(dtype, integer(x)));
  }
  mlir::Value value = state->value(x.scalar(), type);
  const mlir::Type wide = value.getType();
  if (dtype == DType::u8) {
    // Through the low bits, which stay non-negative.
    return state->wrap(state->folded<arith::AndIOp>(value, state->integer_constant(type, 0xff)));
  }
  const mlir::Type narrow = state->storage_type(dtype);
  if (narrow == wide) return state->wrap(value);
  if (dtype == DType::f4e2m1) {
    state->fail<UnsupportedError>(
        "cast: f4e2m1 exists in buffers only; write the value to a buffer of that dtype and read it");
  }
  if (deep_accel::is_float(dtype)) {
    return state->wrap(state->folded<arith::ExtFOp>(wide, state->create<arith::TruncFOp>(narrow, value).getResult()));
  }
  return state->wrap(state->folded<arith::ExtSIOp>(wide, state->create<arith::TruncIOp>(narrow, value).getResult()));
}

Scalar reinterpret(const Operand& x, DType from, DType to) {
  auto state = state_of({&x});
  if (bits(from) != bits(to)) {
    const std::string message = "reinterpret: both dtypes must have the same width, got " + std::string(name(from)) +
                                " and " + std::string(name(to)) + "; use cast to convert the value";
    if (state) state->fail<TypeError>(message);
    throw TypeError(message);
  }
  if (!state) {
    const uint64_t pattern = deep_accel::is_float(from) ? encode(from, number(x)) : encode_integer(from, integer(x));
    return deep_accel::is_float(to) ? Scalar(decode(to, pattern)) : Scalar(decode_integer(to, pattern));
  }
  if (is_packed(from)) {
    state->fail<UnsupportedError>("reinterpret: packed dtypes have no scalar bits; bitcast the buffer to u8 instead");
  }
  // Narrow to the bits, look at them as the other type, widen again.
  mlir::Value value = state->value(x.scalar(), compute_type(from));
  auto bits_type = state->builder.getIntegerType(static_cast<unsigned>(bits(from)));
  if (deep_accel::is_float(from)) {
    const mlir::Type narrow = state->storage_type(from);
    if (narrow != value.getType()) value = state->folded<arith::TruncFOp>(narrow, value);
    value = state->folded<arith::BitcastOp>(bits_type, value);
  } else if (value.getType() != bits_type) {
    value = state->create<arith::TruncIOp>(bits_type, value);
  }
  const mlir::Type wide = state->mlir_type(compute_type(to));
  if (deep_accel::is_float(to)) {
    value = state->create<arith::BitcastOp>(state->storage_type(to), value);
    if (value.getType() != wide) value = state->create<arith::ExtFOp>(wide, value);
  } else if (value.getType() != wide) {
    value = to == DType::u8 ? mlir::Value(state->create<arith::ExtUIOp>(wide, value))
                            : mlir::Value(state->create<arith::ExtSIOp>(wide, value));
  }
  return state->wrap(value);
}

}  // namespace deep_accel::tile
