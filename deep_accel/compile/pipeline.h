// The compiler's passes on MLIR as one list, from top to bottom, and running them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "deep_accel/compile/target/target.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace deep_accel::compile {

// On what a step works: on tiles, on functions that stand for a kernel's phases, or on the way from there to LLVM.
enum class Level { tiles, functions, llvm };

struct Step {
  std::string name;
  std::string summary;
  Level level;
  std::function<void(mlir::PassManager&, const Target&)> add;
};

// All steps in the order in which they run.
const std::vector<Step>& steps();

// Runs the steps [first, last). `after` (may be empty) is called after each. Throws ValueError with diagnostics and
// source lines where a step on tiles refuses the program, UnsupportedError where the first diagnostic says that
// something is "not supported"; Error where a later step fails.
void run_steps(mlir::ModuleOp module, const Target& target, size_t first, size_t last,
               const std::function<void(const Step&)>& after = nullptr);

// The first step that does not work on tiles.
size_t first_step_after_tiles();

}  // namespace deep_accel::compile
