// The computation of an address in a loop's body, so that it can be repeated for a later iteration.
//
// It may hold scalar code without effects, reads of buffers that the loop does not write, and, where an index tile is
// itself loaded in each iteration, that load: the copy fills a tile of its own. All of it runs in the later iteration
// too, at the same addresses, so that running it early touches nothing that the program would not touch.
#pragma once

#include "deep_accel/compile/passes/hazards.h"
#include "mlir/IR/IRMapping.h"

namespace deep_accel::compile {

class AddressSlice {
 public:
  // `body`'s first argument is the induction variable.
  AddressSlice(mlir::Block& body, const LoopHazards& hazards) : body_(body), hazards_(hazards) {}

  // Adds what `value` (a scalar or a view) is computed from. False where it cannot be repeated; obstacle() says why.
  bool add(mlir::Value value);
  // Adds what the contents of a tile come from at the statement `at`.
  bool add_contents(mlir::Value tile, mlir::Operation* at);

  const std::string& obstacle() const { return obstacle_; }
  // True where the values differ between iterations.
  bool varies() const { return varies_; }
  // True where the addresses come from memory, so that no hardware foresees them.
  bool reads_memory() const { return reads_memory_; }

  // Emits the computation with `mapping` from the induction variable to the later iteration's; adds its results to it.
  void clone(mlir::OpBuilder& builder, mlir::IRMapping& mapping) const;

 private:
  bool add_operation(mlir::Operation* op);
  bool fail(const std::string& why) {
    if (obstacle_.empty()) obstacle_ = why;
    return false;
  }

  mlir::Block& body_;
  const LoopHazards& hazards_;
  llvm::SetVector<mlir::Operation*> operations_;  // in the order in which they can run
  std::string obstacle_;
  bool varies_ = false, reads_memory_ = false;
};

}  // namespace deep_accel::compile
