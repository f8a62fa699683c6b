// What arithmetic and functions on scalars share.
#pragma once

#include "deep_accel/tile/builder/state.h"
#include "deep_accel/tile/scalar.h"

namespace deep_accel::tile {

inline bool is_float(ScalarType type) { return type == ScalarType::f64 || type == ScalarType::f32; }

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

inline bool both_integers(const Operand& a, const Operand& b) {
  return !a.scalar().is_floating() && !b.scalar().is_floating();
}

inline int64_t integer(const Operand& x) { return *x.scalar().constant(); }
inline double number(const Operand& x) { return x.scalar().number(); }

}  // namespace deep_accel::tile
