// From a tile.kernel to instructions of the machine. Structured control flow becomes jumps; each value gets a register.
#pragma once

#include "deep_accel/tile/interpreter/machine.h"
#include "llvm/ADT/DenseMap.h"

namespace deep_accel::tile::interpreter {

ScalarType scalar_type(mlir::Type type);
ElementType element_type(mlir::Type storage);

class Decoder {
 public:
  Decoder(KernelOp kernel, Code& code) : kernel_(kernel), code_(code) {}

  // The kernel's body; its arguments are in the slots that slot() and view_slot() give for them. `sizes` are the sizes
  // of the buffer arguments, an entry for each argument.
  void decode(const std::vector<Indices>& sizes);

  Slot slot(mlir::Value value);
  Slot view_slot(mlir::Value value);

 private:
  friend struct ScalarDecoder;
  using Run = std::function<void(Thread&)>;

  void block(mlir::Block& block);
  void operation(mlir::Operation* op);
  bool structure(mlir::Operation* op);
  bool control(mlir::Operation* op);
  bool scalar(mlir::Operation* op);
  bool move(mlir::Operation* op);
  bool compute(mlir::Operation* op);
  bool check(mlir::Operation* op);
  bool threads(mlir::Operation* op);

  void emit(mlir::Operation* op, Run run) { code_.instructions.push_back({std::move(run), op}); }
  size_t here() const { return code_.instructions.size(); }
  // An instruction whose action is only known later.
  size_t reserve(mlir::Operation* op) {
    emit(op, nullptr);
    return here() - 1;
  }
  void fill(size_t at, Run run) { code_.instructions[at].run = std::move(run); }
  Site site(mlir::Operation* op) {
    code_.sites.push_back(op);
    return static_cast<Site>(code_.sites.size() - 1);
  }
  llvm::SmallVector<Slot, 4> slots(mlir::ValueRange values);
  std::optional<Slot> optional_slot(mlir::Value value) { return value ? std::optional(slot(value)) : std::nullopt; }
  // Copies scalars all at once (a loop may exchange its values).
  static void assign(Thread& thread, llvm::ArrayRef<Slot> from, llvm::ArrayRef<Slot> to);

  void grid(GridOp op);
  void loop(mlir::Operation* op, mlir::Block& body, mlir::Value lower, mlir::Value upper, mlir::Value step);
  void decode_if(mlir::scf::IfOp op);
  void decode_while(mlir::scf::WhileOp op);
  void decode_switch(mlir::scf::IndexSwitchOp op);
  void map(MapOp op);
  void alloc(AllocOp op);
  void slice(SliceOp op);
  void decode_threads(ThreadsOp op);
  void gather(GatherOp op);
  void scatter(ScatterOp op);
  void im2col(Im2colOp op);
  void gemm(GemmOp op);
  void sparse_gemm(SparseGemmOp op);
  void reduce(ReduceOp op);
  void scan(ScanOp op);
  void print(PrintOp op);
  void call(ExternOp op);
  template <typename Op>
  void load(Op op);
  template <typename Op>
  void store(Op op, std::optional<Combine> atomic);

  // Reading operands at run time.
  static Indices indices(Thread& thread, llvm::ArrayRef<Slot> slots, mlir::Operation* op);

  KernelOp kernel_;
  Code& code_;
  const std::vector<Indices>* sizes_ = nullptr;
  llvm::DenseMap<mlir::Value, Slot> slots_, views_;
};

}  // namespace deep_accel::tile::interpreter
