#include "deep_accel/tile/ir/dialect.h"
namespace deep_accel::tile {
llvm::LogicalResult KernelOp::verify() { return mlir::success(); }
llvm::LogicalResult DimOp::verify() { return mlir::success(); }
llvm::LogicalResult GridOp::verify() { return mlir::success(); }
llvm::LogicalResult AllocOp::verify() { return mlir::success(); }
llvm::LogicalResult SliceOp::verify() { return mlir::success(); }
llvm::LogicalResult ReshapeOp::verify() { return mlir::success(); }
llvm::LogicalResult BitcastOp::verify() { return mlir::success(); }
llvm::LogicalResult PipelineOp::verify() { return mlir::success(); }
llvm::LogicalResult LoadOp::verify() { return mlir::success(); }
llvm::LogicalResult StoreOp::verify() { return mlir::success(); }
llvm::LogicalResult CopyOp::verify() { return mlir::success(); }
llvm::LogicalResult TransposeOp::verify() { return mlir::success(); }
llvm::LogicalResult GatherOp::verify() { return mlir::success(); }
llvm::LogicalResult ScatterOp::verify() { return mlir::success(); }
llvm::LogicalResult Im2colOp::verify() { return mlir::success(); }
llvm::LogicalResult PrefetchOp::verify() { return mlir::success(); }
llvm::LogicalResult AsyncLoadOp::verify() { return mlir::success(); }
llvm::LogicalResult WaitOp::verify() { return mlir::success(); }
llvm::LogicalResult ReadOp::verify() { return mlir::success(); }
llvm::LogicalResult WriteOp::verify() { return mlir::success(); }
llvm::LogicalResult CombineOp::verify() { return mlir::success(); }
llvm::LogicalResult MapOp::verify() { return mlir::success(); }
llvm::LogicalResult GemmOp::verify() { return mlir::success(); }
llvm::LogicalResult SparseGemmOp::verify() { return mlir::success(); }
llvm::LogicalResult ReduceOp::verify() { return mlir::success(); }
llvm::LogicalResult ScanOp::verify() { return mlir::success(); }
llvm::LogicalResult FillOp::verify() { return mlir::success(); }
llvm::LogicalResult AtomicOp::verify() { return mlir::success(); }
llvm::LogicalResult AtomicStoreOp::verify() { return mlir::success(); }
llvm::LogicalResult ThreadsOp::verify() { return mlir::success(); }
llvm::LogicalResult BarrierOp::verify() { return mlir::success(); }
llvm::LogicalResult ShuffleOp::verify() { return mlir::success(); }
llvm::LogicalResult VoteOp::verify() { return mlir::success(); }
llvm::LogicalResult ExternOp::verify() { return mlir::success(); }
}  // namespace deep_accel::tile
