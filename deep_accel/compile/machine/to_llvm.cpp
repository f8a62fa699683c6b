// Upstream's conversions in the order that suits us, and what LLVM should know of each function.
#include "deep_accel/compile/machine/to_llvm.h"

#include "deep_accel/compile/machine/safe_division.h"
#include "deep_accel/compile/machine/tile_product.h"
#include "deep_accel/compile/numerics/vector_math.h"
#include "llvm/Support/Regex.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorTransforms.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

namespace deep_accel::compile {
namespace {

// Elementary functions become arithmetic, transposes of vectors become shuffles, and divisions that round up or down
// become those that the machine has.
class ExpandPass : public mlir::PassWrapper<ExpandPass, mlir::OperationPass<mlir::ModuleOp>> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandPass)
  explicit ExpandPass(MathOptions math) : math_(math) {}
  llvm::StringRef getArgument() const override { return "expand"; }
  void runOnOperation() override {
    expand_math(getOperation(), math_);
    mlir::RewritePatternSet patterns(&getContext());
    mlir::arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    mlir::vector::VectorTransformsOptions options;
    options.setVectorTransposeLowering(mlir::vector::VectorTransposeLowering::Shuffle16x16);
    mlir::vector::populateVectorTransposeLoweringPatterns(patterns, options);
    if (mlir::failed(mlir::applyPatternsAndFoldGreedily(getOperation(), std::move(patterns)))) signalPassFailure();
  }

 private:
  MathOptions math_;
};

enum class Entry { none, plan, phase };

Entry entry_kind(llvm::StringRef name) {
  if (name.ends_with("_plan")) return Entry::plan;
  size_t at = name.rfind("_phase");
  if (at == llvm::StringRef::npos) return Entry::none;
  llvm::StringRef digits = name.substr(at + 6);
  return !digits.empty() && llvm::all_of(digits, llvm::isDigit) ? Entry::phase : Entry::none;
}

void describe(llvm::Function& function, const Target& target, Entry kind) {
  function.addFnAttr("target-cpu", target.cpu);
  if (!target.tune.empty()) function.addFnAttr("tune-cpu", target.tune);
  if (!target.features.empty()) function.addFnAttr("target-features", target.features);
  // LLVM would rather not use 512 bits on chips whose clock falls; our loops are long enough to gain.
  if (target.vector_bits >= 512) {
    function.addFnAttr("prefer-vector-width", "512");
    function.addFnAttr("min-legal-vector-width", "512");
  }
  // The plan asks how long the registers are, and must not be told.
  if (target.vscale && kind != Entry::plan) {
    function.addFnAttr(
        llvm::Attribute::getWithVScaleRangeArgs(function.getContext(), target.vscale, std::max(16, target.vscale)));
  }
  function.addFnAttr(llvm::Attribute::NoUnwind);
}

// Nobody changes the context's members or the parameters while a block runs. (What the context points into may change,
// through the context: fail() writes there. So it is not read-only.)
void describe_entry(llvm::Function& function, Entry kind) {
  auto pointer = [&](unsigned index) {
    return function.arg_size() > index && function.getArg(index)->getType()->isPointerTy();
  };
  if (pointer(0)) function.addParamAttr(0, llvm::Attribute::NoAlias);
  if (pointer(1)) {
    function.addParamAttr(1, llvm::Attribute::NoAlias);
    function.addParamAttr(1, llvm::Attribute::ReadOnly);
  }
  if (kind == Entry::plan && pointer(2)) function.addParamAttr(2, llvm::Attribute::NoAlias);
}

}  // namespace

void prepare_context(mlir::MLIRContext& context) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect, mlir::func::FuncDialect,
                  mlir::index::IndexDialect, mlir::math::MathDialect, mlir::scf::SCFDialect,
                  mlir::vector::VectorDialect, mlir::LLVM::LLVMDialect>();
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

void add_conversion_to_llvm(mlir::PassManager& passes, const Target& target) {
  passes.addPass(std::make_unique<ExpandPass>(MathOptions{.fma = target.fma, .scalef = target.scalef}));
  passes.addPass(mlir::createConvertSCFToCFPass());
  passes.addPass(mlir::createConvertVectorToLLVMPass());
  passes.addPass(mlir::createConvertMathToLLVMPass());
  passes.addPass(mlir::createConvertMathToLibmPass());
  passes.addPass(mlir::createConvertIndexToLLVMPass());
  passes.addPass(mlir::createArithToLLVMConversionPass());
  passes.addPass(mlir::createConvertControlFlowToLLVMPass());
  passes.addPass(mlir::createConvertFuncToLLVMPass());
  passes.addPass(mlir::createReconcileUnrealizedCastsPass());
  passes.addPass(create_safe_division_pass());
}

mlir::LogicalResult convert_to_llvm(mlir::ModuleOp module, const Target& target) {
  mlir::PassManager passes(module.getContext());
  add_conversion_to_llvm(passes, target);
  return passes.run(module);
}

std::unique_ptr<llvm::Module> translate_to_llvm_ir(mlir::ModuleOp module, const Target& target,
                                                   const std::string& data_layout, llvm::LLVMContext& context) {
  module->setAttr(mlir::LLVM::LLVMDialect::getDataLayoutAttrName(),
                  mlir::StringAttr::get(module.getContext(), data_layout));
  std::unique_ptr<llvm::Module> result = mlir::translateModuleToLLVMIR(module, context);
  if (!result) return nullptr;
  for (llvm::Function& function : *result) {
    if (function.isDeclaration()) {
      const std::optional<TileProduct> product = TileProduct::parse(function.getName());
      if (!product) continue;
      define_tile_product(function, *product);
    }
    const Entry kind = entry_kind(function.getName());
    describe(function, target, kind);
    if (kind == Entry::none) {
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
    } else {
      describe_entry(function, kind);
    }
  }
  return result;
}

}  // namespace deep_accel::compile
