// Which loads of a pipelined loop are worth a prefetch ahead of their iteration, and the code for those that are.
#pragma once

#include <optional>

#include "deep_accel/compile/passes/address_slice.h"
#include "deep_accel/compile/passes/prefetch_host.h"

namespace deep_accel::compile {

// A window of global memory that an iteration will read. Indices and sizes have an entry for each dimension of the
// source.
struct FutureWindow {
  mlir::Operation* op;  // the load or gather
  mlir::Value source;
  llvm::SmallVector<mlir::Value> indices;
  llvm::SmallVector<int64_t> sizes;
  mlir::Value rows;  // for gathers: the index tile, one window a row
  int64_t axis = 0;  // the dimension that rows index
  AddressSlice slice;

  // Emits the prefetches for a later iteration; `mapping` takes the induction variable there.
  void emit(mlir::OpBuilder& builder, mlir::IRMapping& mapping, PrefetchHost host = PrefetchHost::none) const;
};

struct PrefetchDecision {
  std::optional<FutureWindow> window;  // set where a prefetch is worth its price
  tile::GemmOp during;                 // the product that hides it, if there is one
  std::string text;                    // "gather of 'KV' by 'ids' prefetched", "load of 'A' left to the hardware: ..."
};

// What to do about a statement of the loop's body; nullopt for statements that do not read global memory in windows.
std::optional<PrefetchDecision> decide_prefetch(mlir::Operation* op, mlir::Block& body, const LoopHazards& hazards);

}  // namespace deep_accel::compile
