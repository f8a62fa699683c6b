// Arithmetic on scalars: at once on literals, as operations of the kernel on everything else.
#include "deep_accel/tile/scalar.h"

#include <cmath>
#include <limits>

#include "deep_accel/base/numeric.h"
#include "deep_accel/tile/builder/state.h"

namespace deep_accel::tile {

namespace arith = mlir::arith;
namespace math = mlir::math;

std::string_view name(ScalarType type) {
  switch (type) {
    case ScalarType::f64:
      return "f64";
    case ScalarType::f32:
      return "f32";
    case ScalarType::i64:
      return "i64";
    case ScalarType::i32:
      return "i32";
    case ScalarType::boolean:
      return "bool";
    case ScalarType::index:
      return "index";
  }
  return "";
}

ScalarType compute_type(DType dtype) {
  if (dtype == DType::f64) return ScalarType::f64;
  if (is_float(dtype)) return ScalarType::f32;
  if (dtype == DType::i64) return ScalarType::i64;
  return dtype == DType::boolean ? ScalarType::boolean : ScalarType::i32;
}

ScalarType Scalar::type() const {
  switch (literal_) {
    case Literal::none:
      return type_;
    case Literal::floating:
      return ScalarType::f32;
    case Literal::boolean:
      return ScalarType::boolean;
    case Literal::integer:
      return integer_ == static_cast<int32_t>(integer_) ? ScalarType::i32 : ScalarType::i64;
  }
  return type_;
}

std::optional<int64_t> Scalar::constant() const {
  if (literal_ == Literal::integer || literal_ == Literal::boolean) return integer_;
  if (literal_ == Literal::floating) return std::nullopt;
  return constant_index(BuilderState::unwrap(*this));
}

Operand::Operand(const Element& element, Where where) : scalar_(element.read()), where_(where) {}

std::shared_ptr<BuilderState> state_of(std::initializer_list<const Operand*> operands) {
  std::shared_ptr<BuilderState> state;
  for (const Operand* operand : operands) {
    const auto& own = operand->scalar().state();
    if (!own) continue;
    if (!state) state = own;
    state->at(operand->where());
    if (state != own) state->fail("scalars of two kernels meet; values belong to the Builder that made them");
  }
  return state;
}

namespace {

bool is_float(ScalarType type) { return type == ScalarType::f64 || type == ScalarType::f32; }

// Both operands in their common type, and the builder that holds them.
struct Pair {
  std::shared_ptr<BuilderState> state;  // null: both are literals
  ScalarType type;
  mlir::Value a, b;

