// Windows of buffers: what is known of their bounds, and code for their interior and edge.
#pragma once

#include <functional>

#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::compile {

// One dimension of a window: `size` elements from `offset` on, of a buffer's dimension of `extent`.
struct WindowDim {
  mlir::Value offset;
  int64_t size;
  mlir::OpFoldResult extent;
};

// What can be proven of an index from the loops and grids that it comes from.
bool known_nonnegative(mlir::Value index);
std::optional<int64_t> known_maximum(mlir::Value index);

// Whether any of the values is computed from another.
bool depend_on(mlir::ValueRange values, mlir::Value origin);

// Lower and upper bound of the loop or pipeline whose variable this is.
std::optional<std::pair<mlir::Value, mlir::Value>> loop_bounds(mlir::Value index);

// The name of a dimension, or its number, so that equal sizes of different buffers are seen to be equal; null for a
// dynamic dimension without a name.
mlir::Attribute size_name(mlir::Value buffer, int64_t dim);

// The size of a buffer's dimension: a constant, or a tile.extent made here.
mlir::OpFoldResult extent_of(mlir::ImplicitLocOpBuilder& builder, mlir::Value buffer, int64_t dim);

// A value of one compute type as another: widening, narrowing, integers to floats.
mlir::Value convert_compute(mlir::ImplicitLocOpBuilder& builder, mlir::Value value, mlir::Type to);

// On an scf.if that asks whether a window lies inside its buffer: then the first region has no checks left.
inline constexpr llvm::StringLiteral interior_attribute = "tile.interior";

using ElementBody = std::function<void(mlir::ValueRange window_indices)>;

// A map over `sizes` with the body; a single run of the body where there are no dimensions.
void make_map(mlir::ImplicitLocOpBuilder& builder, llvm::ArrayRef<mlir::OpFoldResult> sizes, const ElementBody& body);

// Runs `inside` for each index of the window whose element lies in the buffer, `outside` (may be null) for the others.
// `points` are dimensions of size one that decide over the whole window.
void make_window(mlir::ImplicitLocOpBuilder& builder, llvm::ArrayRef<WindowDim> dims, llvm::ArrayRef<WindowDim> points,
                 const ElementBody& inside, const ElementBody& outside);

}  // namespace deep_accel::compile
