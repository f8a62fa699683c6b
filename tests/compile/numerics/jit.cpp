// From a request to machine code: MLIR, the upstream lowerings, LLVM at O3, ORC.
#include "jit.h"

#include <cstdio>
#include <cstdlib>
#include <map>

#include "deep_accel/compile/numerics/narrow.h"
#include "deep_accel/compile/numerics/vector_math.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"

namespace deep_accel::test {
namespace {

namespace math = mlir::math;
using mlir::Type;
using mlir::Value;

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "numerics test: %s\n", what.c_str());
  std::abort();
}

template <typename T>
T check(llvm::Expected<T> value) {
  if (!value) fail(llvm::toString(value.takeError()));
  return std::move(*value);
}

compile::Narrow narrow_kind(const std::string& name) {
  static const std::map<std::string, compile::Narrow> kinds = {
      {"e4m3", compile::Narrow::Fp8E4M3}, {"e5m2", compile::Narrow::Fp8E5M2}, {"e2m1", compile::Narrow::Fp4E2M1},
      {"int4", compile::Narrow::Int4},    {"bf16", compile::Narrow::BF16},    {"f16", compile::Narrow::F16}};
  return kinds.at(name);
}

// "i8_f32": from f32 to signed integers of 8 bits.
Value saturating(mlir::ImplicitLocOpBuilder& b, const std::string& type, Value x) {
  return compile::saturating_to_int(b, x, std::stoi(type.substr(1)), type.front() == 'i');
}

bool is_pack(const std::string& f) { return f == "unpack_nibbles" || f == "pack_nibbles"; }

Type input_element(mlir::OpBuilder& b, const JitRequest& r) {
  const bool wide16 = r.type == "bf16" || r.type == "f16";
  if (r.function == "widen") return wide16 ? b.getI16Type() : b.getI8Type();
  if (r.function == "narrow") return r.type == "int4" ? Type(b.getI32Type()) : Type(b.getF32Type());
  if (is_pack(r.function)) return b.getI8Type();
  return llvm::StringRef(r.type).ends_with("f64") ? b.getF64Type() : b.getF32Type();
}

Value math_op(mlir::ImplicitLocOpBuilder& b, const std::string& f, Value x, Value y) {
  if (f == "exp") return b.create<math::ExpOp>(x);
  if (f == "exp2") return b.create<math::Exp2Op>(x);
  if (f == "expm1") return b.create<math::ExpM1Op>(x);
  if (f == "log") return b.create<math::LogOp>(x);
  if (f == "log2") return b.create<math::Log2Op>(x);
  if (f == "log1p") return b.create<math::Log1pOp>(x);
  if (f == "tanh") return b.create<math::TanhOp>(x);
  if (f == "erf") return b.create<math::ErfOp>(x);
  if (f == "sin") return b.create<math::SinOp>(x);
  if (f == "cos") return b.create<math::CosOp>(x);
  if (f == "rsqrt") return b.create<math::RsqrtOp>(x);
  if (f == "pow") return b.create<math::PowFOp>(x, y);
  fail("no function " + f);
}

Value apply(mlir::ImplicitLocOpBuilder& b, const JitRequest& r, Value x, Value y) {
  if (r.function == "widen") return compile::widen(b, x, narrow_kind(r.type), {.native_f16 = r.native_f16});
  if (r.function == "narrow") return compile::narrow(b, x, narrow_kind(r.type), {.native_f16 = r.native_f16});
  if (r.function == "unpack_nibbles") return compile::unpack_nibbles(b, x);
  if (r.function == "pack_nibbles") return compile::pack_nibbles(b, x);
  if (r.function == "saturating_to_int") return saturating(b, r.type, x);
  if (r.function == "sigmoid") return compile::emit_sigmoid(b, x, {.fma = r.fma, .scalef = r.scalef});
  return math_op(b, r.function, x, y);
}

