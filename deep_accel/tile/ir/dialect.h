// The tile dialect in C++: types, attributes, operations, and the small vocabulary that its interface speaks.
#pragma once

#include "deep_accel/base/dtype.h"
#include "deep_accel/tile/ir/mlir_headers.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace deep_accel::tile {

// What an operation does to a buffer, a value as the operation sees it: perhaps a view. `covers`: it overwrites every
// element of that value before it reads any.
struct Access {
  mlir::Value buffer;
  bool reads = false;
  bool writes = false;
  bool covers = false;
};

// Arithmetic operations and bytes of global memory of one execution.
struct Cost {
  double flops = 0;
  double bytes = 0;
  Cost& operator+=(const Cost& other) {
    flops += other.flops;
    bytes += other.bytes;
    return *this;
  }
};

// The layout that an operation would like its operand to have. Rows: as written, rows contiguous. Panels: a factor of a
// product in panels of the register tile's width, its elements decoded to the accumulation type.
enum class LayoutWish { Any, Rows, LhsPanels, RhsPanels };

bool is_buffer(mlir::Type type);
bool is_tile(mlir::Type type);
bool is_global(mlir::Type type);
bool is_compute_type(mlir::Type type);

}  // namespace deep_accel::tile

#include "deep_accel/tile/ir/tile_dialect.h.inc"
#include "deep_accel/tile/ir/tile_enums.h.inc"
#include "deep_accel/tile/ir/tile_interfaces.h.inc"
#define GET_ATTRDEF_CLASSES
#include "deep_accel/tile/ir/tile_attributes.h.inc"
#define GET_TYPEDEF_CLASSES
#include "deep_accel/tile/ir/tile_types.h.inc"
#define GET_OP_CLASSES
#include "deep_accel/tile/ir/tile_ops.h.inc"

namespace deep_accel::tile {

// The type in which arithmetic on elements of a storage type happens, or null where there is none.
mlir::Type compute_type(mlir::Type storage);
// The dtype that a storage type stands for: of a type with a compute type.
DType dtype_of(mlir::Type storage);
// Bits that one element takes in memory (i1 takes 8).
int64_t storage_bits(mlir::Type storage);
// True for the types that hold two elements a byte.
bool is_packed(mlir::Type storage);
// The space of a buffer; global for a memref without one.
Space space_of(mlir::MemRefType type);
// A memref type in a space, rows contiguous.
mlir::MemRefType buffer_type(llvm::ArrayRef<int64_t> shape, mlir::Type element, Space space);
// Where the elements of a buffer stand: distances in elements between neighbours of each dimension, and before the
// first; ShapedType::kDynamic where unknown.
struct BufferLayout {
  llvm::SmallVector<int64_t> strides;
  int64_t offset = 0;
};
// The layout of rows without gaps, or of `strided<...>`; none for other layouts.
std::optional<BufferLayout> layout_of(mlir::MemRefType type);
// True where rows are known to follow each other without gaps.
bool is_contiguous(mlir::MemRefType type);
// The number of elements, where it is static and fits.
std::optional<int64_t> element_count(mlir::MemRefType type);

// The types that views must have; null where there is none. A slice's offset is unknown, or, where the source's layout
// and all indices are constants, may be what they say.
mlir::MemRefType slice_type(mlir::MemRefType source, llvm::ArrayRef<int64_t> sizes,
                            std::optional<llvm::ArrayRef<int64_t>> dims = std::nullopt,
                            int64_t offset = mlir::ShapedType::kDynamic);
int64_t slice_offset(mlir::MemRefType source, mlir::ValueRange indices);
mlir::MemRefType reshape_type(mlir::MemRefType source, llvm::ArrayRef<int64_t> shape);
mlir::MemRefType bitcast_type(mlir::MemRefType source, mlir::Type element);

// What the operations of a region do to the buffers that are defined outside it; `covers` is never said here.
llvm::SmallVector<Access> region_accesses(mlir::Region& region);
// What one execution of a region costs.
Cost region_cost(mlir::Region& region);
// The alloc or the kernel argument that a buffer is a view of.
mlir::Value root_buffer(mlir::Value buffer);
// The value of a constant index, if it is one.
std::optional<int64_t> constant_index(mlir::Value value);
// "%name" as the user knows the buffer: the alloc's or the argument's name, or "buffer".
std::string buffer_name(mlir::Value buffer);

// What holds for a program as users write it, beyond what each operation checks for itself (and what passes break while
// they lower it): modules of kernels alone, from a closed set of operations, each where it belongs.
llvm::LogicalResult verify_program(mlir::ModuleOp module);

// Registers the dialect and those that it builds on.
void register_dialects(mlir::DialectRegistry& registry);

}  // namespace deep_accel::tile
