// Arithmetic on scalars: at once on literals, as operations of the kernel on everything else.
#include "deep_accel/tile/scalar.h"

#include <cmath>
#include <limits>

#include "deep_accel/base/numeric.h"
#include "deep_accel/tile/builder/operands.h"

namespace deep_accel::tile {

namespace arith = mlir::arith;

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

}  // namespace deep_accel::tile
