// Instructions on scalars, from operations that have scalars alone. Internal to the decoder.
#pragma once

#include "deep_accel/tile/interpreter/decode.h"

namespace deep_accel::tile::interpreter {

enum class Division { truncate, floor, ceil, remainder };
enum class Shift { left, right_signed, right_unsigned };

struct ScalarDecoder {
  ScalarDecoder(Decoder& decoder, mlir::Operation* op) : decoder_(decoder), op_(op) {
    if (op->getNumResults() > 0) type_ = scalar_type(op->getResult(0).getType());
  }

  bool arithmetic();
  bool indices();
  bool mathematics();

 private:
  Slot operand(unsigned index) { return decoder_.slot(op_->getOperand(index)); }
  Slot result(unsigned index = 0) { return decoder_.slot(op_->getResult(index)); }
  ScalarType operand_type(unsigned index) { return scalar_type(op_->getOperand(index).getType()); }

  template <typename Function>
  bool nullary(Function function) {
    const Slot to = result();
    decoder_.emit(op_, [=](Thread& t) { t.scalars[to] = function(t); });
    return true;
  }
  // Of one operand; an undefined one gives an undefined result.
  template <typename Function>
  bool unary(Function function) {
    const Slot a = operand(0), to = result();
    decoder_.emit(op_, [=](Thread& t) {
      const Scalar& x = t.scalars[a];
      t.scalars[to] = x.origin != 0 ? x : function(x);
    });
    return true;
  }
  template <typename Function>
  bool binary(Function function) {
    const Slot a = operand(0), b = operand(1), to = result();
    decoder_.emit(op_, [=](Thread& t) {
      const Scalar &x = t.scalars[a], &y = t.scalars[b];
      t.scalars[to] = x.origin != 0 ? x : y.origin != 0 ? y : function(x, y);
    });
    return true;
  }
  // Of three operands, which the function itself asks whether they are defined.
  template <typename Function>
  bool raw(Function function) {
    const Slot a = operand(0), b = operand(1), c = operand(2), to = result();
    decoder_.emit(op_, [=](Thread& t) {
      const Scalar x[3] = {t.scalars[a], t.scalars[b], t.scalars[c]};
      t.scalars[to] = function(x);
    });
    return true;
  }
  template <typename Function>
  bool ternary(Function function) {
    return raw([=](const Scalar* x) {
      for (int i = 0; i < 3; ++i) {
        if (x[i].origin != 0) return x[i];
      }
      return function(x[0], x[1], x[2]);
    });
  }
  // Of two floats of the result's type.
  template <typename Function>
  bool reals(Function function) {
    return binary([=, dtype = type_.dtype](const Scalar& a, const Scalar& b) { return function(dtype, a, b); });
  }
  // Of two integers, wrapped to the result's width; where one is undecided, so is the result.
  template <typename Function>
  bool integers(Function function) {
    return binary([=, width = type_.width](const Scalar& a, const Scalar& b) {
      return Scalar::of_integer(wrap(function(a.integer, b.integer), width), std::max(a.error, b.error));
    });
  }
  // As integers(), but for booleans a decided operand of value `decides` settles the result.
  template <typename Function>
  bool logic(Function function, int64_t decides) {
    return binary([=, width = type_.width](const Scalar& a, const Scalar& b) {
      double error = std::max(a.error, b.error);
      if (width == 1 && ((a.known() && a.integer == decides) || (b.known() && b.integer == decides))) error = 0;
      return Scalar::of_integer(wrap(function(a.integer, b.integer), width), error);
    });
  }

  bool decode_constant(mlir::Attribute value);
  bool division(Division kind, bool is_signed);
  bool shift(Shift kind);
  bool extremes(bool larger, bool is_signed);
  bool integer_compare(mlir::arith::CmpIPredicate predicate);
  bool resize(bool is_signed);
  bool to_float(bool is_signed);
  bool from_float(bool is_signed);
  bool add_extended();
  bool multiply_extended(bool is_signed);

  Decoder& decoder_;
  mlir::Operation* op_;
  ScalarType type_;
};

}  // namespace deep_accel::tile::interpreter
