// How the body of tile.threads is cut at its barriers: which values are the same for all threads, which statements fall
// into which part, and which values a thread must keep from one part to a later one.
#pragma once

#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::compile {

class ThreadPlan {
 public:
  explicit ThreadPlan(tile::ThreadsOp threads) : threads_(threads) {}

  // Failure has a diagnostic: a barrier under control flow that differs between threads.
  mlir::LogicalResult run();

  // A barrier, a shuffle or a vote.
  static bool synchronises(mlir::Operation* op) {
    return mlir::isa<tile::BarrierOp, tile::ShuffleOp, tile::VoteOp>(op);
  }
  // Control flow with a barrier inside, which all threads go through together.
  bool is_cut(mlir::Operation* op) const { return cut_.contains(op); }
  // The same for all threads.
  bool is_uniform(mlir::Value value) const { return !varying_.contains(value); }
  // Computed once for the block, outside of the maps over threads.
  bool is_scalar(mlir::Value value) const;
  bool is_scalar(mlir::Operation* op) const { return scalar_.contains(op); }
  // Kept in an array over the threads from the part that computes it.
  bool is_kept(mlir::Value value) const { return kept_.contains(value); }

 private:
  void find_cuts();
  void find_varying();
  bool mark_varying(mlir::Operation* op);
  mlir::LogicalResult check_control();
  mlir::LogicalResult check_condition(mlir::Operation* control, mlir::Value condition);
  void find_scalars(mlir::Block& block);
  void assign_parts(mlir::Block& block);
  void assign_terminator(mlir::Block& block, mlir::Operation* control);
  void use(mlir::Value value) { uses_.push_back({value, part_}); }
  void use_as_scalar(mlir::Value value) {
    if (!is_scalar(value)) keep(value);
  }
  void use_all(mlir::Operation* op);
  void keep(mlir::Value value);
  int64_t price_of_repeating(mlir::Value value) const;

  tile::ThreadsOp threads_;
  llvm::DenseSet<mlir::Operation*> cut_, scalar_;
  llvm::DenseSet<mlir::Value> varying_, kept_;
  llvm::DenseMap<mlir::Operation*, int64_t> part_of_;
  llvm::SmallVector<std::pair<mlir::Value, int64_t>> uses_;
  int64_t part_ = 0;
};

// The values from outside that an operation and its regions use.
llvm::SetVector<mlir::Value> captured_values(mlir::Operation* op);

}  // namespace deep_accel::compile
