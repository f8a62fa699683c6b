// Verifiers of compute: element access, maps, products, reductions, scans, atomics.
#include "deep_accel/tile/ir/verify.h"

namespace deep_accel::tile {

using mlir::Operation;
using mlir::ShapedType;
using mlir::Value;

// Elements ------------------------------------------------------------------------------------------------------------

LogicalResult ReadOp::verify() {
  if (failed(check_indices(*this, getBuffer(), getIndices().size()))) return failure();
  return check_scalar(*this, "the value", getValue(), getBuffer());
}

LogicalResult WriteOp::verify() {
  if (failed(check_indices(*this, getBuffer(), getIndices().size()))) return failure();
  return check_scalar(*this, "the value", getValue(), getBuffer());
}

LogicalResult CombineOp::verify() {
  if (failed(check_indices(*this, getBuffer(), getIndices().size())) ||
      failed(check_scalar(*this, "the value", getValue(), getBuffer())) ||
      failed(check_combine(*this, getCombine(), Combines::All, getBuffer()))) {
    return failure();
  }
  return getPropagateNan() ? check_propagates_nan(*this, getCombine(), getBuffer()) : success();
}

LogicalResult FillOp::verify() { return check_scalar(*this, "the value", getValue(), getTile()); }

LogicalResult MapOp::verify() {
  llvm::ArrayRef<int64_t> sizes = getStaticSizes();
  if (sizes.empty() || sizes.size() > kMostTileDimensions) {
    return emitOpError() << "expects 1 to " << kMostTileDimensions << " sizes, got " << sizes.size();
  }
  const auto dynamic = static_cast<size_t>(llvm::count_if(sizes, ShapedType::isDynamic));
  if (dynamic != getSizes().size()) {
    return emitOpError() << "has " << dynamic << " run-time sizes in static_sizes, but " << getSizes().size()
                         << " operands for them";
  }
  int64_t points = 1;
  for (mlir::OpFoldResult size : mixed_sizes()) {
    auto known = mlir::getConstantIntValue(size);
    if (!known) continue;
    if (*known < 0) return emitOpError() << "has size " << *known << "; sizes are not negative";
    if (__builtin_mul_overflow(points, std::max<int64_t>(*known, 1), &points)) {
      return emitOpError() << "has more points than 64 bits can count, in " << shape_text(sizes);
    }
  }
  return check_region_arguments(*this, getBody(), sizes.size());
}

// Products ------------------------------------------------------------------------------------------------------------

namespace {

// The integers that products multiply: what a dot-product instruction takes.
bool is_narrow_integer(mlir::Type element) {
  return element.isSignlessInteger(8) || element.isSignedInteger(8) || element.isUnsignedInteger(8) ||
         element.isSignlessInteger(4) || element.isSignedInteger(4);
}

LogicalResult check_product_elements(Operation* op, Value factor, Value acc) {
  mlir::Type element = memref(factor).getElementType(), sum = memref(acc).getElementType();
  if (!(computes_in_floats(sum) ? storage_bits(sum) >= 16 : storage_bits(sum) == 32)) {
    return op->emitOpError() << "cannot sum in " << sum << " of " << buffer_name(acc)
                             << "; accumulate in f32, f64, f16, bf16 or i32";
  }
  if (is_narrow_integer(element) || (computes_in_floats(element) && computes_in_floats(sum))) return success();
  return op->emitOpError() << "cannot multiply " << element << " of " << buffer_name(factor) << " into " << sum
                           << " of " << buffer_name(acc)
                           << "; factors are i8, ui8, i4, or, with a float accumulator, any float";
}

// Agreement of a size that two tiles share.
LogicalResult check_shared_size(Operation* op, llvm::StringRef letter, Value one, int64_t size, Value other,
                                int64_t other_size) {
  if (size == other_size) return success();
  return op->emitOpError() << "has " << letter << " = " << size << " in " << buffer_name(one) << " ("
                           << shape_text(memref(one).getShape()) << "), but " << other_size << " in "
                           << buffer_name(other) << " (" << shape_text(memref(other).getShape())
                           << "); check the shapes and transpose_a, transpose_b";
}

LogicalResult check_scale(Operation* op, Value scale, llvm::ArrayRef<int64_t> factor, llvm::StringRef letters) {
  if (failed(check_rank(op, scale, 2))) return failure();
  if (!computes_in_floats(memref(scale).getElementType())) {
    return op->emitOpError() << "expects the scales " << buffer_name(scale) << " to be floats, got "
                             << memref(scale).getElementType();
  }
  llvm::ArrayRef<int64_t> shape = memref(scale).getShape();
  if (factor[0] % shape[0] == 0 && factor[1] % shape[1] == 0) return success();
  return op->emitOpError() << "expects the shape of the scales " << buffer_name(scale) << " to divide " << letters
                           << " = " << shape_text(factor) << ", got " << shape_text(shape);
}

}  // namespace

LogicalResult GemmOp::verify() {
  for (Value tile : {Value(getA()), Value(getB()), Value(getAcc())}) {
    if (failed(check_rank(*this, tile, 2))) return failure();
  }
  const int64_t b_k = memref(getB()).getDimSize(getTransposeB() ? 1 : 0);
  const int64_t a_m = memref(getA()).getDimSize(getTransposeA() ? 1 : 0);
  const int64_t b_n = memref(getB()).getDimSize(getTransposeB() ? 0 : 1);
  if (failed(check_shared_size(*this, "K", getA(), k(), getB(), b_k)) ||
      failed(check_shared_size(*this, "M", getA(), a_m, getAcc(), m())) ||
      failed(check_shared_size(*this, "N", getB(), b_n, getAcc(), n()))) {
    return failure();
  }
  for (Value factor : {Value(getA()), Value(getB())}) {
    if (failed(check_product_elements(*this, factor, getAcc())) || failed(check_distinct(*this, factor, getAcc()))) {
      return failure();
    }
  }
  if (failed(check_register_tile(*this))) return failure();
  if (!getLive().empty() && getLive().size() != 3) {
    return emitOpError() << "expects rows, columns and depth after 'live', got " << getLive().size() << " value"
                         << (getLive().size() == 1 ? "" : "s");
  }
  if (!getScaleA() && !getScaleB()) return success();
  if (!getScaleA() || !getScaleB()) return emitOpError("has scales for one factor alone; give scale_a and scale_b");
  if (!computes_in_floats(memref(getAcc()).getElementType())) {
    return emitOpError() << "has scales, but " << buffer_name(getAcc()) << " holds "
                         << memref(getAcc()).getElementType() << "; accumulate scaled products in floats";
  }
  if (failed(check_scale(*this, getScaleA(), {m(), k()}, "M x K"))) return failure();
  return check_scale(*this, getScaleB(), {k(), n()}, "K x N");
}

LogicalResult SparseGemmOp::verify() {
  for (Value tile : {Value(getA()), Value(getPositions()), Value(getB()), Value(getAcc())}) {
    if (failed(check_rank(*this, tile, 2))) return failure();
  }
  if (failed(check_same_shape(*this, getA(), getPositions()))) return failure();
  if (!memref(getPositions()).getElementType().isSignlessInteger(8)) {
    return emitOpError() << "expects the positions " << buffer_name(getPositions()) << " to be i8, got "
                         << memref(getPositions()).getElementType();
  }
  const int64_t half = memref(getA()).getDimSize(1);
  if (half % 2 != 0) {
    return emitOpError() << "expects an even number of columns in " << buffer_name(getA())
                         << ", two for each group of four, got " << half;
  }
  const int64_t b_k = memref(getB()).getDimSize(getTransposeB() ? 1 : 0);
  const int64_t b_n = memref(getB()).getDimSize(getTransposeB() ? 0 : 1);
  llvm::ArrayRef<int64_t> acc = memref(getAcc()).getShape();
  if (failed(check_shared_size(*this, "K", getA(), 2 * half, getB(), b_k)) ||
      failed(check_shared_size(*this, "M", getA(), memref(getA()).getDimSize(0), getAcc(), acc[0])) ||
      failed(check_shared_size(*this, "N", getB(), b_n, getAcc(), acc[1]))) {
    return failure();
  }
  for (Value factor : {Value(getA()), Value(getB())}) {
    if (failed(check_product_elements(*this, factor, getAcc())) || failed(check_distinct(*this, factor, getAcc()))) {
      return failure();
    }
  }
  return success();
}

// Reductions and scans ------------------------------------------------------------------------------------------------

namespace {

LogicalResult check_dim(Operation* op, Value source, int64_t dim) {
  const int64_t rank = memref(source).getRank();
  if (dim >= 0 && dim < rank) return success();
  if (rank == 0) return op->emitOpError() << "has no dimension to run along: " << buffer_name(source) << " has rank 0";
  return op->emitOpError() << "runs along dimension " << dim << ", but " << buffer_name(source)
                           << " has dimensions 0 to " << rank - 1;
}

}  // namespace

LogicalResult ReduceOp::verify() {
  const auto dim = static_cast<int64_t>(getDim());
  if (failed(check_dim(*this, getSource(), dim))) return failure();
  llvm::SmallVector<int64_t> kept(memref(getSource()).getShape()), dropped(kept);
  kept[dim] = 1;
  dropped.erase(dropped.begin() + dim);
  llvm::ArrayRef<int64_t> dest = memref(getDest()).getShape();
  if (dest != llvm::ArrayRef(kept) && dest != llvm::ArrayRef(dropped)) {
    return emitOpError() << "expects " << buffer_name(getDest()) << " to have shape " << shape_text(dropped) << " or "
                         << shape_text(kept) << ", got " << shape_text(dest);
  }
  if (failed(check_conversion(*this, getSource(), getDest())) ||
      failed(check_distinct(*this, getSource(), getDest())) ||
      failed(check_combine(*this, getCombine(), Combines::All, getDest())) ||
      failed(check_combine(*this, getCombine(), Combines::All, getSource()))) {
    return failure();
  }
  return getPropagateNan() ? check_propagates_nan(*this, getCombine(), getSource()) : success();
}

LogicalResult ScanOp::verify() {
  if (failed(check_dim(*this, getSource(), static_cast<int64_t>(getDim()))) ||
      failed(check_same_shape(*this, getSource(), getDest())) ||
      failed(check_conversion(*this, getSource(), getDest())) ||
      failed(check_combine(*this, getCombine(), Combines::Scans, getDest()))) {
    return failure();
  }
  return check_combine(*this, getCombine(), Combines::Scans, getSource());
}

// Atomics -------------------------------------------------------------------------------------------------------------

namespace {

LogicalResult check_atomic(Operation* op, Combine kind, Value buffer) {
  mlir::Type element = memref(buffer).getElementType();
  if (!element.isF64() && !element.isF32() && !element.isSignlessInteger(64) && !element.isSignlessInteger(32)) {
    return op->emitOpError() << "cannot update " << element << " of " << buffer_name(buffer)
                             << " atomically; use f64, f32, i64 or i32";
  }
  return check_combine(op, kind, Combines::Atomics, buffer);
}

}  // namespace

LogicalResult AtomicOp::verify() {
  if (failed(check_indices(*this, getBuffer(), getIndices().size())) ||
      failed(check_atomic(*this, getCombine(), getBuffer()))) {
    return failure();
  }
  return check_scalar(*this, "the value", getValue(), getBuffer());
}

LogicalResult AtomicStoreOp::verify() {
  if (failed(check_window(*this, getDest(), getIndices().size(), getTile(), getDims())) ||
      failed(check_distinct(*this, getTile(), getDest())) || failed(check_atomic(*this, getCombine(), getDest()))) {
    return failure();
  }
  return check_conversion(*this, getTile(), getDest());
}

}  // namespace deep_accel::tile
