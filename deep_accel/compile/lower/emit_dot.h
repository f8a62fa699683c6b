// Instructions that multiply groups of neighbours along K and add them to a lane (passes/dot_products.h says when).
#pragma once

#include "deep_accel/compile/target/target.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace deep_accel::compile {

// What a product's factors are.
struct DotFactors {
  bool bf16 = false;
  bool a_unsigned = false, b_unsigned = false;  // of integers
};

class DotEmitter {
 public:
  DotEmitter(mlir::ImplicitLocOpBuilder& builder, const Target& target, const DotFactors& factors);

  // b's words as the instruction wants them. x86 multiplies unsigned by signed alone: where the factors are of one
  // kind, 128 is added to (or taken from) each element of b, and what that adds to the sums is `surplus_of_a`.
  mlir::Value prepare_b(mlir::Value words) const;
  // sums + a . b, lane by lane; vectors of 32-bit words. b is prepared.
  mlir::Value dot(mlir::Value sums, mlir::Value a, mlir::Value b) const;

  bool shifts_b() const { return x86_ && !factors_.bf16 && factors_.a_unsigned == factors_.b_unsigned; }
  // sums + what one word of a in each lane adds to them too much, over b's of 0.
  mlir::Value surplus_of_a(mlir::Value sums, mlir::Value a) const;

 private:
  mlir::Value call(llvm::StringRef name, mlir::Type type, mlir::ValueRange arguments) const;
  mlir::VectorType scalable(mlir::VectorType type) const;
  mlir::Value in_scalable(mlir::Value vector) const;
  mlir::Value words_of(uint32_t word, mlir::Type type) const;

  mlir::ImplicitLocOpBuilder& builder_;
  bool x86_;
  DotFactors factors_;
};

}  // namespace deep_accel::compile