// func @apply(a, b, out, n): for i in 0..n step lanes: out[i] = f(a[i], b[i])
mlir::OwningOpRef<mlir::ModuleOp> build(mlir::MLIRContext& context, const JitRequest& r) {
  mlir::ImplicitLocOpBuilder b(mlir::UnknownLoc::get(&context), &context);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(b.getLoc());
  b.setInsertionPointToStart(module->getBody());
  const Type pointer = mlir::LLVM::LLVMPointerType::get(&context);
  const Type element = input_element(b, r);
  const Type value = r.lanes ? Type(mlir::VectorType::get({r.lanes}, element)) : element;
  auto function =
      b.create<mlir::func::FuncOp>("apply", b.getFunctionType({pointer, pointer, pointer, b.getI64Type()}, {}));
  mlir::Block* entry = function.addEntryBlock();
  b.setInsertionPointToStart(entry);
  Value zero = b.create<mlir::arith::ConstantIndexOp>(0);
  Value step = b.create<mlir::arith::ConstantIndexOp>(r.lanes ? r.lanes : 1);
  Value end = b.create<mlir::arith::IndexCastOp>(b.getIndexType(), entry->getArgument(3));
  auto loop = b.create<mlir::scf::ForOp>(zero, end, step);
  b.setInsertionPointToStart(loop.getBody());
  Value i = b.create<mlir::arith::IndexCastOp>(b.getI64Type(), loop.getInductionVar());
  const auto load = [&](Value base) -> Value {
    Value at = b.create<mlir::LLVM::GEPOp>(pointer, element, base, mlir::ValueRange{i});
    return b.create<mlir::LLVM::LoadOp>(value, at, 1u);
  };
  Value x = load(entry->getArgument(0));
  Value result = apply(b, r, x, r.function == "pow" ? load(entry->getArgument(1)) : Value());
  // Packing changes the number of elements, in proportion.
  Value out_index = i;
  Value two = b.create<mlir::arith::ConstantIntOp>(2, 64);
  if (r.function == "unpack_nibbles") out_index = b.create<mlir::arith::MulIOp>(i, two);
  if (r.function == "pack_nibbles") out_index = b.create<mlir::arith::DivUIOp>(i, two);
  Value at = b.create<mlir::LLVM::GEPOp>(pointer, mlir::getElementTypeOrSelf(result.getType()), entry->getArgument(2),
                                         mlir::ValueRange{out_index});
  b.create<mlir::LLVM::StoreOp>(result, at, 1u);
  b.setInsertionPointToEnd(entry);
  b.create<mlir::func::ReturnOp>();
  compile::expand_math(module.get(), {.fma = r.fma, .scalef = r.scalef});
  // What is left of the math dialect is one instruction each: nothing may become a call into libm.
  module->walk([](mlir::Operation* op) {
    if (llvm::isa<math::MathDialect>(op->getDialect()) &&
        !llvm::isa<math::FmaOp, math::AbsFOp, math::RoundEvenOp, math::SqrtOp>(op)) {
      fail("not expanded: " + op->getName().getStringRef().str());
    }
  });
  if (mlir::failed(mlir::verify(module.get()))) fail("the emitted module is malformed");
  return module;
}

void lower(mlir::ModuleOp module) {
  mlir::PassManager passes(module.getContext());
  passes.addPass(mlir::createConvertSCFToCFPass());
  passes.addPass(mlir::createConvertVectorToLLVMPass());
  passes.addPass(mlir::createConvertMathToLLVMPass());
  passes.addPass(mlir::createConvertIndexToLLVMPass());
  passes.addPass(mlir::createArithToLLVMConversionPass());
  passes.addPass(mlir::createConvertControlFlowToLLVMPass());
  passes.addPass(mlir::createConvertFuncToLLVMPass());
  passes.addPass(mlir::createReconcileUnrealizedCastsPass());
  if (mlir::failed(passes.run(module))) fail("lowering to LLVM");
}

llvm::orc::JITTargetMachineBuilder machine_builder(const JitRequest& r) {
  static const bool once = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)once;
  auto builder = check(llvm::orc::JITTargetMachineBuilder::detectHost());
  if (!r.cpu.empty()) {
    builder.setCPU(r.cpu);
    builder.getFeatures() = llvm::SubtargetFeatures();
  }
  builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
  return builder;
}

std::unique_ptr<llvm::Module> compile_to_llvm(const JitRequest& r, llvm::LLVMContext& llvm_context,
                                              llvm::TargetMachine& machine) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect, math::MathDialect, mlir::scf::SCFDialect,
                  mlir::vector::VectorDialect, mlir::LLVM::LLVMDialect>();
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto module = build(context, r);
  lower(module.get());
  auto llvm_module = mlir::translateModuleToLLVMIR(module.get(), llvm_context);
  if (!llvm_module) fail("translation to LLVM IR");
  llvm_module->setDataLayout(machine.createDataLayout());
  llvm_module->setTargetTriple(machine.getTargetTriple().str());

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder passes(&machine);
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(components);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, components, modules);
  passes.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(*llvm_module, modules);
  return llvm_module;
}

}  // namespace

struct JitFunction::Engine {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

JitFunction::JitFunction(const JitRequest& request) : engine_(std::make_unique<Engine>()) {
  auto builder = machine_builder(request);
  auto machine = check(builder.createTargetMachine());
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = compile_to_llvm(request, *context, *machine);
  engine_->jit = check(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(builder)).create());
  if (auto error = engine_->jit->addIRModule(llvm::orc::ThreadSafeModule(std::move(module), std::move(context)))) {
    fail(llvm::toString(std::move(error)));
  }
  entry_ = check(engine_->jit->lookup("apply")).toPtr<void (*)(const void*, const void*, void*, int64_t)>();
}

JitFunction::~JitFunction() = default;

std::string assembly_of(const JitRequest& request) {
  auto machine = check(machine_builder(request).createTargetMachine());
  llvm::LLVMContext context;
  auto module = compile_to_llvm(request, context, *machine);
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile)) fail("no assembly");
  passes.run(*module);
  return std::string(text);
}

}  // namespace deep_accel::test