  Pair(const Operand& x, const Operand& y, bool arithmetic = true) : state(state_of({&x, &y})) {
    type = BuilderState::common_type(x.scalar(), y.scalar());
    if (arithmetic && type == ScalarType::boolean) type = ScalarType::i32;
    if (!state) return;
    a = state->value(x.scalar(), type);
    b = state->value(y.scalar(), type);
  }
  bool floating() const { return is_float(type); }
  template <typename Float, typename Integer>
  Scalar emit() const {
    return state->wrap(floating() ? state->folded<Float>(a, b) : state->folded<Integer>(a, b));
  }
};

bool both_integers(const Operand& a, const Operand& b) {
  return !a.scalar().is_floating() && !b.scalar().is_floating();
}

int64_t integer(const Operand& x) { return *x.scalar().constant(); }
double number(const Operand& x) { return x.scalar().number(); }

// `what` on two integer literals; overflow and division by zero are mistakes of the kernel's author.
template <typename Function>
Scalar on_integers(const Operand& a, const Operand& b, const char* what, Function&& function) {
  int64_t result = 0;
  if (!function(integer(a), integer(b), result)) {
    throw ValueError(std::string(a.where().file_name()) + ":" + std::to_string(a.where().line()) + ": " +
                     std::to_string(integer(a)) + " " + what + " " + std::to_string(integer(b)) +
                     " has no value in 64 bits");
  }
  return result;
}

bool divides(int64_t a, int64_t b) { return b != 0 && !(a == std::numeric_limits<int64_t>::min() && b == -1); }

int64_t floored(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

// Whether plain division of the two rounds as floor does.
bool non_negative(const Pair& pair) {
  const Interval a = interval_of(pair.a), b = interval_of(pair.b);
  return a.low && *a.low >= 0 && b.low && *b.low > 0;
}

void require_integers(const Pair& pair, const char* what) {
  if (pair.floating()) {
    pair.state->fail<TypeError>(std::string(what) + " needs integers, got " + std::string(name(pair.type)) +
                                "; convert with cast(x, DType::i32)");
  }
}

Scalar compare(const Operand& a, const Operand& b, arith::CmpFPredicate floats, arith::CmpIPredicate integers,
               bool literal) {
  const Pair pair(a, b, /*arithmetic=*/false);
  if (!pair.state) return literal;
  BuilderState& state = *pair.state;
  if (pair.floating()) return state.wrap(state.folded<arith::CmpFOp>(floats, pair.a, pair.b));
  if (pair.type == ScalarType::boolean && integers != arith::CmpIPredicate::eq &&
      integers != arith::CmpIPredicate::ne) {
    // As numbers: 0 < 1.
    return state.wrap(state.folded<arith::CmpIOp>(integers, state.convert(pair.a, ScalarType::i32),
                                                  state.convert(pair.b, ScalarType::i32)));
  }
  return state.wrap(state.folded<arith::CmpIOp>(integers, pair.a, pair.b));
}

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

// A value as a condition.
mlir::Value condition_value(BuilderState& state, const Operand& x) {
  return state.value(x.scalar(), ScalarType::boolean);
}

}  // namespace

// Arithmetic
// ------------------------------------------------------------------------------------------------------------

Scalar operator+(const Operand& a, const Operand& b) {
  const Pair pair(a, b);
  if (pair.state) return pair.emit<arith::AddFOp, arith::AddIOp>();
  if (!both_integers(a, b)) return number(a) + number(b);
  return on_integers(a, b, "+", [](int64_t x, int64_t y, int64_t& r) { return !__builtin_add_overflow(x, y, &r); });
}

Scalar operator-(const Operand& a, const Operand& b) {
  const Pair pair(a, b);
  if (pair.state) return pair.emit<arith::SubFOp, arith::SubIOp>();
  if (!both_integers(a, b)) return number(a) - number(b);
  return on_integers(a, b, "-", [](int64_t x, int64_t y, int64_t& r) { return !__builtin_sub_overflow(x, y, &r); });
}

Scalar operator*(const Operand& a, const Operand& b) {
  const Pair pair(a, b);
  if (pair.state) return pair.emit<arith::MulFOp, arith::MulIOp>();
  if (!both_integers(a, b)) return number(a) * number(b);
  return on_integers(a, b, "*", [](int64_t x, int64_t y, int64_t& r) { return !__builtin_mul_overflow(x, y, &r); });
}

Scalar operator/(const Operand& a, const Operand& b) {
  const Pair pair(a, b);
  if (pair.state) return pair.emit<arith::DivFOp, arith::DivSIOp>();
  if (!both_integers(a, b)) return number(a) / number(b);
  return on_integers(a, b, "/", [](int64_t x, int64_t y, int64_t& r) { return divides(x, y) && (r = x / y, true); });
}

Scalar operator%(const Operand& a, const Operand& b) {
  const Pair pair(a, b);
  if (pair.state) return pair.emit<arith::RemFOp, arith::RemSIOp>();
  if (!both_integers(a, b)) return std::fmod(number(a), number(b));
  return on_integers(a, b, "%", [](int64_t x, int64_t y, int64_t& r) { return divides(x, y) && (r = x % y, true); });
}

Scalar operator-(const Operand& a) {
  auto state = state_of({&a});
  if (!state) return a.scalar().is_floating() ? Scalar(-number(a)) : Operand(0, a.where()) - a;
  if (a.scalar().is_floating()) return state->wrap(state->folded<arith::NegFOp>(state->value(a.scalar())));
  return Operand(0, a.where()) - a;
}

Scalar floor_div(const Operand& a, const Operand& b) {
  const Pair pair(a, b);
  if (!pair.state) {
    if (!both_integers(a, b)) return std::floor(number(a) / number(b));
    return on_integers(a, b, "//",
                       [](int64_t x, int64_t y, int64_t& r) { return divides(x, y) && (r = floored(x, y), true); });
  }
  if (pair.floating()) return floor(Operand(a / b, a.where()));
  BuilderState& state = *pair.state;
  return state.wrap(non_negative(pair) ? state.folded<arith::DivSIOp>(pair.a, pair.b)
                                       : state.folded<arith::FloorDivSIOp>(pair.a, pair.b));
}

Scalar floor_mod(const Operand& a, const Operand& b) {
  const Pair pair(a, b);
  if (!pair.state) {
    if (!both_integers(a, b)) return number(a) - std::floor(number(a) / number(b)) * number(b);
    return on_integers(
        a, b, "%", [](int64_t x, int64_t y, int64_t& r) { return divides(x, y) && (r = x - floored(x, y) * y, true); });
  }
  if (!pair.floating() && non_negative(pair))
    return pair.state->wrap(pair.state->folded<arith::RemSIOp>(pair.a, pair.b));
  const auto& where = a.where();
  return a - Operand(Operand(floor_div(a, b), where) * b, where);
}

Scalar ceil_div(const Operand& a, const Operand& b) {
  const Pair pair(a, b);
  if (!pair.state) {
    if (!both_integers(a, b)) return std::ceil(number(a) / number(b));
    return on_integers(a, b, "ceil_div", [](int64_t x, int64_t y, int64_t& r) {
      return divides(x, y) && (r = floored(x, y) + (x % y != 0), true);
    });
  }
  if (pair.floating()) return ceil(Operand(a / b, a.where()));
  return pair.state->wrap(pair.state->folded<arith::CeilDivSIOp>(pair.a, pair.b));
}

// Bits
// ------------------------------------------------------------------------------------------------------------------

namespace {
template <typename Op, typename Function>
Scalar bitwise(const Operand& a, const Operand& b, const char* what, Function&& function) {
  const Pair pair(a, b, /*arithmetic=*/false);
  if (pair.state) {
    require_integers(pair, what);
    return pair.state->wrap(pair.state->folded<Op>(pair.a, pair.b));
  }
  if (!both_integers(a, b)) throw TypeError(std::string(what) + " needs integers, got a fraction");
  const int64_t result = function(integer(a), integer(b));
  return a.scalar().is_boolean() && b.scalar().is_boolean() ? Scalar(result != 0) : Scalar(result);
}
}  // namespace

Scalar operator&(const Operand& a, const Operand& b) {
  return bitwise<arith::AndIOp>(a, b, "&", [](int64_t x, int64_t y) { return x & y; });
}
Scalar operator|(const Operand& a, const Operand& b) {
  return bitwise<arith::OrIOp>(a, b, "|", [](int64_t x, int64_t y) { return x | y; });
}
Scalar operator^(const Operand& a, const Operand& b) {
  return bitwise<arith::XOrIOp>(a, b, "^", [](int64_t x, int64_t y) { return x ^ y; });
}
Scalar operator<<(const Operand& a, const Operand& b) {
  return bitwise<arith::ShLIOp>(a, b, "<<", [](int64_t x, int64_t y) {
    return y < 0 || y > 63 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(x) << y);
  });
}
Scalar operator>>(const Operand& a, const Operand& b) {
  return bitwise<arith::ShRSIOp>(a, b, ">>", [](int64_t x, int64_t y) { return x >> std::clamp<int64_t>(y, 0, 63); });
}
Scalar operator~(const Operand& a) {
  if (a.scalar().is_boolean()) return !a;
  return a ^ Operand(-1, a.where());
}

// Comparisons and logic
// -------------------------------------------------------------------------------------------------

Scalar operator<(const Operand& a, const Operand& b) {
  return compare(a, b, arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt, number(a) < number(b));
}
Scalar operator<=(const Operand& a, const Operand& b) {
  return compare(a, b, arith::CmpFPredicate::OLE, arith::CmpIPredicate::sle, number(a) <= number(b));
}
Scalar operator>(const Operand& a, const Operand& b) {
  return compare(a, b, arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt, number(a) > number(b));
}
Scalar operator>=(const Operand& a, const Operand& b) {
  return compare(a, b, arith::CmpFPredicate::OGE, arith::CmpIPredicate::sge, number(a) >= number(b));
}
Scalar operator==(const Operand& a, const Operand& b) {
  return compare(a, b, arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq, number(a) == number(b));
}
Scalar operator!=(const Operand& a, const Operand& b) {
  return compare(a, b, arith::CmpFPredicate::UNE, arith::CmpIPredicate::ne, number(a) != number(b));
}

Scalar operator&&(const Operand& a, const Operand& b) {
  auto state = state_of({&a, &b});
  if (!state) return number(a) != 0 && number(b) != 0;
  return state->wrap(state->folded<arith::AndIOp>(condition_value(*state, a), condition_value(*state, b)));
}
Scalar operator||(const Operand& a, const Operand& b) {
  auto state = state_of({&a, &b});
  if (!state) return number(a) != 0 || number(b) != 0;
  return state->wrap(state->folded<arith::OrIOp>(condition_value(*state, a), condition_value(*state, b)));
}
Scalar operator!(const Operand& a) {
  auto state = state_of({&a});
  if (!state) return number(a) == 0;
  return state->wrap(state->folded<arith::XOrIOp>(condition_value(*state, a), state->constant(ScalarType::boolean, 1)));
}

Scalar select(const Operand& condition, const Operand& a, const Operand& b) {
  auto state = state_of({&condition, &a, &b});
  if (!state || condition.scalar().is_literal()) return number(condition) != 0 ? a.scalar() : b.scalar();
  const ScalarType type = BuilderState::common_type(a.scalar(), b.scalar());
  return state->wrap(state->folded<arith::SelectOp>(condition_value(*state, condition), state->value(a.scalar(), type),
                                                    state->value(b.scalar(), type)));
}

Scalar min(const Operand& a, const Operand& b) {
  const Pair pair(a, b);
  if (pair.state) return pair.emit<arith::MinNumFOp, arith::MinSIOp>();
  return both_integers(a, b) ? Scalar(std::min(integer(a), integer(b))) : Scalar(std::fmin(number(a), number(b)));
}
Scalar max(const Operand& a, const Operand& b) {
  const Pair pair(a, b);
  if (pair.state) return pair.emit<arith::MaxNumFOp, arith::MaxSIOp>();
  return both_integers(a, b) ? Scalar(std::max(integer(a), integer(b))) : Scalar(std::fmax(number(a), number(b)));
}
Scalar clamp(const Operand& value, const Operand& low, const Operand& high) {
  return min(Operand(max(value, low), value.where()), high);
}

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
    Scalar result = 1;
    for (int64_t i = 0; i < integer(y); ++i) result = Operand(result, x.where()) * x;
    return result;
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
  return x.scalar().is_floating() ? static_cast<int64_t>(number(x)) : integer(x);
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
