// Where a buffer lies in memory, and loading and storing its elements, alone or several lanes at once.
#pragma once

#include "deep_accel/compile/passes/combining.h"
#include "deep_accel/compile/target/target.h"
#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::compile {

// A tile, the last two dimensions of a buffer, whose dimension `axis` is cut in panels of `width`: element (i, j) of a
// tile with axis 1 lies at (j / width) * rows * width + i * width + j % width. With groups, `group` neighbours along
// the other dimension lie side by side: at (j / width) * rows * width + (i / group) * width * group + j % width * group
// + i % group.
struct Panels {
  int64_t axis;
  int64_t width;
  int64_t rows;  // the other dimension's size, a multiple of group
  int64_t group = 1;
};

struct BufferRef {
  mlir::Value base;                               // !llvm.ptr
  mlir::Value offset;                             // index, in elements; null for 0
  llvm::SmallVector<mlir::OpFoldResult> strides;  // in elements
  llvm::SmallVector<mlir::OpFoldResult> sizes;
  mlir::Type element;  // as the program says
  mlir::Type storage;  // as it lies in memory: the element's type, or a wider one that holds its values
  std::optional<Panels> panels;
  bool argument = false;  // a tensor of the launch, not a tile or a workspace

  int64_t rank() const { return static_cast<int64_t>(strides.size()); }
};

// Emits index arithmetic and element access for a target.
class Elements {
 public:
  Elements(mlir::ImplicitLocOpBuilder& builder, const Target& target) : builder_(builder), target_(target) {}

  mlir::Value index(int64_t value);
  mlir::Value index(mlir::OpFoldResult value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::OpFoldResult b);

  // The element's position behind base, in elements.
  mlir::Value position(const BufferRef& ref, mlir::ValueRange indices);
  // Address of a position; of packed types, of the byte that holds it.
  mlir::Value address(const BufferRef& ref, mlir::Value position);

  // `lanes` elements from `position` on, side by side in memory, in the compute type: a scalar for one lane. Under a
  // mask (vector<lanes x i1>), lanes that are off are zero and not touched in memory.
  mlir::Value load(const BufferRef& ref, mlir::Value position, int64_t lanes, mlir::Value mask = {});
  // The reverse. `exact`: the values are known to fit the element's type. With an alignment in bytes for streaming,
  // which the address has: they will not be read soon.
  void store(const BufferRef& ref, mlir::Value value, mlir::Value position, int64_t lanes, mlir::Value mask = {},
             bool exact = false, int64_t streaming_alignment = 0);

  // Lanes in the compute type as they lie in memory, each in its raw type. `exact`: as for store().
  mlir::Value raw_lanes(const BufferRef& ref, mlir::Value value, bool exact);

  // Scalars or lanes of one compute type in another: floats, and integers of one width.
  mlir::Value converted(mlir::Value value, mlir::Type element);
  // A scalar in every lane.
  mlir::Value splat(mlir::Value scalar, int64_t lanes);
  mlir::Value lane(mlir::Value vector, int64_t index);
  mlir::Value constant_like(mlir::Type type, double value);
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c);
  // All lanes combined.
  mlir::Value across(tile::Combine kind, mlir::Value vector, bool propagate_nan);

 private:
  mlir::Value widen_storage(mlir::Value raw, mlir::Type storage);
  mlir::Value narrow_to_storage(mlir::Value value, mlir::Type storage);
  mlir::Value raw_load(mlir::Type type, mlir::Value address, int64_t alignment, mlir::Value mask);
  void raw_store(mlir::Value value, mlir::Value address, int64_t alignment, mlir::Value mask, bool streaming);

  mlir::ImplicitLocOpBuilder& builder_;
  const Target& target_;
};

// The type in memory of one element, or of one byte of packed ones.
mlir::Type raw_type(mlir::Type storage);

}  // namespace deep_accel::compile
