// Parses the functions and hands them to the compiler's back end.
#include "lowered.h"

#include "deep_accel/base/error.h"
#include "deep_accel/compile/machine/image.h"
#include "deep_accel/compile/machine/machine_code.h"
#include "deep_accel/compile/machine/to_llvm.h"
#include "mlir/Parser/Parser.h"

namespace deep_accel::test {
namespace {

struct Parsed {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;

  explicit Parsed(const std::string& code) {
    compile::prepare_context(context);
    module = mlir::parseSourceString<mlir::ModuleOp>(code, &context);
    if (!module) throw Error("the test's functions do not parse");
  }
};

struct Translated {
  Parsed parsed;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code;
  compile::MachineCode machine;

  Translated(const std::string& text, const compile::Target& target) : parsed(text), machine(target, 3) {
    if (mlir::failed(compile::convert_to_llvm(*parsed.module, target))) throw Error("conversion failed");
    code = compile::translate_to_llvm_ir(*parsed.module, target, machine.data_layout(), context);
    if (!code) throw Error("translation failed");
    machine.optimise(*code);
  }
};

}  // namespace

std::vector<std::byte> library_of_lowered(const std::string& code, const std::string& signature) {
  Parsed parsed(code);
  return compile::library_from_lowered(*parsed.module, compile::host_target(), signature);
}

std::vector<std::byte> object_of_lowered(const std::string& code, const std::string& target) {
  Translated translated(code, compile::find_target(target));
  return translated.machine.object(*translated.code);
}

std::string assembly_of_lowered(const std::string& code, const std::string& target) {
  Translated translated(code, compile::find_target(target));
  return translated.machine.assembly(*translated.code);
}

}  // namespace deep_accel::test
