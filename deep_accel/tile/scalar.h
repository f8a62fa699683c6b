// Scalars of a kernel that is being built: numbers known now (literals), and values that the kernel computes when it
// runs.
//
// Arithmetic on two literals is done at once; anything else becomes an operation of the kernel, placed where the
// builder stands. Types mix as in NumPy, save that literals take the type of what they meet: an integer with a float
// gives the float's type, an index with an integer an index. Integer `/` and `%` are C's; floor_div, floor_mod and
// ceil_div round as they say.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <vector>

#include "deep_accel/base/dtype.h"

namespace deep_accel::tile {

class BuilderState;
class Element;

// The types in which kernels compute. `index` is the type of sizes and positions, as wide as a pointer.
enum class ScalarType : uint8_t { f64, f32, i64, i32, boolean, index };

std::string_view name(ScalarType type);
// The type in which arithmetic on elements of a dtype happens: f32 for f32 and all narrower floats, i32 for i32 and all
// narrower integers.
ScalarType compute_type(DType dtype);

class Scalar {
 public:
  // The literal 0.
  Scalar() = default;
  template <typename T>
    requires std::is_arithmetic_v<T>
  Scalar(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      literal_ = Literal::boolean;
      integer_ = value;
    } else if constexpr (std::is_floating_point_v<T>) {
      literal_ = Literal::floating;
      floating_ = static_cast<double>(value);
    } else {
      integer_ = static_cast<int64_t>(value);
    }
  }
  // For the builder: a value of the kernel.
  Scalar(std::shared_ptr<BuilderState> state, const void* value, ScalarType type)
      : literal_(Literal::none), type_(type), state_(std::move(state)), value_(value) {}

  bool is_literal() const { return literal_ != Literal::none; }
  bool is_floating() const {
    return is_literal() ? literal_ == Literal::floating : type_ == ScalarType::f64 || type_ == ScalarType::f32;
  }
  bool is_boolean() const { return is_literal() ? literal_ == Literal::boolean : type_ == ScalarType::boolean; }
  // A literal's type is what it takes where nothing else decides: i32 (i64 where too large), f32, boolean.
  ScalarType type() const;
  // The value where it is an integer or a boolean that is known now.
  std::optional<int64_t> constant() const;
  // The value of a literal.
  double number() const { return literal_ == Literal::floating ? floating_ : static_cast<double>(integer_); }

  // For the builder.
  const std::shared_ptr<BuilderState>& state() const { return state_; }
  const void* value() const { return value_; }

 private:
  enum class Literal : uint8_t { none, integer, floating, boolean };
  Literal literal_ = Literal::integer;
  ScalarType type_ = ScalarType::index;
  int64_t integer_ = 0;
  double floating_ = 0;
  std::shared_ptr<BuilderState> state_;
  const void* value_ = nullptr;
};

// A scalar of type index: a position, a size, a loop's variable.
using Index = Scalar;
using Scalars = std::vector<Scalar>;

// What functions on scalars take: a scalar, a number, or an element of a buffer (which is read), and the line of the
// program where it was given, which then stands in messages about what is built from it.
class Operand {
 public:
  using Where = std::source_location;

  Operand(const Scalar& scalar, Where where = Where::current()) : scalar_(scalar), where_(where) {}
  Operand(const Element& element, Where where = Where::current());
  template <typename T>
    requires std::is_arithmetic_v<T>
  Operand(T value, Where where = Where::current()) : scalar_(value), where_(where) {}

  const Scalar& scalar() const { return scalar_; }
  const Where& where() const { return where_; }

 private:
  Scalar scalar_;
  Where where_;
};

Scalar operator+(const Operand& a, const Operand& b);
Scalar operator-(const Operand& a, const Operand& b);
Scalar operator*(const Operand& a, const Operand& b);
Scalar operator/(const Operand& a, const Operand& b);
Scalar operator%(const Operand& a, const Operand& b);
Scalar operator-(const Operand& a);
Scalar operator&(const Operand& a, const Operand& b);
Scalar operator|(const Operand& a, const Operand& b);
Scalar operator^(const Operand& a, const Operand& b);
Scalar operator~(const Operand& a);
Scalar operator<<(const Operand& a, const Operand& b);
Scalar operator>>(const Operand& a, const Operand& b);
Scalar operator<(const Operand& a, const Operand& b);
Scalar operator<=(const Operand& a, const Operand& b);
Scalar operator>(const Operand& a, const Operand& b);
Scalar operator>=(const Operand& a, const Operand& b);
Scalar operator==(const Operand& a, const Operand& b);
Scalar operator!=(const Operand& a, const Operand& b);
// Both sides are computed.
Scalar operator&&(const Operand& a, const Operand& b);
Scalar operator||(const Operand& a, const Operand& b);
Scalar operator!(const Operand& a);

Scalar floor_div(const Operand& a, const Operand& b);
Scalar floor_mod(const Operand& a, const Operand& b);
Scalar ceil_div(const Operand& a, const Operand& b);

// Of floats, NaN gives the other operand, as C's fmin and fmax do.
Scalar min(const Operand& a, const Operand& b);
Scalar max(const Operand& a, const Operand& b);
Scalar clamp(const Operand& value, const Operand& low, const Operand& high);
// condition ? a : b, with both computed. Builder::if_value computes only one.
Scalar select(const Operand& condition, const Operand& a, const Operand& b);

// Elementary functions; integers are converted to f32 first.
Scalar exp(const Operand& x);
Scalar exp2(const Operand& x);
Scalar expm1(const Operand& x);
Scalar log(const Operand& x);
Scalar log2(const Operand& x);
Scalar log10(const Operand& x);
Scalar log1p(const Operand& x);
Scalar sqrt(const Operand& x);
Scalar rsqrt(const Operand& x);
Scalar sin(const Operand& x);
Scalar cos(const Operand& x);
Scalar tan(const Operand& x);
Scalar tanh(const Operand& x);
Scalar erf(const Operand& x);
Scalar sigmoid(const Operand& x);
Scalar floor(const Operand& x);
Scalar ceil(const Operand& x);
Scalar trunc(const Operand& x);
Scalar round(const Operand& x);  // ties to even
Scalar abs(const Operand& x);
Scalar pow(const Operand& x, const Operand& y);
Scalar fma(const Operand& a, const Operand& b, const Operand& c);
Scalar is_nan(const Operand& x);
Scalar is_inf(const Operand& x);

// The value converted to a dtype and back to the type in which it computes: cast(x, DType::f16) rounds to f16's values.
Scalar cast(const Operand& x, DType dtype);
Scalar cast(const Operand& x, ScalarType type);
// The same bits read as another dtype of the same width. `from` says as what x is held (a value of f16 computes in
// f32).
Scalar reinterpret(const Operand& x, DType from, DType to);

}  // namespace deep_accel::tile
