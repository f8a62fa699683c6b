// Layouts of buffers, and the types that views of them have.
#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::tile {

using mlir::MemRefType;
using mlir::ShapedType;

namespace {

// a * b, unknown where a factor is, or where the product does not fit.
int64_t multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  if (ShapedType::isDynamic(a) || ShapedType::isDynamic(b) || __builtin_mul_overflow(a, b, &product)) {
    return ShapedType::kDynamic;
  }
  return product;
}

llvm::SmallVector<int64_t> row_major(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim > 1; --dim) strides[dim - 2] = multiply(strides[dim - 1], shape[dim - 1]);
  return strides;
}

// The type with this layout, which is left out where it is the usual one.
MemRefType typed(MemRefType like, llvm::ArrayRef<int64_t> shape, mlir::Type element, const BufferLayout& layout) {
  mlir::MemRefLayoutAttrInterface attribute;
  if (layout.offset != 0 || layout.strides != row_major(shape)) {
    attribute = mlir::StridedLayoutAttr::get(like.getContext(), layout.offset, layout.strides);
  }
  return MemRefType::get(shape, element, attribute, like.getMemorySpace());
}

}  // namespace

std::optional<BufferLayout> layout_of(MemRefType type) {
  if (auto strided = mlir::dyn_cast<mlir::StridedLayoutAttr>(type.getLayout())) {
    return BufferLayout{llvm::SmallVector<int64_t>(strided.getStrides()), strided.getOffset()};
  }
  if (!type.getLayout().isIdentity()) return std::nullopt;
  return BufferLayout{row_major(type.getShape()), 0};
}

bool is_contiguous(MemRefType type) {
  auto layout = layout_of(type);
  if (!layout) return false;
  llvm::SmallVector<int64_t> expected = row_major(type.getShape());
  for (auto [size, stride, wanted] : llvm::zip_equal(type.getShape(), layout->strides, expected)) {
    if (size != 1 && (stride != wanted || (ShapedType::isDynamic(stride) && !type.getLayout().isIdentity()))) {
      return false;
    }
  }
  return true;
}

std::optional<int64_t> element_count(MemRefType type) {
  int64_t count = 1;
  for (int64_t size : type.getShape()) {
    if (ShapedType::isDynamic(size) || __builtin_mul_overflow(count, size, &count)) return std::nullopt;
  }
  return count;
}

MemRefType slice_type(MemRefType source, llvm::ArrayRef<int64_t> sizes, std::optional<llvm::ArrayRef<int64_t>> dims,
                      int64_t offset) {
  auto layout = layout_of(source);
  if (!layout) return {};
  llvm::SmallVector<int64_t> strides;
  for (size_t index = 0; index < sizes.size(); ++index) {
    strides.push_back(layout->strides[dims ? (*dims)[index] : source.getRank() - sizes.size() + index]);
  }
  return typed(source, sizes, source.getElementType(), {strides, offset});
}

int64_t slice_offset(MemRefType source, mlir::ValueRange indices) {
  auto layout = layout_of(source);
  if (!layout) return ShapedType::kDynamic;
  int64_t offset = layout->offset;
  for (auto [index, stride] : llvm::zip_equal(indices, layout->strides)) {
    auto known = constant_index(index);
    const int64_t distance = known == 0 ? 0 : multiply(known.value_or(ShapedType::kDynamic), stride);
    if (ShapedType::isDynamic(offset) || ShapedType::isDynamic(distance) ||
        __builtin_add_overflow(offset, distance, &offset)) {
      return ShapedType::kDynamic;
    }
  }
  return offset;
}

MemRefType reshape_type(MemRefType source, llvm::ArrayRef<int64_t> shape) {
  auto layout = layout_of(source);
  if (!layout) return {};
  return typed(source, shape, source.getElementType(), {row_major(shape), layout->offset});
}

MemRefType bitcast_type(MemRefType source, mlir::Type element) {
  const int64_t from = storage_bits(source.getElementType()), to = storage_bits(element);
  if (from == to) {
    return MemRefType::get(source.getShape(), element, source.getLayout(), source.getMemorySpace());
  }
  auto layout = layout_of(source);
  if (!layout || source.getRank() == 0 || layout->strides.back() != 1) return {};
  // Sizes and strides in elements of the new type; a count of bits that `to` does not divide has none.
  auto scaled = [&](int64_t count) -> std::optional<int64_t> {
    if (ShapedType::isDynamic(count)) return count;
    const int64_t bits = multiply(count, from);
    if (ShapedType::isDynamic(bits) || bits % to != 0) return std::nullopt;
    return bits / to;
  };
  llvm::SmallVector<int64_t> shape(source.getShape());
  auto last = scaled(shape.back()), offset = scaled(layout->offset);
  if (ShapedType::isDynamic(shape.back()) || !last || !offset) return {};
  shape.back() = *last;
  if (source.getLayout().isIdentity()) return typed(source, shape, element, {row_major(shape), 0});
  for (int64_t& stride : llvm::MutableArrayRef(layout->strides).drop_back()) {
    auto wider = scaled(stride);
    if (!wider) return {};
    stride = *wider;
  }
  layout->offset = *offset;
  return typed(source, shape, element, *layout);
}

}  // namespace deep_accel::tile
