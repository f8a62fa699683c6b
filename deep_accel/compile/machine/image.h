// What of a kernel's image is not code: its signature and the variables that its imports are put into; and the way from
// lowered functions to a finished image.
#pragma once

#include <string>
#include <vector>

#include "deep_accel/compile/target/target.h"
#include "llvm/IR/Module.h"
#include "mlir/IR/BuiltinOps.h"

namespace deep_accel::compile {

// Adds a zero-terminated text that the image exports. One kernel's is "deep_accel_signature".
void add_signature(llvm::Module& module, const std::string& symbol, const std::string& json);

// Makes deep_accel_import_<symbol> an exported pointer variable that the loader fills.
void add_import(llvm::Module& module, const std::string& symbol);

// From functions in upstream dialects (see to_llvm.h) to a shared library image; changes `module`. `signature` is the
// JSON text of one kernel. Throws Error with diagnostics where the functions cannot be converted.
std::vector<std::byte> library_from_lowered(mlir::ModuleOp module, const Target& target, const std::string& signature,
                                            int optimisation = 3);

}  // namespace deep_accel::compile
