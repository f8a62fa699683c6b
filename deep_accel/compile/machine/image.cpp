// Data symbols of a kernel's image, and the steps from lowered functions to it.
#include "deep_accel/compile/machine/image.h"

#include "deep_accel/base/error.h"
#include "deep_accel/compile/machine/link.h"
#include "deep_accel/compile/machine/machine_code.h"
#include "deep_accel/compile/machine/to_llvm.h"
#include "deep_accel/runtime/kernel_signature.h"
#include "deep_accel/tile/ir/program_impl.h"
#include "llvm/IR/Constants.h"

namespace deep_accel::compile {

void add_signature(llvm::Module& module, const std::string& symbol, const std::string& json) {
  llvm::Constant* text = llvm::ConstantDataArray::getString(module.getContext(), json, /*AddNull=*/true);
  new llvm::GlobalVariable(module, text->getType(), /*isConstant=*/true, llvm::GlobalValue::ExternalLinkage, text,
                           symbol);
}

void add_import(llvm::Module& module, const std::string& symbol) {
  llvm::PointerType* type = llvm::PointerType::get(module.getContext(), 0);
  auto* variable = llvm::cast<llvm::GlobalVariable>(module.getOrInsertGlobal("deep_accel_import_" + symbol, type));
  variable->setLinkage(llvm::GlobalValue::ExternalLinkage);
  variable->setConstant(false);
  variable->setInitializer(llvm::ConstantPointerNull::get(type));
}

std::vector<std::byte> library_from_lowered(mlir::ModuleOp module, const Target& target, const std::string& signature,
                                            int optimisation) {
  prepare_context(*module.getContext());
  tile::DiagnosticCollector diagnostics(module.getContext());
  const MachineCode machine(target, optimisation);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code;
  if (mlir::succeeded(convert_to_llvm(module, target)))
    code = translate_to_llvm_ir(module, target, machine.data_layout(), context);
  if (!code) throw Error("lowered code cannot be converted to LLVM's: " + diagnostics.text());
  add_signature(*code, "deep_accel_signature", signature);
  for (const std::string& symbol : KernelSignature::parse(signature).imports) add_import(*code, symbol);
  machine.optimise(*code);
  return link_library(machine.object(*code));
}

}  // namespace deep_accel::compile
