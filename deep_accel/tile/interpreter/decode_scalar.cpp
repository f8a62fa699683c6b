// Scalars: the arith and index dialects, and ub.poison. Elementary functions stand in decode_math.cpp.
#include "deep_accel/tile/interpreter/decode_scalar.h"

#include "mlir/Dialect/UB/IR/UBOps.h"

namespace deep_accel::tile::interpreter {

namespace arith = mlir::arith;
namespace index = mlir::index;

namespace {

using Wide = __int128;
using UnsignedWide = unsigned __int128;

int64_t add_wrapping(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t sub_wrapping(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
int64_t mul_wrapping(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

// In 128 bits, so that nothing overflows.
Wide divide_wide(Division kind, Wide a, Wide b) {
  const Wide quotient = a / b, remainder = a % b;
  const bool inexact = remainder != 0, negative = (remainder < 0) != (b < 0);
  switch (kind) {
    case Division::truncate:
      return quotient;
    case Division::floor:
      return quotient - (inexact && negative ? 1 : 0);
    case Division::ceil:
      return quotient + (inexact && !negative ? 1 : 0);
    case Division::remainder:
      return remainder;
  }
  return 0;
}

bool compare_integers(arith::CmpIPredicate predicate, int64_t a, int64_t b, int width) {
  const int64_t sa = signed_of(a, width), sb = signed_of(b, width);
  const uint64_t ua = unsigned_of(a, width), ub = unsigned_of(b, width);
  switch (predicate) {
    case arith::CmpIPredicate::eq:
      return a == b;
    case arith::CmpIPredicate::ne:
      return a != b;
    case arith::CmpIPredicate::slt:
      return sa < sb;
    case arith::CmpIPredicate::sle:
      return sa <= sb;
    case arith::CmpIPredicate::sgt:
      return sa > sb;
    case arith::CmpIPredicate::sge:
      return sa >= sb;
    case arith::CmpIPredicate::ult:
      return ua < ub;
    case arith::CmpIPredicate::ule:
      return ua <= ub;
    case arith::CmpIPredicate::ugt:
      return ua > ub;
    case arith::CmpIPredicate::uge:
      return ua >= ub;
  }
  return false;
}

bool compare_reals(arith::CmpFPredicate predicate, double a, double b) {
  const bool unordered = std::isnan(a) || std::isnan(b);
  switch (predicate) {
    case arith::CmpFPredicate::AlwaysFalse:
      return false;
    case arith::CmpFPredicate::AlwaysTrue:
      return true;
    case arith::CmpFPredicate::ORD:
      return !unordered;
    case arith::CmpFPredicate::UNO:
      return unordered;
    case arith::CmpFPredicate::OEQ:
      return a == b;
    case arith::CmpFPredicate::ONE:
      return a < b || a > b;
    case arith::CmpFPredicate::OGT:
      return a > b;
    case arith::CmpFPredicate::OGE:
      return a >= b;
    case arith::CmpFPredicate::OLT:
      return a < b;
    case arith::CmpFPredicate::OLE:
      return a <= b;
    case arith::CmpFPredicate::UEQ:
      return unordered || a == b;
    case arith::CmpFPredicate::UNE:
      return !(a == b);
    case arith::CmpFPredicate::UGT:
      return !(a <= b);
    case arith::CmpFPredicate::UGE:
      return !(a < b);
    case arith::CmpFPredicate::ULT:
      return !(a >= b);
    case arith::CmpFPredicate::ULE:
      return !(a > b);
  }
  return false;
}

// Open where the operands' errors reach across the difference.
Scalar compare(arith::CmpFPredicate predicate, const Scalar& a, const Scalar& b) {
  const double reach = a.error + b.error;
  bool open = false;
  if (reach > 0) {
    open = !(reach < kUnknown) || (!std::isnan(a.real) && !std::isnan(b.real) && distance(a.real, b.real) <= reach);
  }
  return Scalar::of_integer(compare_reals(predicate, a.real, b.real), open ? kUnknown : 0);
}

// The chosen value; where the choice is open, it may be as far off as the other one.
Scalar select(const Scalar& condition, const Scalar& yes, const Scalar& no, bool is_float) {
  Scalar chosen = condition.integer ? yes : no;
  if (condition.error == 0) return chosen;
  if (yes.origin != 0 || no.origin != 0) return Scalar::undefined(yes.origin ? yes.origin : no.origin);
  if (!is_float) {
    chosen.error = yes.integer == no.integer ? std::max(yes.error, no.error) : kUnknown;
  } else {
    chosen.error = distance(yes.real, no.real) + std::max(yes.error, no.error);
  }
  return chosen;
}

Scalar remainder(DType dtype, const Scalar& a, const Scalar& b) {
  const double result = std::fmod(a.real, b.real);
  double error = 0;
  if (a.error != 0 || b.error != 0) {
    const double quotient = std::trunc(a.real / b.real);
    const Scalar steps = to_integer(divide(DType::f64, a, b), 64, true);
    error = steps.error != 0 ? kUnknown : a.error + scaled(quotient, b.error);
  }
  return finish(dtype, result, error);
}

// The bits of a value under another type of the same width.
Scalar bitcast(const Scalar& x, const ScalarType& from, const ScalarType& to) {
  const uint64_t pattern = from.is_float ? encode(from.dtype, x.real) : unsigned_of(x.integer, from.width);
  const double error = x.error == 0 ? 0 : kUnknown;
  return to.is_float ? Scalar::of_real(decode(to.dtype, pattern), error)
                     : Scalar::of_integer(wrap(static_cast<int64_t>(pattern), to.width), error);
}

}  // namespace

// Builds instructions on scalars.
bool ScalarDecoder::arithmetic() {
  using namespace arith;
  return llvm::TypeSwitch<mlir::Operation*, bool>(op_)
      .Case([&](arith::ConstantOp constant) { return decode_constant(constant.getValue()); })
      .Case([&](mlir::ub::PoisonOp) {
        return nullary([op = op_](Thread& t) {
          return Scalar::undefined(t.machine.new_origin(op, "is a value that nobody defined (ub.poison)"));
        });
      })
      // Integers.
      .Case([&](AddIOp) { return integers(add_wrapping); })
      .Case([&](SubIOp) { return integers(sub_wrapping); })
      .Case([&](MulIOp) { return integers(mul_wrapping); })
      .Case([&](DivSIOp) { return division(Division::truncate, true); })
      .Case([&](DivUIOp) { return division(Division::truncate, false); })
      .Case([&](CeilDivSIOp) { return division(Division::ceil, true); })
      .Case([&](CeilDivUIOp) { return division(Division::ceil, false); })
      .Case([&](FloorDivSIOp) { return division(Division::floor, true); })
      .Case([&](RemSIOp) { return division(Division::remainder, true); })
      .Case([&](RemUIOp) { return division(Division::remainder, false); })
      .Case([&](AndIOp) { return logic([](int64_t a, int64_t b) { return a & b; }, 0); })
      .Case([&](OrIOp) { return logic([](int64_t a, int64_t b) { return a | b; }, 1); })
      .Case([&](XOrIOp) { return integers([](int64_t a, int64_t b) { return a ^ b; }); })
      .Case([&](ShLIOp) { return shift(Shift::left); })
      .Case([&](ShRSIOp) { return shift(Shift::right_signed); })
      .Case([&](ShRUIOp) { return shift(Shift::right_unsigned); })
      .Case([&](MaxSIOp) { return extremes(true, true); })
      .Case([&](MaxUIOp) { return extremes(true, false); })
      .Case([&](MinSIOp) { return extremes(false, true); })
      .Case([&](MinUIOp) { return extremes(false, false); })
      .Case([&](AddUIExtendedOp) { return add_extended(); })
      .Case([&](MulSIExtendedOp) { return multiply_extended(true); })
      .Case([&](MulUIExtendedOp) { return multiply_extended(false); })
      .Case([&](CmpIOp compare_op) { return integer_compare(compare_op.getPredicate()); })
      // Floats.
      .Case([&](AddFOp) { return reals([](DType d, auto& a, auto& b) { return add(d, a, b); }); })
      .Case([&](SubFOp) { return reals([](DType d, auto& a, auto& b) { return subtract(d, a, b); }); })
      .Case([&](MulFOp) { return reals([](DType d, auto& a, auto& b) { return multiply(d, a, b); }); })
      .Case([&](DivFOp) { return reals([](DType d, auto& a, auto& b) { return divide(d, a, b); }); })
      .Case([&](RemFOp) { return reals([](DType d, auto& a, auto& b) { return remainder(d, a, b); }); })
      .Case([&](MaximumFOp) { return reals([](DType, auto& a, auto& b) { return extreme(a, b, true, true); }); })
      .Case([&](MaxNumFOp) { return reals([](DType, auto& a, auto& b) { return extreme(a, b, true, false); }); })
      .Case([&](MinimumFOp) { return reals([](DType, auto& a, auto& b) { return extreme(a, b, false, true); }); })
      .Case([&](MinNumFOp) { return reals([](DType, auto& a, auto& b) { return extreme(a, b, false, false); }); })
      .Case([&](NegFOp) { return unary([](const Scalar& x) { return Scalar::of_real(-x.real, x.error); }); })
      .Case([&](CmpFOp compare_op) {
        return binary([predicate = compare_op.getPredicate()](const Scalar& a, const Scalar& b) {
          return compare(predicate, a, b);
        });
      })
      .Case([&](SelectOp) {
        return raw([is_float = type_.is_float](const Scalar* x) {
          return x[0].origin != 0 ? x[0] : select(x[0], x[1], x[2], is_float);
        });
      })
      // Conversions.
      .Case<ExtFOp, TruncFOp>([&](auto) {
        return unary([from = operand_type(0), to = type_](const Scalar& x) {
          return to.width >= from.width ? x : finish(to.dtype, x.real, x.error);
        });
      })
      .Case<ExtSIOp, IndexCastOp, TruncIOp>([&](auto) { return resize(true); })
      .Case<ExtUIOp, IndexCastUIOp>([&](auto) { return resize(false); })
      .Case([&](SIToFPOp) { return to_float(true); })
      .Case([&](UIToFPOp) { return to_float(false); })
      .Case([&](FPToSIOp) { return from_float(true); })
      .Case([&](FPToUIOp) { return from_float(false); })
      .Case([&](arith::BitcastOp) {
        return unary([from = operand_type(0), to = type_](const Scalar& x) { return bitcast(x, from, to); });
      })
      .Default(false);
}

bool ScalarDecoder::indices() {
  using namespace index;
  return llvm::TypeSwitch<mlir::Operation*, bool>(op_)
      .Case([&](index::ConstantOp constant) { return decode_constant(constant.getValueAttr()); })
      .Case([&](BoolConstantOp constant) { return decode_constant(constant.getValueAttr()); })
      .Case([&](SizeOfOp) { return nullary([](Thread&) { return Scalar::of_integer(64); }); })
      .Case([&](AddOp) { return integers(add_wrapping); })
      .Case([&](SubOp) { return integers(sub_wrapping); })
      .Case([&](MulOp) { return integers(mul_wrapping); })
      .Case([&](DivSOp) { return division(Division::truncate, true); })
      .Case([&](DivUOp) { return division(Division::truncate, false); })
      .Case([&](CeilDivSOp) { return division(Division::ceil, true); })
      .Case([&](CeilDivUOp) { return division(Division::ceil, false); })
      .Case([&](FloorDivSOp) { return division(Division::floor, true); })
      .Case([&](RemSOp) { return division(Division::remainder, true); })
      .Case([&](RemUOp) { return division(Division::remainder, false); })
      .Case([&](MaxSOp) { return extremes(true, true); })
      .Case([&](MaxUOp) { return extremes(true, false); })
      .Case([&](MinSOp) { return extremes(false, true); })
      .Case([&](MinUOp) { return extremes(false, false); })
      .Case([&](ShlOp) { return shift(Shift::left); })
      .Case([&](ShrSOp) { return shift(Shift::right_signed); })
      .Case([&](ShrUOp) { return shift(Shift::right_unsigned); })
      .Case([&](AndOp) { return integers([](int64_t a, int64_t b) { return a & b; }); })
      .Case([&](OrOp) { return integers([](int64_t a, int64_t b) { return a | b; }); })
      .Case([&](XOrOp) { return integers([](int64_t a, int64_t b) { return a ^ b; }); })
      .Case([&](CastSOp) { return resize(true); })
      .Case([&](CastUOp) { return resize(false); })
      .Case([&](CmpOp compare_op) {
        // The two dialects have the same predicates by other numbers; their names agree.
        const auto name = index::stringifyIndexCmpPredicate(compare_op.getPred());
        return integer_compare(*arith::symbolizeCmpIPredicate(name));
      })
      .Default(false);
}

bool ScalarDecoder::decode_constant(mlir::Attribute value) {
  Scalar constant;
  if (auto real = mlir::dyn_cast<mlir::FloatAttr>(value)) {
    constant = Scalar::of_real(real.getValueAsDouble());
  } else if (auto flag = mlir::dyn_cast<mlir::BoolAttr>(value)) {
    constant = Scalar::of_integer(flag.getValue());
  } else if (auto integer = mlir::dyn_cast<mlir::IntegerAttr>(value)) {
    constant = Scalar::of_integer(wrap(integer.getValue().getSExtValue(), type_.width));
  } else {
    return false;
  }
  return nullary([constant](Thread&) { return constant; });
}

bool ScalarDecoder::division(Division kind, bool is_signed) {
  const int width = type_.width;
  const Slot a = operand(0), b = operand(1), to = result();
  decoder_.emit(op_, [=, op = op_](Thread& t) {
    const Scalar &x = t.scalars[a], &y = t.scalars[b];
    if (x.origin != 0 || y.origin != 0) {
      t.scalars[to] = Scalar::undefined(x.origin ? x.origin : y.origin);
      return;
    }
    if (unsigned_of(y.integer, width) == 0) {
      fail<ValueError>(op, "divides " + std::to_string(x.integer) + " by zero; test the divisor before");
    }
    const Wide quotient = is_signed ? divide_wide(kind, signed_of(x.integer, width), signed_of(y.integer, width))
                                    : divide_wide(kind, static_cast<Wide>(unsigned_of(x.integer, width)),
                                                  static_cast<Wide>(unsigned_of(y.integer, width)));
    const auto value = static_cast<int64_t>(quotient);
    // The smallest number divided by -1.
    if (is_signed && quotient != static_cast<Wide>(signed_of(value, width))) {
      fail<ValueError>(op, "divides " + std::to_string(x.integer) + " by -1, which overflows");
    }
    t.scalars[to] = Scalar::of_integer(wrap(value, width), std::max(x.error, y.error));
  });
  return true;
}

bool ScalarDecoder::shift(Shift kind) {
  const int width = type_.width;
  const Slot a = operand(0), b = operand(1), to = result();
  decoder_.emit(op_, [=, op = op_](Thread& t) {
    const Scalar &x = t.scalars[a], &y = t.scalars[b];
    if (x.origin != 0 || y.origin != 0) {
      t.scalars[to] = Scalar::undefined(x.origin ? x.origin : y.origin);
      return;
    }
    const uint64_t count = unsigned_of(y.integer, width);
    if (count >= static_cast<uint64_t>(width)) {
      t.scalars[to] = Scalar::undefined(t.machine.new_origin(
          op, "shifts by " + std::to_string(count) + " where the type has " + std::to_string(width) + " bits"));
      return;
    }
    int64_t value = 0;
    switch (kind) {
      case Shift::left:
        value = static_cast<int64_t>(static_cast<uint64_t>(x.integer) << count);
        break;
      case Shift::right_signed:
        value = signed_of(x.integer, width) >> count;
        break;
      case Shift::right_unsigned:
        value = static_cast<int64_t>(unsigned_of(x.integer, width) >> count);
        break;
    }
    t.scalars[to] = Scalar::of_integer(wrap(value, width), std::max(x.error, y.error));
  });
  return true;
}

bool ScalarDecoder::extremes(bool larger, bool is_signed) {
  const int width = type_.width;
  return integers([=](int64_t a, int64_t b) {
    const bool less =
        is_signed ? signed_of(a, width) < signed_of(b, width) : unsigned_of(a, width) < unsigned_of(b, width);
    return less == larger ? b : a;
  });
}

bool ScalarDecoder::integer_compare(arith::CmpIPredicate predicate) {
  return binary([predicate, width = operand_type(0).width](const Scalar& a, const Scalar& b) {
    return Scalar::of_integer(compare_integers(predicate, a.integer, b.integer, width), std::max(a.error, b.error));
  });
}

bool ScalarDecoder::resize(bool is_signed) {
  const int from = operand_type(0).width, to = type_.width;
  return unary([=](const Scalar& x) {
    const int64_t value = is_signed ? signed_of(x.integer, from) : static_cast<int64_t>(unsigned_of(x.integer, from));
    return Scalar::of_integer(wrap(value, to), x.error);
  });
}

bool ScalarDecoder::to_float(bool is_signed) {
  return unary([from = operand_type(0), to = type_, is_signed](const Scalar& x) {
    return to_real(x, to.dtype, from.width, is_signed);
  });
}

bool ScalarDecoder::from_float(bool is_signed) {
  return unary([to = type_, is_signed](const Scalar& x) { return to_integer(x, to.width, is_signed); });
}

bool ScalarDecoder::add_extended() {
  const int width = type_.width;
  const Slot a = operand(0), b = operand(1), sum = result(0), overflow = result(1);
  decoder_.emit(op_, [=](Thread& t) {
    const Scalar x = t.scalars[a], y = t.scalars[b];
    if (x.origin != 0 || y.origin != 0) {
      t.scalars[sum] = t.scalars[overflow] = Scalar::undefined(x.origin ? x.origin : y.origin);
      return;
    }
    const UnsignedWide exact = static_cast<UnsignedWide>(unsigned_of(x.integer, width)) + unsigned_of(y.integer, width);
    const double error = std::max(x.error, y.error);
    t.scalars[sum] = Scalar::of_integer(wrap(static_cast<int64_t>(exact), width), error);
    t.scalars[overflow] = Scalar::of_integer((exact >> width) != 0, error);
  });
  return true;
}

bool ScalarDecoder::multiply_extended(bool is_signed) {
  const int width = type_.width;
  const Slot a = operand(0), b = operand(1), low = result(0), high = result(1);
  decoder_.emit(op_, [=](Thread& t) {
    const Scalar x = t.scalars[a], y = t.scalars[b];
    if (x.origin != 0 || y.origin != 0) {
      t.scalars[low] = t.scalars[high] = Scalar::undefined(x.origin ? x.origin : y.origin);
      return;
    }
    UnsignedWide exact = 0;
    if (is_signed) {
      exact = static_cast<UnsignedWide>(static_cast<Wide>(signed_of(x.integer, width)) * signed_of(y.integer, width));
    } else {
      exact = static_cast<UnsignedWide>(unsigned_of(x.integer, width)) * unsigned_of(y.integer, width);
    }
    const double error = std::max(x.error, y.error);
    t.scalars[low] = Scalar::of_integer(wrap(static_cast<int64_t>(exact), width), error);
    t.scalars[high] = Scalar::of_integer(wrap(static_cast<int64_t>(exact >> width), width), error);
  });
  return true;
}

bool Decoder::scalar(mlir::Operation* op) {
  ScalarDecoder decoder(*this, op);
  return decoder.arithmetic() || decoder.indices() || decoder.mathematics();
}

}  // namespace deep_accel::tile::interpreter
