// Emission of lane expressions: each function makes one operation of a dialect, or two.
#include "deep_accel/compile/numerics/lanes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace deep_accel::compile {
namespace {

namespace arith = mlir::arith;

template <typename Op>
Lanes binary(Lanes a, Lanes b) {
  return {a.context(), a.builder().create<Op>(a.value(), b.value())};
}

template <typename Op>
Lanes cast(Lanes a, mlir::Type element) {
  if (element == a.element_type()) return a;
  return {a.context(), a.builder().create<Op>(a.shaped(element), a.value())};
}

Lanes compare(Lanes a, Lanes b, arith::CmpFPredicate on_floats, arith::CmpIPredicate on_integers) {
  if (a.is_float()) return {a.context(), a.builder().create<arith::CmpFOp>(on_floats, a.value(), b.value())};
  return {a.context(), a.builder().create<arith::CmpIOp>(on_integers, a.value(), b.value())};
}

mlir::Value splat(mlir::ImplicitLocOpBuilder& builder, mlir::Type type, mlir::TypedAttr scalar) {
  if (auto vector = llvm::dyn_cast<mlir::VectorType>(type)) {
    return builder.create<arith::ConstantOp>(
        mlir::DenseElementsAttr::get(vector, llvm::ArrayRef<mlir::Attribute>(scalar)));
  }
  return builder.create<arith::ConstantOp>(scalar);
}

// Of vectors longer than a register, one half after the other.
Lanes scale_halves(Lanes x, Lanes n) {
  auto& builder = x.builder();
  const int64_t count = llvm::cast<mlir::VectorType>(x.value().getType()).getNumElements(), half = count / 2;
  mlir::Value joined = x.value();
  for (const auto [begin, size] : {std::pair{int64_t{0}, half}, std::pair{half, count - half}}) {
    auto part = [&](Lanes whole) -> Lanes {
      return {whole.context(),
              builder.create<mlir::vector::ExtractStridedSliceOp>(whole.value(), begin, size, int64_t{1})};
    };
    joined = builder.create<mlir::vector::InsertStridedSliceOp>(scale_by_power(part(x), part(n)).value(), joined, begin,
                                                                int64_t{1});
  }
  return {x.context(), joined};
}

}  // namespace

mlir::Type Lanes::shaped(mlir::Type element) const {
  if (auto vector = llvm::dyn_cast<mlir::VectorType>(value_.getType())) return vector.clone(element);
  return element;
}

Lanes Lanes::constant(double value) const {
  return {*context_, splat(builder(), value_.getType(), builder().getFloatAttr(element_type(), value))};
}

Lanes Lanes::constant(int64_t value) const {
  // Truncated to the width: masks are written with or without their sign.
  const llvm::APInt truncated = llvm::APInt(64, static_cast<uint64_t>(value)).trunc(width());
  return {*context_, splat(builder(), value_.getType(), builder().getIntegerAttr(element_type(), truncated))};
}

Lanes operator+(Lanes a, Lanes b) { return a.is_float() ? binary<arith::AddFOp>(a, b) : binary<arith::AddIOp>(a, b); }
Lanes operator-(Lanes a, Lanes b) { return a.is_float() ? binary<arith::SubFOp>(a, b) : binary<arith::SubIOp>(a, b); }
Lanes operator*(Lanes a, Lanes b) { return a.is_float() ? binary<arith::MulFOp>(a, b) : binary<arith::MulIOp>(a, b); }
Lanes operator/(Lanes a, Lanes b) { return binary<arith::DivFOp>(a, b); }
Lanes operator-(Lanes a) {
  if (a.is_float()) return {a.context(), a.builder().create<arith::NegFOp>(a.value())};
  return 0 - a;
}
Lanes operator&(Lanes a, Lanes b) { return binary<arith::AndIOp>(a, b); }
Lanes operator|(Lanes a, Lanes b) { return binary<arith::OrIOp>(a, b); }
Lanes operator^(Lanes a, Lanes b) { return binary<arith::XOrIOp>(a, b); }

Lanes shift_left(Lanes a, int count) { return binary<arith::ShLIOp>(a, a.constant(count)); }
Lanes shift_right(Lanes a, int count) { return binary<arith::ShRUIOp>(a, a.constant(count)); }
Lanes shift_right_signed(Lanes a, int count) { return binary<arith::ShRSIOp>(a, a.constant(count)); }

Lanes operator<(Lanes a, Lanes b) { return compare(a, b, arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt); }
Lanes operator<=(Lanes a, Lanes b) { return compare(a, b, arith::CmpFPredicate::OLE, arith::CmpIPredicate::sle); }
Lanes operator>(Lanes a, Lanes b) { return compare(a, b, arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt); }
Lanes operator==(Lanes a, Lanes b) { return compare(a, b, arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq); }
Lanes operator!=(Lanes a, Lanes b) { return compare(a, b, arith::CmpFPredicate::UNE, arith::CmpIPredicate::ne); }
Lanes is_nan(Lanes a) {
  return {a.context(), a.builder().create<arith::CmpFOp>(arith::CmpFPredicate::UNO, a.value(), a.value())};
}

