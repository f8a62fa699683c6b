// The walk over a kernel that emits its functions: statements in emitter.cpp, checks and foreign calls in
// emit_checks.cpp, prefetches in emit_prefetch.cpp, maps in emit_map.cpp, products in emit_gemm.cpp.
#pragma once

#include "deep_accel/compile/lower/buffer_ref.h"
#include "deep_accel/compile/passes/prefetch_host.h"
#include "mlir/IR/IRMapping.h"

namespace deep_accel::compile {

// What compiled code sees of KernelContext (runtime/kernel.h): byte offsets of its members.
struct ContextLayout {
  static constexpr int64_t arena = 0, workspace = 8, fail = 16, print = 24;
};

// Lines side by side that a prefetch asks for.
struct PrefetchRun {
  tile::PrefetchOp op;
  mlir::Value start;
  int64_t lines;
};

class Emitter {
 public:
  Emitter(mlir::ImplicitLocOpBuilder& builder, const Target& target, mlir::ModuleOp module)
      : builder_(builder), elements_(builder, target), target_(target), module_(module) {}

  // Emits the kernel's functions behind it; failure has a diagnostic.
  mlir::LogicalResult emit_kernel(tile::KernelOp kernel);

 private:
  mlir::LogicalResult emit_plan(tile::KernelOp kernel);
  mlir::LogicalResult emit_phase(tile::KernelOp kernel, tile::GridOp grid, int64_t phase);
  // Buffers of arguments and workspaces, and the scalars above the grids.
  mlir::LogicalResult begin_function(tile::KernelOp kernel, mlir::Block* entry, bool is_plan);

  mlir::LogicalResult emit_block(mlir::Block& block);
  mlir::LogicalResult emit(mlir::Operation& op);
  mlir::LogicalResult emit_generic(mlir::Operation& op);
  mlir::LogicalResult emit_pipeline(tile::PipelineOp op);
  void emit_alloc(tile::AllocOp op);
  void emit_slice(tile::SliceOp op);
  void emit_reshape(tile::ReshapeOp op);
  void emit_bitcast(tile::BitcastOp op);
  void emit_prefetch(tile::PrefetchOp op);
  // What is emitted next stands under the prefetch's condition.
  void enter_condition(tile::PrefetchOp op);
  int64_t prefetch_lines(tile::PrefetchOp op);
  int64_t elements_per_line(tile::PrefetchOp op);
  // Where a line of a prefetch's window lies, counted in the order in which they lie.
  mlir::Value line_address(tile::PrefetchOp op, mlir::Value line);
  void emit_prefetch_line(tile::PrefetchOp op, mlir::Value address);
  // Of the prefetches that wait for such a host, the lines that fall to `turn`, one of `turns`.
  llvm::SmallVector<PrefetchRun> prefetch_share(PrefetchHost host, mlir::Value turn, int64_t turns);
  // All lines of a run, under its condition.
  void emit_prefetch_run(const PrefetchRun& run);
  // Spreads runs over a loop from 0 to `end` by `step`, whatever their conditions: the part of the iteration `index`.
  void emit_prefetches_in_loop(llvm::ArrayRef<PrefetchRun> runs, mlir::Value index, int64_t end, int64_t step);
  void end_prefetches(PrefetchHost host);
  mlir::LogicalResult emit_atomic(tile::AtomicOp op);
  void emit_assert(tile::AssertOp op, mlir::Value condition);
  // Fails the launch with the message where the condition does not hold.
  void fail_unless(mlir::Value condition, llvm::StringRef message);
  void emit_print(tile::PrintOp op);
  mlir::Value print_slots(int64_t count);
  mlir::LogicalResult emit_extern(tile::ExternOp op);
  mlir::LogicalResult emit_map(tile::MapOp op);
  mlir::LogicalResult emit_gemm(tile::GemmOp op);

  mlir::Value value(mlir::Value original) { return map_.lookupOrDefault(original); }
  llvm::SmallVector<mlir::Value> values(mlir::ValueRange originals);
  const BufferRef& buffer(mlir::Value original) { return buffers_.find(original)->second; }
  mlir::Type pointer_type() { return mlir::LLVM::LLVMPointerType::get(builder_.getContext()); }
  mlir::Value load_i64(mlir::Value pointer, int64_t slot);
  mlir::Value load_context(int64_t byte_offset);
  mlir::Value param_index(int64_t slot);
  // Address of a zero-terminated text in read-only memory.
  mlir::Value text_address(llvm::StringRef text);
  mlir::scf::ForOp make_loop(mlir::Value lower, mlir::Value upper, mlir::Value step, mlir::ValueRange carried = {});

  friend class MapEmitter;
  friend class GemmEmitter;

  mlir::ImplicitLocOpBuilder& builder_;
  Elements elements_;
  const Target& target_;
  mlir::ModuleOp module_;

  // Of the function being emitted.
  mlir::IRMapping map_;
  llvm::DenseMap<mlir::Value, BufferRef> buffers_;
  mlir::Value context_, params_, arena_;
  int64_t workspace_bytes_ = 0;
  mlir::LLVM::AllocaOp print_slots_;  // where prints put their values; null where there is none yet
  int64_t texts_ = 0;
  llvm::SmallVector<tile::PrefetchOp> ahead_;  // that wait for their host in the block
};

// True where an exact element of the tile's type is all that can be written: a read of the same type, say.
bool writes_exactly(mlir::Value value, mlir::Type element);

}  // namespace deep_accel::compile
