// LLVM's target machines, set up for position-independent kernels.
#include "deep_accel/compile/machine/machine_code.h"

#include <cstring>

#include "deep_accel/base/error.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace deep_accel::compile {
namespace {

#define DEEP_ACCEL_INITIALISE(ARCHITECTURE)   \
  LLVMInitialize##ARCHITECTURE##TargetInfo(); \
  LLVMInitialize##ARCHITECTURE##Target();     \
  LLVMInitialize##ARCHITECTURE##TargetMC();   \
  LLVMInitialize##ARCHITECTURE##AsmPrinter(); \
  LLVMInitialize##ARCHITECTURE##AsmParser()

void initialise_llvm() {
  static const bool once = [] {
    DEEP_ACCEL_INITIALISE(X86);
    DEEP_ACCEL_INITIALISE(AArch64);
    DEEP_ACCEL_INITIALISE(RISCV);
    DEEP_ACCEL_INITIALISE(LoongArch);
    return true;
  }();
  (void)once;
}

llvm::CodeGenOptLevel codegen_level(int optimisation) {
  return llvm::CodeGenOpt::getLevel(optimisation).value_or(llvm::CodeGenOptLevel::Aggressive);
}

llvm::OptimizationLevel pass_level(int optimisation) {
  switch (optimisation) {
    case 0:
      return llvm::OptimizationLevel::O0;
    case 1:
      return llvm::OptimizationLevel::O1;
    case 2:
      return llvm::OptimizationLevel::O2;
    default:
      return llvm::OptimizationLevel::O3;
  }
}

}  // namespace

MachineCode::MachineCode(const Target& target, int optimisation) : optimisation_(optimisation) {
  if (optimisation < 0 || optimisation > 3) {
    throw ValueError("optimisation is " + std::to_string(optimisation) + "; expected 0 to 3");
  }
  initialise_llvm();
  std::string reason;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(target.triple, reason);
  if (!found) throw UnsupportedError("target '" + target.name + "': " + reason);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;  // multiply-adds are written where they are wanted
  options.MCOptions.ABIName = "";
  if (llvm::StringRef(target.triple).starts_with("riscv64")) options.MCOptions.ABIName = "lp64d";
  if (llvm::StringRef(target.triple).starts_with("loongarch64")) options.MCOptions.ABIName = "lp64d";
  // No model: x86's small one, and what the others take for a shared library.
  machine_.reset(found->createTargetMachine(target.triple, target.cpu, target.features, options, llvm::Reloc::PIC_,
                                            std::nullopt, codegen_level(optimisation)));
  if (!machine_) throw UnsupportedError("target '" + target.name + "': LLVM has no code generator for it");
}

MachineCode::~MachineCode() = default;

std::string MachineCode::data_layout() const { return machine_->createDataLayout().getStringRepresentation(); }

void MachineCode::optimise(llvm::Module& module) const {
  module.setDataLayout(machine_->createDataLayout());
  module.setTargetTriple(machine_->getTargetTriple().str());
  module.setPICLevel(llvm::PICLevel::BigPIC);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.LoopInterleaving = false;
  tuning.SLPVectorization = false;
  llvm::PassBuilder builder(machine_.get(), tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  const llvm::OptimizationLevel level = pass_level(optimisation_);
  llvm::ModulePassManager passes = level == llvm::OptimizationLevel::O0 ? builder.buildO0DefaultPipeline(level)
                                                                        : builder.buildPerModuleDefaultPipeline(level);
  passes.run(module, modules);
}

namespace {

// LLVM's own reaction to an error of its code generators is to end the process.
class ErrorCollector {
 public:
  explicit ErrorCollector(llvm::LLVMContext& context) : context_(context) {
    context_.setDiagnosticHandlerCallBack(&receive, this);
  }
  ~ErrorCollector() { context_.setDiagnosticHandlerCallBack(nullptr); }
  ErrorCollector(const ErrorCollector&) = delete;
  ErrorCollector& operator=(const ErrorCollector&) = delete;

  const std::string& text() const { return text_; }

 private:
  static void receive(const llvm::DiagnosticInfo* info, void* opaque) {
    if (info->getSeverity() != llvm::DS_Error) return;
    std::string& text = static_cast<ErrorCollector*>(opaque)->text_;
    llvm::raw_string_ostream stream(text);
    if (!text.empty()) stream << "; ";
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info->print(printer);
  }

  llvm::LLVMContext& context_;
  std::string text_;
};

llvm::SmallVector<char, 0> emit(llvm::TargetMachine& machine, llvm::Module& module, llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type)) {
    throw UnsupportedError("LLVM cannot emit this kind of file for " + machine.getTargetTriple().str());
  }
  ErrorCollector errors(module.getContext());
  passes.run(module);
  if (!errors.text().empty()) {
    throw UnsupportedError("LLVM cannot generate code for " + machine.getTargetTriple().str() + ": " + errors.text());
  }
  return bytes;
}

}  // namespace

std::vector<std::byte> MachineCode::object(llvm::Module& module) const {
  llvm::SmallVector<char, 0> bytes = emit(*machine_, module, llvm::CodeGenFileType::ObjectFile);
  std::vector<std::byte> result(bytes.size());
  std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

std::string MachineCode::assembly(llvm::Module& module) const {
  llvm::SmallVector<char, 0> bytes = emit(*machine_, module, llvm::CodeGenFileType::AssemblyFile);
  return std::string(bytes.data(), bytes.size());
}

}  // namespace deep_accel::compile
