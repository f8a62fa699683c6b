// Verifiers of the moves: between global memory and tiles, between tiles, by indices, by windows of an image.
#include "deep_accel/tile/ir/verify.h"

namespace deep_accel::tile {

using mlir::Operation;
using mlir::Value;

namespace {

template <typename Load>
LogicalResult check_load(Load op) {
  if (failed(check_window(op, op.getSource(), op.getIndices().size(), op.getTile(), op.getDims())) ||
      failed(check_distinct(op, op.getSource(), op.getTile())) ||
      failed(check_conversion(op, op.getSource(), op.getTile()))) {
    return failure();
  }
  return check_scalar(op, "fill", op.getFill(), op.getTile());
}

// What gathers and scatters share: the tile's first dimension runs over `rows`, its others are a window of the buffer.
LogicalResult check_rows(Operation* op, Value buffer, size_t indices, Value rows, int64_t axis, Value tile) {
  if (failed(check_indices(op, buffer, indices)) || failed(check_rank(op, rows, 1))) return failure();
  mlir::Type element = memref(rows).getElementType();
  if (computes_in_floats(element) || element.isInteger(1)) {
    return op->emitOpError() << "expects " << buffer_name(rows) << " to hold integers, the numbers of rows, got "
                             << element;
  }
  const int64_t rank = memref(buffer).getRank();
  if (axis < 0 || axis >= rank) {
    return op->emitOpError() << "has axis " << axis << ", but " << buffer_name(buffer) << " has rank " << rank;
  }
  llvm::ArrayRef<int64_t> shape = memref(tile).getShape();
  if (shape.empty() || static_cast<int64_t>(shape.size()) > rank) {
    return op->emitOpError() << "expects tile " << buffer_name(tile) << " to have 1 to " << rank << " dimensions, got "
                             << shape.size() << "; its first runs over the rows, the others are of "
                             << buffer_name(buffer);
  }
  if (shape.front() != memref(rows).getDimSize(0)) {
    return op->emitOpError() << "has " << memref(rows).getDimSize(0) << " rows in " << buffer_name(rows)
                             << ", but the first dimension of " << buffer_name(tile) << " is " << shape.front();
  }
  return success();
}

constexpr int64_t kLargestWindow = 65536;
constexpr int64_t kMostPrefetched = 1 << 24;

// A list of `count` whole numbers of at least `least`.
LogicalResult check_numbers(Operation* op, llvm::StringRef name, llvm::ArrayRef<int64_t> numbers, size_t count,
                            int64_t least) {
  const bool right = numbers.size() == count &&
                     llvm::all_of(numbers, [&](int64_t number) { return number >= least && number <= kLargestWindow; });
  if (right) return success();
  auto diagnostic = op->emitOpError() << "expects " << name << " to be " << count << " numbers from " << least << " to "
                                      << kLargestWindow << ", got [";
  llvm::interleaveComma(numbers, diagnostic);
  return diagnostic << "]";
}

}  // namespace

LogicalResult LoadOp::verify() { return check_load(*this); }
LogicalResult AsyncLoadOp::verify() { return check_load(*this); }

LogicalResult StoreOp::verify() {
  if (failed(check_window(*this, getDest(), getIndices().size(), getTile(), getDims())) ||
      failed(check_distinct(*this, getTile(), getDest()))) {
    return failure();
  }
  return check_conversion(*this, getTile(), getDest());
}

LogicalResult CopyOp::verify() {
  if (failed(check_same_shape(*this, getSource(), getDest()))) return failure();
  return check_conversion(*this, getSource(), getDest());
}

LogicalResult TransposeOp::verify() {
  llvm::ArrayRef<int64_t> source = memref(getSource()).getShape(), dest = memref(getDest()).getShape();
  llvm::ArrayRef<int64_t> permutation = getPermutation();
  llvm::SmallVector<int64_t> sorted(permutation);
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, source.size()))) {
    auto diagnostic = emitOpError() << "expects a permutation of the dimensions 0 to "
                                    << static_cast<int64_t>(source.size()) - 1 << " of " << buffer_name(getSource())
                                    << ", got [";
    llvm::interleaveComma(permutation, diagnostic);
    return diagnostic << "]";
  }
  llvm::SmallVector<int64_t> expected;
  for (int64_t dim : permutation) expected.push_back(source[dim]);
  if (dest != llvm::ArrayRef(expected)) {
    return emitOpError() << "expects " << buffer_name(getDest()) << " to have the permuted shape "
                         << shape_text(expected) << ", got " << shape_text(dest);
  }
  if (failed(check_distinct(*this, getSource(), getDest()))) return failure();
  return check_conversion(*this, getSource(), getDest());
}

LogicalResult GatherOp::verify() {
  if (failed(check_rows(*this, getSource(), getIndices().size(), getRows(), getAxis(), getTile())) ||
      failed(check_distinct(*this, getRows(), getTile())) || failed(check_distinct(*this, getSource(), getTile())) ||
      failed(check_conversion(*this, getSource(), getTile()))) {
    return failure();
  }
  return check_scalar(*this, "fill", getFill(), getTile());
}

LogicalResult ScatterOp::verify() {
  if (failed(check_rows(*this, getDest(), getIndices().size(), getRows(), getAxis(), getTile())) ||
      failed(check_distinct(*this, getTile(), getDest())) || failed(check_distinct(*this, getRows(), getDest())) ||
      failed(check_conversion(*this, getTile(), getDest()))) {
    return failure();
  }
  return getCombine() ? check_combine(*this, *getCombine(), Combines::All, getDest()) : success();
}

LogicalResult Im2colOp::verify() {
  if (failed(check_rank(*this, getImage(), 4)) || failed(check_rank(*this, getTile(), 2)) ||
      failed(check_numbers(*this, "kernel", getKernel(), 2, 1)) ||
      failed(check_numbers(*this, "stride", getStride(), 2, 1)) ||
      failed(check_numbers(*this, "dilation", getDilation(), 2, 1)) ||
      failed(check_numbers(*this, "pad", getPad(), 4, 0)) || failed(check_conversion(*this, getImage(), getTile()))) {
    return failure();
  }
  return check_scalar(*this, "fill", getFill(), getTile());
}

LogicalResult PrefetchOp::verify() {
  if (failed(check_indices(*this, getSource(), getIndices().size()))) return failure();
  const auto rank = static_cast<size_t>(memref(getSource()).getRank());
  if (getSizes().size() != rank || llvm::any_of(getSizes(), [](int64_t size) { return size < 1; })) {
    auto diagnostic = emitOpError() << "expects sizes to be " << rank << " positive numbers, one for each dimension of "
                                    << buffer_name(getSource()) << ", got [";
    llvm::interleaveComma(getSizes(), diagnostic);
    return diagnostic << "]";
  }
  int64_t elements = 1;
  for (int64_t size : getSizes()) {
    if (__builtin_mul_overflow(elements, size, &elements) || elements > kMostPrefetched) {
      return emitOpError() << "prefetches a window of " << shape_text(getSizes()) << " of " << buffer_name(getSource())
                           << ", which no cache holds; prefetch at most " << kMostPrefetched << " elements";
    }
  }
  const auto level = static_cast<int64_t>(getLevel());
  if (level >= 1 && level <= 3) return success();
  return emitOpError() << "expects level to be a cache, 1 to 3, got " << level;
}

LogicalResult WaitOp::verify() {
  if (!getTokens().empty()) return success();
  return emitOpError("waits for nothing; give it the tokens of the loads");
}

}  // namespace deep_accel::tile
