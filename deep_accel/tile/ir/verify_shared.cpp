// Rules that the verifiers of several operations share.
#include "deep_accel/tile/ir/verify.h"

namespace deep_accel::tile {

using mlir::Operation;
using mlir::ShapedType;
using mlir::Value;

mlir::MemRefType memref(Value buffer) { return mlir::cast<mlir::MemRefType>(buffer.getType()); }

std::string shape_text(llvm::ArrayRef<int64_t> shape) {
  if (shape.empty()) return "a single element";
  std::string result;
  for (int64_t size : shape) {
    if (!result.empty()) result += "x";
    result += ShapedType::isDynamic(size) ? "?" : std::to_string(size);
  }
  return result;
}

bool computes_in_floats(mlir::Type element) { return mlir::isa<mlir::FloatType>(compute_type(element)); }

LogicalResult check_indices(Operation* op, Value buffer, size_t count) {
  const auto rank = static_cast<size_t>(memref(buffer).getRank());
  if (count == rank) return success();
  return op->emitOpError() << "expects " << rank << " indices, one for each dimension of " << buffer_name(buffer)
                           << ", got " << count;
}

LogicalResult check_dims(Operation* op, Value buffer, llvm::ArrayRef<int64_t> dims, int64_t count) {
  const int64_t rank = memref(buffer).getRank();
  if (static_cast<int64_t>(dims.size()) != count) {
    return op->emitOpError() << "expects dims to name a dimension of " << buffer_name(buffer) << " for each of the "
                             << count << " dimensions of the tile, got " << dims.size();
  }
  llvm::SmallBitVector seen(rank);
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= rank) {
      return op->emitOpError() << "names dimension " << dim << " in dims, but " << buffer_name(buffer)
                               << " has dimensions 0 to " << rank - 1;
    }
    if (seen.test(dim)) return op->emitOpError() << "names dimension " << dim << " twice in dims; name each once";
    seen.set(dim);
  }
  return success();
}

LogicalResult check_window(Operation* op, Value buffer, size_t indices, Value tile, Dims dims) {
  if (failed(check_indices(op, buffer, indices))) return failure();
  const int64_t rank = memref(tile).getRank();
  if (rank > memref(buffer).getRank()) {
    return op->emitOpError() << "has tile " << buffer_name(tile) << " of rank " << rank << ", but "
                             << buffer_name(buffer) << " has rank " << memref(buffer).getRank()
                             << "; a window has at most as many dimensions as its buffer";
  }
  return dims ? check_dims(op, buffer, *dims, rank) : success();
}

LogicalResult check_conversion(Operation* op, Value from, Value to) {
  mlir::Type source = memref(from).getElementType(), target = memref(to).getElementType();
  if (!computes_in_floats(source) || computes_in_floats(target)) return success();
  return op->emitOpError() << "would turn " << source << " of " << buffer_name(from) << " into " << target << " of "
                           << buffer_name(to) << "; say how floats become integers, in a tile.map with arith.fptosi";
}

LogicalResult check_scalar(Operation* op, llvm::StringRef what, Value scalar, Value buffer) {
  if (!scalar) return success();
  mlir::Type element = memref(buffer).getElementType(), wanted = compute_type(element);
  if (scalar.getType() == wanted) return success();
  return op->emitOpError() << "expects " << what << " to be " << wanted << ", the compute type of " << element << " in "
                           << buffer_name(buffer) << ", got " << scalar.getType();
}

LogicalResult check_same_shape(Operation* op, Value one, Value other) {
  if (memref(one).getShape() == memref(other).getShape()) return success();
  return op->emitOpError() << "expects " << buffer_name(one) << " and " << buffer_name(other)
                           << " to have one shape, got " << shape_text(memref(one).getShape()) << " and "
                           << shape_text(memref(other).getShape());
}

LogicalResult check_distinct(Operation* op, Value read, Value written) {
  if (read != written) return success();
  return op->emitOpError() << "reads and writes " << buffer_name(read)
                           << ", whose elements would be overwritten before they are read; write to another tile";
}

LogicalResult check_rank(Operation* op, Value tile, int64_t rank) {
  if (memref(tile).getRank() == rank) return success();
  return op->emitOpError() << "expects " << buffer_name(tile) << " to have " << rank << " dimensions, got shape "
                           << shape_text(memref(tile).getShape());
}

LogicalResult check_tile_rank(Operation* op, Value tile) {
  const auto rank = static_cast<size_t>(memref(tile).getRank());
  if (!is_tile(tile.getType()) || rank <= kMostTileDimensions) return success();
  return op->emitOpError() << "gives " << buffer_name(tile) << " " << rank << " dimensions; tiles have at most "
                           << kMostTileDimensions << ": join neighbours into one";
}

LogicalResult check_region_arguments(Operation* op, mlir::Region& region, size_t count) {
  auto arguments = region.getArguments();
  if (arguments.size() == count && llvm::all_of(arguments, [](Value value) { return value.getType().isIndex(); })) {
    return success();
  }
  return op->emitOpError() << "expects " << count << " arguments of type index in its region, got " << arguments.size()
                           << (arguments.size() == count ? " of other types" : "");
}

LogicalResult check_combine(Operation* op, Combine kind, Combines allowed, Value buffer) {
  const bool of_magnitudes = kind == Combine::absadd || kind == Combine::absmax;
  const bool of_bits = kind == Combine::bits_and || kind == Combine::bits_or || kind == Combine::bits_xor;
  if (kind == Combine::exchange && allowed != Combines::Atomics) {
    return op->emitOpError("cannot combine by exchange, which is for atomics; use tile.write or tile.store");
  }
  if (of_magnitudes && allowed != Combines::All) {
    return op->emitOpError() << "cannot combine by " << stringifyCombine(kind)
                             << "; take the absolute values first, then add or max";
  }
  if (kind == Combine::mul && allowed == Combines::Atomics) {
    return op->emitOpError("cannot multiply atomically; use add, max, min, and, or, xor or exchange");
  }
  mlir::Type element = memref(buffer).getElementType();
  if (of_bits && computes_in_floats(element)) {
    return op->emitOpError() << "combines by " << stringifyCombine(kind) << ", which is for integers, but "
                             << buffer_name(buffer) << " holds " << element << "; use add, mul, max or min";
  }
  if (!of_bits && element.isInteger(1)) {
    return op->emitOpError() << "combines booleans of " << buffer_name(buffer) << " by " << stringifyCombine(kind)
                             << "; use and, or or xor";
  }
  return success();
}

LogicalResult check_propagates_nan(Operation* op, Combine kind, Value buffer) {
  const bool selects = kind == Combine::max || kind == Combine::min || kind == Combine::absmax;
  if (selects && computes_in_floats(memref(buffer).getElementType())) return success();
  return op->emitOpError() << "has propagate_nan, which is for max, min and absmax of floats; leave it out";
}

}  // namespace deep_accel::tile
