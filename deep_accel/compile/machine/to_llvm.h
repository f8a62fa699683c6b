// From functions in upstream dialects to LLVM IR for a target.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "deep_accel/compile/target/target.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace deep_accel::compile {

// Loads the dialects that lowered code uses, and what translates them, into a context.
void prepare_context(mlir::MLIRContext& context);

// The passes from func, scf, cf, arith, math, index and vector to the LLVM dialect.
void add_conversion_to_llvm(mlir::PassManager& passes, const Target& target);

// Expands the elementary functions and runs the conversion. Failures are diagnostics of the context.
mlir::LogicalResult convert_to_llvm(mlir::ModuleOp module, const Target& target);

// Translates a module in the LLVM dialect; null where it cannot, with diagnostics. The data layout (LLVM's text)
// decides how loads and stores that do not say so are aligned. Functions that are not entry points of kernels
// (<name>_plan, <name>_phase<k>) become internal; all are told for which processor they are.
std::unique_ptr<llvm::Module> translate_to_llvm_ir(mlir::ModuleOp module, const Target& target,
                                                   const std::string& data_layout, llvm::LLVMContext& context);

}  // namespace deep_accel::compile
