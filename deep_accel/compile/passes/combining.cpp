// See combining.h.
#include "deep_accel/compile/passes/combining.h"

namespace deep_accel::compile {

using mlir::Value;
namespace arith = mlir::arith;

tile::Combine without_magnitude(tile::Combine kind) {
  if (kind == tile::Combine::absadd) return tile::Combine::add;
  if (kind == tile::Combine::absmax) return tile::Combine::max;
  return kind;
}

Value combined(mlir::ImplicitLocOpBuilder& builder, tile::Combine kind, Value a, Value b, bool propagate_nan,
               bool never_nan) {
  const bool is_float = mlir::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(a.getType()));
  switch (kind) {
    case tile::Combine::add:
    case tile::Combine::absadd:
      return is_float ? builder.create<arith::AddFOp>(a, b).getResult() : builder.create<arith::AddIOp>(a, b);
    case tile::Combine::mul:
      return is_float ? builder.create<arith::MulFOp>(a, b).getResult() : builder.create<arith::MulIOp>(a, b);
    case tile::Combine::max:
    case tile::Combine::absmax:
    case tile::Combine::min: {
      const bool max = kind != tile::Combine::min;
      if (!is_float) {
        return max ? builder.create<arith::MaxSIOp>(a, b).getResult() : builder.create<arith::MinSIOp>(a, b);
      }
      if (propagate_nan) {
        return max ? builder.create<arith::MaximumFOp>(a, b).getResult() : builder.create<arith::MinimumFOp>(a, b);
      }
      // A NaN in `b` compares false and is passed over; one in `a` gives way to b.
      Value wins = builder.create<arith::CmpFOp>(max ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT, b, a);
      if (never_nan) return builder.create<arith::SelectOp>(wins, b, a);
      Value lost = builder.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, a, a);
      return builder.create<arith::SelectOp>(builder.create<arith::OrIOp>(wins, lost), b, a);
    }
    case tile::Combine::bits_and:
      return builder.create<arith::AndIOp>(a, b);
    case tile::Combine::bits_or:
      return builder.create<arith::OrIOp>(a, b);
    case tile::Combine::bits_xor:
      return builder.create<arith::XOrIOp>(a, b);
    case tile::Combine::exchange:
      return b;
  }
  return a;
}

mlir::TypedAttr identity(mlir::Builder& builder, tile::Combine kind, mlir::Type type) {
  const double infinity = std::numeric_limits<double>::infinity();
  auto integer = mlir::dyn_cast<mlir::IntegerType>(type);
  switch (kind) {
    case tile::Combine::mul:
      return integer ? mlir::TypedAttr(builder.getIntegerAttr(type, 1)) : builder.getFloatAttr(type, 1);
    case tile::Combine::max:
      return integer ? mlir::TypedAttr(builder.getIntegerAttr(type, llvm::APInt::getSignedMinValue(integer.getWidth())))
                     : builder.getFloatAttr(type, -infinity);
    case tile::Combine::min:
      return integer ? mlir::TypedAttr(builder.getIntegerAttr(type, llvm::APInt::getSignedMaxValue(integer.getWidth())))
                     : builder.getFloatAttr(type, infinity);
    case tile::Combine::bits_and:
      return builder.getIntegerAttr(type, -1);
    default:
      return mlir::cast<mlir::TypedAttr>(builder.getZeroAttr(type));
  }
}

}  // namespace deep_accel::compile
