// See emit_dot.h.
#include "deep_accel/compile/lower/emit_dot.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace deep_accel::compile {

using mlir::Value;
namespace arith = mlir::arith;

DotEmitter::DotEmitter(mlir::ImplicitLocOpBuilder& builder, const Target& target, const DotFactors& factors)
    : builder_(builder), x86_(llvm::StringRef(target.triple).starts_with("x86_64")), factors_(factors) {}

Value DotEmitter::call(llvm::StringRef name, mlir::Type type, mlir::ValueRange arguments) const {
  return builder_.create<mlir::LLVM::CallIntrinsicOp>(type, name, arguments).getResults();
}

Value DotEmitter::words_of(uint32_t word, mlir::Type type) const {
  auto attribute = builder_.getI32IntegerAttr(static_cast<int32_t>(word));
  return builder_.create<arith::ConstantOp>(
      mlir::DenseElementsAttr::get(mlir::cast<mlir::ShapedType>(type), mlir::Attribute(attribute)));
}

Value DotEmitter::prepare_b(Value words) const {
  if (!shifts_b()) return words;
  return builder_.create<arith::XOrIOp>(words, words_of(0x80808080u, words.getType()));
}

Value DotEmitter::dot(Value sums, Value a, Value b) const {
  auto type = mlir::cast<mlir::VectorType>(sums.getType());
  const int64_t lanes = type.getNumElements();
  const std::string bits = std::to_string(32 * lanes);
  if (factors_.bf16) {
    auto pairs = mlir::VectorType::get({2 * lanes}, builder_.getBF16Type());
    Value left = builder_.create<mlir::vector::BitCastOp>(pairs, a);
    Value right = builder_.create<mlir::vector::BitCastOp>(pairs, b);
    return call("llvm.x86.avx512bf16.dpbf16ps." + bits, type, {sums, right, left});
  }
  if (x86_) {
    // The unsigned factor first.
    const std::string name = "llvm.x86.avx512.vpdpbusd." + bits;
    return factors_.a_unsigned ? call(name, type, {sums, a, b}) : call(name, type, {sums, b, a});
  }
  const std::string name = factors_.a_unsigned ? "udot" : "sdot";
  auto fours = mlir::VectorType::get({4 * lanes}, builder_.getI8Type());
  Value left = builder_.create<mlir::vector::BitCastOp>(fours, a);
  Value right = builder_.create<mlir::vector::BitCastOp>(fours, b);
  if (lanes == 4) return call("llvm.aarch64.neon." + name, type, {sums, right, left});
  Value result =
      call("llvm.aarch64.sve." + name, scalable(type), {in_scalable(sums), in_scalable(right), in_scalable(left)});
  return builder_.create<mlir::vector::ScalableExtractOp>(type, result, 0);
}

mlir::VectorType DotEmitter::scalable(mlir::VectorType type) const {
  const int64_t bits = type.getElementTypeBitWidth();
  return mlir::VectorType::get({128 / bits}, type.getElementType(), {true});
}

// A register of unknown length that begins with the vector.
Value DotEmitter::in_scalable(Value vector) const {
  Value unknown = builder_.create<mlir::LLVM::UndefOp>(scalable(mlir::cast<mlir::VectorType>(vector.getType())));
  return builder_.create<mlir::vector::ScalableInsertOp>(vector, unknown, 0);
}

Value DotEmitter::surplus_of_a(Value sums, Value a) const {
  // A b of 0 has become one of 128, unsigned, or of -128, signed: the same bits.
  return dot(sums, a, words_of(0x80808080u, a.getType()));
}

}  // namespace deep_accel::compile
