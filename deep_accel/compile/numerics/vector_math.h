// Vector mathematics: the elementary functions as branch-free arithmetic on whole vectors.
//
// Every function takes a scalar or a fixed-length vector of f32 or f64 and returns the same type. In f32 the result is
// within 2 ulp of the exact value for every argument, including denormal arguments and results; in f64 within 4 ulp.
// NaN gives NaN, and infinities, zeros (with their sign), overflow and arguments outside the domain give what IEEE 754
// and C's Annex F say. The tests go over all 2^32 arguments. No fast-math flag is needed, and none may be set.
//
// What is emitted: arith, math.fma, math.absf, math.roundeven, vector, calls of LLVM's intrinsics, and scf.if around
// the slow path of sin and cos (so expand before scf is lowered). All of it lowers by the upstream conversions to LLVM.
#pragma once

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace deep_accel::compile {

/// What the target allows.
struct MathOptions {
  /// The target has a fused multiply-add. False costs a few instructions more and keeps the bounds.
  bool fma = true;
  /// The target multiplies by powers of two in one instruction (AVX-512's vscalef).
  bool scalef = false;
};

mlir::Value emit_exp(mlir::ImplicitLocOpBuilder& builder, mlir::Value x, MathOptions options = {});
mlir::Value emit_exp2(mlir::ImplicitLocOpBuilder& builder, mlir::Value x, MathOptions options = {});
mlir::Value emit_expm1(mlir::ImplicitLocOpBuilder& builder, mlir::Value x, MathOptions options = {});
mlir::Value emit_log(mlir::ImplicitLocOpBuilder& builder, mlir::Value x, MathOptions options = {});
mlir::Value emit_log2(mlir::ImplicitLocOpBuilder& builder, mlir::Value x, MathOptions options = {});
mlir::Value emit_log1p(mlir::ImplicitLocOpBuilder& builder, mlir::Value x, MathOptions options = {});
mlir::Value emit_tanh(mlir::ImplicitLocOpBuilder& builder, mlir::Value x, MathOptions options = {});
/// 1 / (1 + exp(-x))
mlir::Value emit_sigmoid(mlir::ImplicitLocOpBuilder& builder, mlir::Value x, MathOptions options = {});
mlir::Value emit_erf(mlir::ImplicitLocOpBuilder& builder, mlir::Value x, MathOptions options = {});
mlir::Value emit_sin(mlir::ImplicitLocOpBuilder& builder, mlir::Value x, MathOptions options = {});
mlir::Value emit_cos(mlir::ImplicitLocOpBuilder& builder, mlir::Value x, MathOptions options = {});
/// x to the power y, with the special cases of C's pow.
mlir::Value emit_pow(mlir::ImplicitLocOpBuilder& builder, mlir::Value x, mlir::Value y, MathOptions options = {});
/// 1 / sqrt(x)
mlir::Value emit_rsqrt(mlir::ImplicitLocOpBuilder& builder, mlir::Value x, MathOptions options = {});

/// True for the operations that expand_math rewrites, whatever their type.
bool is_elementary_function(mlir::Operation* op);

/// Rewrites every math.exp, exp2, expm1, log, log2, log1p, tanh, erf, sin, cos, powf and rsqrt under `root` on f32 and
/// f64 into what the functions above emit. Other operations, other types and vectors of scalable length stay.
void expand_math(mlir::Operation* root, MathOptions options = {});

}  // namespace deep_accel::compile