Lanes select(Lanes condition, Lanes a, Lanes b) {
  return {a.context(), a.builder().create<arith::SelectOp>(condition.value(), a.value(), b.value())};
}

Lanes at_most(Lanes x, double limit) { return select(x > limit, limit, x); }
Lanes at_least(Lanes x, double limit) { return select(x < limit, limit, x); }

Lanes unsigned_min(Lanes a, Lanes b) { return binary<arith::MinUIOp>(a, b); }

Lanes abs(Lanes a) { return {a.context(), a.builder().create<mlir::math::AbsFOp>(a.value())}; }

Lanes fma(Lanes a, Lanes b, Lanes c) {
  if (!a.context().has_fma) return a * b + c;
  return {a.context(), a.builder().create<mlir::math::FmaOp>(a.value(), b.value(), c.value())};
}

// vscalef takes 128, 256 or 512 bits; other shapes stand in the next larger one.
Lanes scale_by_power(Lanes x, Lanes n) {
  auto& builder = x.builder();
  auto given = llvm::dyn_cast<mlir::VectorType>(x.value().getType());
  const int64_t count = given ? given.getNumElements() : 1, width = x.width();
  const int64_t bits = std::clamp<int64_t>(static_cast<int64_t>(llvm::PowerOf2Ceil(count * width)), 128, 512);
  if (count * width > 512) return scale_halves(x, n);
  const int64_t lanes = bits / width;
  auto type = mlir::VectorType::get({lanes}, x.element_type());
  auto widened = [&](mlir::Value value) -> mlir::Value {
    if (!given) return builder.create<mlir::vector::BroadcastOp>(type, value);
    if (count == lanes) return value;
    llvm::SmallVector<int64_t> from(static_cast<size_t>(lanes), 0);
    for (int64_t lane = 0; lane < count; ++lane) from[lane] = lane;
    return builder.create<mlir::vector::ShuffleOp>(value, value, from);
  };
  mlir::Value a = widened(x.value()), b = widened(n.value());
  const std::string name =
      "llvm.x86.avx512.mask.scalef." + std::string(width == 64 ? "pd." : "ps.") + std::to_string(bits);
  mlir::Value all = builder.create<arith::ConstantIntOp>(-1, lanes <= 8 ? 8 : 16);
  llvm::SmallVector<mlir::Value> operands{a, b, a, all};
  if (bits == 512) operands.push_back(builder.create<arith::ConstantIntOp>(4, 32));  // the current rounding
  mlir::Value result =
      builder.create<mlir::LLVM::CallIntrinsicOp>(type, builder.getStringAttr(name), operands).getResult(0);
  if (!given) return {x.context(), builder.create<mlir::vector::ExtractOp>(result, int64_t{0})};
  if (count == lanes) return {x.context(), result};
  return {x.context(), builder.create<mlir::vector::ExtractStridedSliceOp>(result, int64_t{0}, count, int64_t{1})};
}

Lanes round_even(Lanes a) { return {a.context(), a.builder().create<mlir::math::RoundEvenOp>(a.value())}; }

Lanes with_sign_of(Lanes magnitude, Lanes sign) {
  const int64_t sign_bit = int64_t{1} << (sign.width() - 1);
  return from_bits(bits(magnitude) | (bits(sign) & sign_bit));
}

Lanes polynomial(Lanes x, std::span<const double> coefficients) {
  Lanes sum = x.constant(coefficients.back());
  for (size_t i = coefficients.size() - 1; i-- > 0;) sum = fma(sum, x, coefficients[i]);
  return sum;
}

Lanes bits(Lanes a) { return cast<arith::BitcastOp>(a, a.builder().getIntegerType(a.width())); }

Lanes from_bits(Lanes a) {
  auto& builder = a.builder();
  const mlir::Type element = a.width() == 64   ? builder.getF64Type()
                             : a.width() == 32 ? builder.getF32Type()
                                               : builder.getF16Type();
  return cast<arith::BitcastOp>(a, element);
}

Lanes convert_float(Lanes a, mlir::Type element) {
  if (element.getIntOrFloatBitWidth() > a.width()) return cast<arith::ExtFOp>(a, element);
  return cast<arith::TruncFOp>(a, element);
}

Lanes zero_extend(Lanes a, unsigned width) { return cast<arith::ExtUIOp>(a, a.builder().getIntegerType(width)); }
Lanes sign_extend(Lanes a, unsigned width) { return cast<arith::ExtSIOp>(a, a.builder().getIntegerType(width)); }
Lanes truncate(Lanes a, unsigned width) { return cast<arith::TruncIOp>(a, a.builder().getIntegerType(width)); }
Lanes to_float(Lanes a, mlir::Type element) { return cast<arith::SIToFPOp>(a, element); }
Lanes to_int(Lanes a, unsigned width) { return cast<arith::FPToSIOp>(a, a.builder().getIntegerType(width)); }

}  // namespace deep_accel::compile
