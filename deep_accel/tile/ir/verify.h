// Rules that the verifiers of several operations share. Each reports what is wrong and gives failure.
#pragma once

#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::tile {

using mlir::failed;
using mlir::failure;
using mlir::LogicalResult;
using mlir::success;

using Dims = std::optional<llvm::ArrayRef<int64_t>>;

// The type of a buffer; "64x?x3".
mlir::MemRefType memref(mlir::Value buffer);
std::string shape_text(llvm::ArrayRef<int64_t> shape);
// True for the float compute types.
bool computes_in_floats(mlir::Type element);
// The kernel, the grid or the threads around an operation, or null.
template <typename Parent>
Parent around(mlir::Operation* op) {
  return op->getParentOfType<Parent>();
}

// One index for each dimension of the buffer.
LogicalResult check_indices(mlir::Operation* op, mlir::Value buffer, size_t count);
// A tile as a window of a larger buffer, with the indices of its origin, and `dims` as tile.load has them.
LogicalResult check_window(mlir::Operation* op, mlir::Value buffer, size_t indices, mlir::Value tile, Dims dims);
// Distinct dimensions of `buffer`, `count` of them.
LogicalResult check_dims(mlir::Operation* op, mlir::Value buffer, llvm::ArrayRef<int64_t> dims, int64_t count);
// Values convert to wider and narrower types of their kind, and integers to floats.
LogicalResult check_conversion(mlir::Operation* op, mlir::Value from, mlir::Value to);
// A scalar beside a buffer is of the compute type of its elements.
LogicalResult check_scalar(mlir::Operation* op, llvm::StringRef what, mlir::Value scalar, mlir::Value buffer);
LogicalResult check_same_shape(mlir::Operation* op, mlir::Value one, mlir::Value other);
LogicalResult check_distinct(mlir::Operation* op, mlir::Value read, mlir::Value written);
// A tile of the given rank.
LogicalResult check_rank(mlir::Operation* op, mlir::Value tile, int64_t rank);
// A region whose arguments are `count` indices.
LogicalResult check_region_arguments(mlir::Operation* op, mlir::Region& region, size_t count);

// Maps run over the elements of tiles, and have as many dimensions at most.
inline constexpr size_t kMostTileDimensions = 6;
LogicalResult check_tile_rank(mlir::Operation* op, mlir::Value tile);

// Attributes that passes leave for later ones: tile.panels, tile.storage and tile.offset; tile.register_tile.
inline constexpr int64_t kWidestPanel = 4096;
LogicalResult check_layout(AllocOp op);
LogicalResult check_register_tile(GemmOp op);

// What combinations an operation takes.
enum class Combines { All, Scans, Atomics };
LogicalResult check_combine(mlir::Operation* op, Combine kind, Combines allowed, mlir::Value buffer);
LogicalResult check_propagates_nan(mlir::Operation* op, Combine kind, mlir::Value buffer);

}  // namespace deep_accel::tile
