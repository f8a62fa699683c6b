// Narrow element types in registers: what memory holds (integers) to f32 and back, by arithmetic that every target has.
//
// Rounding is to nearest even, denormal numbers are exact, the sign of zero is kept, NaN stays NaN. Where a type ends:
//   f16, bf16, fp8 e5m2   overflow to infinity
//   fp8 e4m3fn            has no infinity: overflow and infinities give NaN
//   fp4 e2m1              has neither: overflow and infinities give +-6, and NaN gives a zero of the other sign (as
//   ml_dtypes) int4                  saturates to -8..7
#pragma once

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace deep_accel::compile {

/// An element type as it lies in memory: i8 lanes for the first four (4-bit codes in the low nibble), i16 for the
/// others.
enum class Narrow { Fp8E4M3, Fp8E5M2, Fp4E2M1, Int4, BF16, F16 };

struct NarrowOptions {
  /// The target converts f16 in hardware (F16C, AVX-512, NEON, Zvfh).
  bool native_f16 = false;
  /// The target rounds to bf16 in hardware. AVX512-BF16 takes denormal numbers for 0, so this is not for x86.
  bool native_bf16 = false;
};

/// f32 lanes (i32 for int4) of the codes `raw`, a scalar or a vector of i8 or i16. Of a nibble's i8 the upper half is
/// ignored.
mlir::Value widen(mlir::ImplicitLocOpBuilder& builder, mlir::Value raw, Narrow kind, NarrowOptions options = {});

/// The codes of f32 lanes (i32 for int4), as i8 or i16. The upper half of a nibble's i8 is 0.
mlir::Value narrow(mlir::ImplicitLocOpBuilder& builder, mlir::Value wide, Narrow kind, NarrowOptions options = {});

/// Floating point lanes (f32 or f64) to integers of `bits` bits, as i32 lanes up to 32 bits and i64 above: towards
/// zero, saturating at the ends of the integer type, and 0 for NaN.
mlir::Value saturating_to_int(mlir::ImplicitLocOpBuilder& builder, mlir::Value x, int bits, bool is_signed);

/// vector<N x i8> of two nibbles each to vector<2N x i8> of one, the low nibble first.
mlir::Value unpack_nibbles(mlir::ImplicitLocOpBuilder& builder, mlir::Value packed);

/// vector<2N x i8>, of which the low nibbles count, to vector<N x i8>: the inverse of `unpack_nibbles`.
mlir::Value pack_nibbles(mlir::ImplicitLocOpBuilder& builder, mlir::Value nibbles);

}  // namespace deep_accel::compile
