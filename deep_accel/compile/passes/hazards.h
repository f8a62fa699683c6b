// What keeps the iterations of a loop apart: statements that touch the same buffer, at least one of them writing.
#pragma once

#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::compile {

enum class HazardKind { ReadAfterWrite, WriteAfterRead, WriteAfterWrite };

// `second` touches what `first` touched before. Across the back edge, `second` is of the next iteration.
struct Hazard {
  HazardKind kind;
  mlir::Value buffer;  // an alloc or a kernel argument
  mlir::Operation* first;
  mlir::Operation* second;
  bool across_back_edge;
};

class LoopHazards {
 public:
  explicit LoopHazards(mlir::Block& body);

  llvm::ArrayRef<Hazard> hazards() const { return hazards_; }
  // Statements with effects that others may observe in their order: atomics, foreign calls, output, barriers.
  llvm::ArrayRef<mlir::Operation*> ordered() const { return ordered_; }
  // True where a statement of the body may write the buffer that `buffer` is, or is a view of.
  bool writes(mlir::Value buffer) const;
  // The statements of the body that may write it.
  llvm::SmallVector<mlir::Operation*> writers(mlir::Value buffer) const;

 private:
  struct Statement {
    mlir::Operation* op;
    llvm::SmallVector<tile::Access> accesses;
  };
  void find_between(const Statement& first, const Statement& second, bool across_back_edge);

  llvm::SmallVector<Statement> statements_;
  llvm::SmallVector<Hazard> hazards_;
  llvm::SmallVector<mlir::Operation*> ordered_;
};

// What a statement and its regions do to buffers outside of it. Operations that do not say are taken to read and write
// every buffer that they name.
llvm::SmallVector<tile::Access> statement_accesses(mlir::Operation* op);

// True where the statement or its regions may write the buffer that `buffer` is, or is a view of.
bool may_write(mlir::Operation* op, mlir::Value buffer);

// True where the statement or its regions may touch the buffer that `buffer` is, or is a view of.
bool touches(mlir::Operation* op, mlir::Value buffer);

}  // namespace deep_accel::compile
