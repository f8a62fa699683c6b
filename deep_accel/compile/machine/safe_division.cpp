#include "deep_accel/compile/machine/safe_division.h"

namespace deep_accel::compile {
namespace {

using mlir::Value;
namespace LLVM = mlir::LLVM;

// The one number that a constant, or each element of a constant vector, is.
std::optional<llvm::APInt> constant_of(Value value) {
  mlir::Attribute attribute;
  if (!mlir::matchPattern(value, mlir::m_Constant(&attribute))) return std::nullopt;
  if (auto integer = mlir::dyn_cast<mlir::IntegerAttr>(attribute)) return integer.getValue();
  auto elements = mlir::dyn_cast<mlir::DenseIntElementsAttr>(attribute);
  if (elements && elements.isSplat()) return elements.getSplatValue<llvm::APInt>();
  return std::nullopt;
}

class SafeDivisionPass : public mlir::PassWrapper<SafeDivisionPass, mlir::OperationPass<mlir::ModuleOp>> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SafeDivisionPass)
  llvm::StringRef getArgument() const override { return "safe-division"; }
  void runOnOperation() override {
    getOperation().walk([](mlir::Operation* op) {
      if (mlir::isa<LLVM::SDivOp, LLVM::SRemOp>(op)) make_safe(op, /*is_signed=*/true);
      if (mlir::isa<LLVM::UDivOp, LLVM::URemOp>(op)) make_safe(op, /*is_signed=*/false);
    });
  }

 private:
  // Puts 1 in the place of a divisor that would trap.
  static void make_safe(mlir::Operation* op, bool is_signed) {
    const Value dividend = op->getOperand(0), divisor = op->getOperand(1);
    if (auto known = constant_of(divisor); known && !known->isZero()) return;  // by -1 LLVM negates
    mlir::OpBuilder builder(op);
    const mlir::Location where = op->getLoc();
    const mlir::Type type = divisor.getType();
    const unsigned width = mlir::getElementTypeOrSelf(type).getIntOrFloatBitWidth();
    auto constant = [&](const llvm::APInt& number) -> Value {
      mlir::TypedAttr value = builder.getIntegerAttr(mlir::getElementTypeOrSelf(type), number);
      if (auto vector = mlir::dyn_cast<mlir::VectorType>(type)) value = mlir::DenseElementsAttr::get(vector, number);
      return builder.create<LLVM::ConstantOp>(where, type, value);
    };
    auto equal = [&](Value a, const llvm::APInt& number) -> Value {
      return builder.create<LLVM::ICmpOp>(where, LLVM::ICmpPredicate::eq, a, constant(number));
    };
    Value traps = equal(divisor, llvm::APInt::getZero(width));
    if (is_signed) {
      const Value overflows = builder.create<LLVM::AndOp>(where, equal(divisor, llvm::APInt::getAllOnes(width)),
                                                          equal(dividend, llvm::APInt::getSignedMinValue(width)));
      traps = builder.create<LLVM::OrOp>(where, traps, overflows);
    }
    op->setOperand(1, builder.create<LLVM::SelectOp>(where, traps, constant(llvm::APInt(width, 1)), divisor));
  }
};

}  // namespace

std::unique_ptr<mlir::Pass> create_safe_division_pass() { return std::make_unique<SafeDivisionPass>(); }

}  // namespace deep_accel::compile
