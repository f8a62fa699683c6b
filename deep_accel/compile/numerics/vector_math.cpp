// The face of vector mathematics: values in, values out, and the rewrite of the math dialect.
#include "deep_accel/compile/numerics/vector_math.h"

#include "deep_accel/compile/numerics/functions.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace deep_accel::compile {
namespace {

namespace math = mlir::math;

using Unary = Lanes (*)(Lanes);

mlir::Value emit(Unary function, mlir::ImplicitLocOpBuilder& builder, mlir::Value x, MathOptions options) {
  LaneContext context{builder, options.fma, options.scalef};
  return function(Lanes(context, x)).value();
}

// The function that replaces an operation of one operand, or null.
Unary replacement_of(mlir::Operation* op) {
  return llvm::TypeSwitch<mlir::Operation*, Unary>(op)
      .Case<math::ExpOp>([](auto) { return lane_exp; })
      .Case<math::Exp2Op>([](auto) { return lane_exp2; })
      .Case<math::ExpM1Op>([](auto) { return lane_expm1; })
      .Case<math::LogOp>([](auto) { return lane_log; })
      .Case<math::Log2Op>([](auto) { return lane_log2; })
      .Case<math::Log1pOp>([](auto) { return lane_log1p; })
      .Case<math::TanhOp>([](auto) { return lane_tanh; })
      .Case<math::ErfOp>([](auto) { return lane_erf; })
      .Case<math::SinOp>([](auto) { return lane_sin; })
      .Case<math::CosOp>([](auto) { return lane_cos; })
      .Case<math::RsqrtOp>([](auto) { return lane_rsqrt; })
      .Default([](auto) { return nullptr; });
}

bool is_supported(mlir::Type type) {
  if (auto vector = llvm::dyn_cast<mlir::VectorType>(type); vector && vector.isScalable()) return false;
  if (llvm::isa<mlir::ShapedType>(type) && !llvm::isa<mlir::VectorType>(type)) return false;
  const mlir::Type element = mlir::getElementTypeOrSelf(type);
  return element.isF32() || element.isF64();
}

}  // namespace

mlir::Value emit_exp(mlir::ImplicitLocOpBuilder& builder, mlir::Value x, MathOptions options) {
  return emit(lane_exp, builder, x, options);
}
mlir::Value emit_exp2(mlir::ImplicitLocOpBuilder& builder, mlir::Value x, MathOptions options) {
  return emit(lane_exp2, builder, x, options);
}
mlir::Value emit_expm1(mlir::ImplicitLocOpBuilder& builder, mlir::Value x, MathOptions options) {
  return emit(lane_expm1, builder, x, options);
}
mlir::Value emit_log(mlir::ImplicitLocOpBuilder& builder, mlir::Value x, MathOptions options) {
  return emit(lane_log, builder, x, options);
}
mlir::Value emit_log2(mlir::ImplicitLocOpBuilder& builder, mlir::Value x, MathOptions options) {
  return emit(lane_log2, builder, x, options);
}
mlir::Value emit_log1p(mlir::ImplicitLocOpBuilder& builder, mlir::Value x, MathOptions options) {
  return emit(lane_log1p, builder, x, options);
}
mlir::Value emit_tanh(mlir::ImplicitLocOpBuilder& builder, mlir::Value x, MathOptions options) {
  return emit(lane_tanh, builder, x, options);
}
mlir::Value emit_sigmoid(mlir::ImplicitLocOpBuilder& builder, mlir::Value x, MathOptions options) {
  return emit(lane_sigmoid, builder, x, options);
}
mlir::Value emit_erf(mlir::ImplicitLocOpBuilder& builder, mlir::Value x, MathOptions options) {
  return emit(lane_erf, builder, x, options);
}
mlir::Value emit_sin(mlir::ImplicitLocOpBuilder& builder, mlir::Value x, MathOptions options) {
  return emit(lane_sin, builder, x, options);
}
mlir::Value emit_cos(mlir::ImplicitLocOpBuilder& builder, mlir::Value x, MathOptions options) {
  return emit(lane_cos, builder, x, options);
}
mlir::Value emit_rsqrt(mlir::ImplicitLocOpBuilder& builder, mlir::Value x, MathOptions options) {
  return emit(lane_rsqrt, builder, x, options);
}
mlir::Value emit_pow(mlir::ImplicitLocOpBuilder& builder, mlir::Value x, mlir::Value y, MathOptions options) {
  LaneContext context{builder, options.fma, options.scalef};
  return lane_pow(Lanes(context, x), Lanes(context, y)).value();
}

bool is_elementary_function(mlir::Operation* op) { return replacement_of(op) || llvm::isa<math::PowFOp>(op); }

void expand_math(mlir::Operation* root, MathOptions options) {
  llvm::SmallVector<mlir::Operation*> found;
  root->walk([&](mlir::Operation* op) {
    if (is_elementary_function(op) && is_supported(op->getResult(0).getType())) found.push_back(op);
  });
  for (mlir::Operation* op : found) {
    mlir::ImplicitLocOpBuilder builder(op->getLoc(), op);
    const mlir::Value replacement = llvm::isa<math::PowFOp>(op)
                                        ? emit_pow(builder, op->getOperand(0), op->getOperand(1), options)
                                        : emit(replacement_of(op), builder, op->getOperand(0), options);
    op->getResult(0).replaceAllUsesWith(replacement);
    op->erase();
  }
}

}  // namespace deep_accel::compile
