// How one map is emitted: its loops and lanes in emit_map.cpp, the choice of the vector axis in map_axis.cpp, stores
// past the caches in map_streaming.cpp, packing in groups in map_groups.cpp, what is told of it in map_note.cpp.
#pragma once

#include "deep_accel/compile/lower/emitter.h"
#include "deep_accel/compile/passes/answers.h"

namespace deep_accel::compile {

// What a value of the body is over the lanes of one vector: `scalar` + lane * `step`, or a vector.
struct LaneValue {
  mlir::Value scalar;
  int64_t step = 0;
  mlir::Value lanes = {};  // set where the value is no such sequence
};

class MapEmitter {
 public:
  MapEmitter(Emitter& emitter, tile::MapOp op)
      : emitter_(emitter), elements_(emitter.elements_), builder_(emitter.builder_), op_(op) {}

  mlir::LogicalResult emit();

 private:
  bool straight_line();
  // How far an access moves in memory for one step along `axis`; nullopt where that is not known.
  std::optional<int64_t> memory_step(mlir::Value buffer, mlir::ValueRange indices, int64_t axis);
  std::optional<int64_t> index_step(mlir::Value index, int64_t axis);
  std::optional<int64_t> find_index_step(mlir::Value index, int64_t axis);
  int64_t choose_axis();
  int64_t choose_lanes();
  int64_t choose_unroll();
  // Whether the copies of an unrolled body are emitted as one long vector.
  bool advances_together();
  llvm::SmallVector<mlir::Value> joined_copies(llvm::ArrayRef<mlir::Value> vectors, int64_t copies);
  llvm::SmallVector<mlir::Value> split_copies(llvm::ArrayRef<mlir::Value> joined, int64_t copies);
  // Whether output goes past the caches: null where it never pays, else the condition.
  mlir::Value streaming_condition();
  bool may_stream(tile::WriteOp write);
  mlir::Value clone_index(mlir::Value index, mlir::IRMapping& start);
  // Tells `explain` what was chosen.
  void note_shape();

  mlir::LogicalResult emit_outer(llvm::ArrayRef<int64_t> order, size_t depth);
  mlir::LogicalResult emit_scalar();
  mlir::LogicalResult emit_vector_loop();
  void emit_prefetches(mlir::Value start);
  // One vector's worth of the body, `accumulators` in and out.
  void emit_lanes(mlir::Value start, int64_t lanes, mlir::Value mask, llvm::MutableArrayRef<mlir::Value> accumulators);
  void emit_lane_op(mlir::Operation& op, int64_t lanes, mlir::Value mask,
                    llvm::MutableArrayRef<mlir::Value> accumulators);
  bool starts_at_byte(const BufferRef& ref, mlir::ValueRange indices);
  void emit_check(tile::AssertOp op, int64_t lanes, mlir::Value mask);
  void emit_read(tile::ReadOp op, int64_t lanes, mlir::Value mask);
  void emit_write(tile::WriteOp op, int64_t lanes, mlir::Value mask);
  void emit_combine(tile::CombineOp op, int64_t lanes, mlir::Value mask,
                    llvm::MutableArrayRef<mlir::Value> accumulators);
  // The write that packs a tile in groups, where the map can write them whole.
  tile::WriteOp grouped_write();
  mlir::LogicalResult emit_grouped(tile::WriteOp write);
  void emit_words(tile::WriteOp write, mlir::Value along, mlir::Value across);
  void finish_accumulators(llvm::ArrayRef<mlir::Value> accumulators);

  LaneValue lookup(mlir::Value original);
  mlir::Value as_vector(mlir::Value original, int64_t lanes);
  llvm::SmallVector<mlir::Value> lane_indices(mlir::ValueRange indices, int64_t lane);

  Emitter& emitter_;
  Elements& elements_;
  mlir::ImplicitLocOpBuilder& builder_;
  tile::MapOp op_;

  int64_t axis_ = -1;
  int64_t lanes_ = 1;
  llvm::DenseMap<mlir::Value, LaneValue> lane_values_;
  llvm::SmallVector<tile::CombineOp> horizontal_;  // combines kept in registers
  int index_depth_ = 0;
  Answers<std::pair<mlir::Value, int64_t>, std::optional<int64_t>> index_steps_{index_depth_};
  bool streaming_ = false;
  bool may_go_past_caches_ = false;
};

}  // namespace deep_accel::compile
