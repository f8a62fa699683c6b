// Addresses, and elements between their storage and compute types.
#include "deep_accel/compile/lower/buffer_ref.h"

#include "deep_accel/compile/numerics/narrow.h"

namespace deep_accel::compile {

using mlir::Type;
using mlir::Value;
namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
namespace vector = mlir::vector;

namespace {

Type shaped_like(Value value, Type element) {
  if (auto type = mlir::dyn_cast<mlir::VectorType>(value.getType())) return type.clone(element);
  return element;
}

std::optional<Narrow> narrow_kind(Type storage) {
  if (storage.isF16()) return Narrow::F16;
  if (storage.isBF16()) return Narrow::BF16;
  if (storage.isFloat8E4M3FN()) return Narrow::Fp8E4M3;
  if (storage.isFloat8E5M2()) return Narrow::Fp8E5M2;
  if (mlir::isa<tile::F4E2M1FNType>(storage)) return Narrow::Fp4E2M1;
  if (storage.isInteger(4)) return Narrow::Int4;
  return std::nullopt;
}

}  // namespace

Type raw_type(Type storage) {
  if (storage.isF32() || storage.isF64()) return storage;
  const int64_t bits = std::max<int64_t>(tile::storage_bits(storage), 8);
  return mlir::IntegerType::get(storage.getContext(), static_cast<unsigned>(bits));
}

Value Elements::index(int64_t value) { return builder_.create<arith::ConstantIndexOp>(value); }

Value Elements::index(mlir::OpFoldResult value) {
  if (auto constant = mlir::getConstantIntValue(value)) return index(*constant);
  return mlir::cast<Value>(value);
}

Value Elements::add(Value a, Value b) {
  if (!a) return b;
  if (!b) return a;
  return builder_.createOrFold<arith::AddIOp>(a, b);
}

Value Elements::mul(Value a, mlir::OpFoldResult b) {
  const auto constant = mlir::getConstantIntValue(b);
  if (constant && *constant == 1) return a;
  return builder_.createOrFold<arith::MulIOp>(a, index(b));
}

Value Elements::position(const BufferRef& ref, mlir::ValueRange indices) {
  Value position = ref.offset;
  if (ref.panels) {
    const Panels& panels = *ref.panels;
    const size_t first = indices.size() - 2;
    for (size_t dim = 0; dim < first; ++dim) position = add(position, mul(indices[dim], ref.strides[dim]));
    const mlir::ValueRange within_tile = indices.drop_front(first);
    Value along = within_tile[panels.axis], row = within_tile[1 - panels.axis];
    Value width = index(panels.width);
    Value panel = builder_.createOrFold<arith::DivUIOp>(along, width);
    Value within = builder_.createOrFold<arith::RemUIOp>(along, width);
    position = add(position, mul(panel, builder_.getIndexAttr(panels.rows * panels.width)));
    if (panels.group == 1) {
      position = add(position, mul(row, builder_.getIndexAttr(panels.width)));
      return add(position, within);
    }
    Value group = index(panels.group);
    Value word = builder_.createOrFold<arith::DivUIOp>(row, group);
    position = add(position, mul(word, builder_.getIndexAttr(panels.width * panels.group)));
    position = add(position, mul(within, builder_.getIndexAttr(panels.group)));
    return add(position, builder_.createOrFold<arith::RemUIOp>(row, group));
  }
  for (auto [index, stride] : llvm::zip_equal(indices, ref.strides)) {
    const auto constant = mlir::getConstantIntValue(stride);
    if (constant && *constant == 0) continue;
    position = add(position, mul(index, stride));
  }
  return position ? position : index(int64_t{0});
}

Value Elements::address(const BufferRef& ref, Value position) {
  if (tile::is_packed(ref.storage)) position = builder_.createOrFold<arith::ShRUIOp>(position, index(int64_t{1}));
  Value offset = builder_.createOrFold<arith::IndexCastOp>(builder_.getI64Type(), position);
  return builder_.create<LLVM::GEPOp>(LLVM::LLVMPointerType::get(builder_.getContext()), raw_type(ref.storage),
                                      ref.base, llvm::ArrayRef<LLVM::GEPArg>{offset}, /*inbounds=*/true);
}

Value Elements::raw_load(Type type, Value address, int64_t alignment, Value mask) {
  if (!mask) return builder_.create<LLVM::LoadOp>(type, address, static_cast<unsigned>(alignment));
  Value zero = builder_.create<arith::ConstantOp>(builder_.getZeroAttr(type));
  return builder_.create<LLVM::MaskedLoadOp>(type, address, mask, mlir::ValueRange{zero},
                                             static_cast<uint32_t>(alignment));
}

void Elements::raw_store(Value value, Value address, int64_t alignment, Value mask, bool streaming) {
  if (mask) {
    builder_.create<LLVM::MaskedStoreOp>(value, address, mask, static_cast<uint32_t>(alignment));
    return;
  }
  builder_.create<LLVM::StoreOp>(value, address, static_cast<unsigned>(alignment), /*isVolatile=*/false, streaming);
}

Value Elements::widen_storage(Value raw, Type storage) {
  if (storage.isF32() || storage.isF64() || storage.isInteger(64) || storage.isInteger(32)) return raw;
  if (auto kind = narrow_kind(storage)) {
    return widen(builder_, raw, *kind, NarrowOptions{.native_f16 = target_.native_f16});
  }
  if (storage.isInteger(1)) {
    Value zero = builder_.create<arith::ConstantOp>(builder_.getZeroAttr(raw.getType()));
    return builder_.create<arith::CmpIOp>(arith::CmpIPredicate::ne, raw, zero);
  }
  Type wide = shaped_like(raw, builder_.getI32Type());
  if (storage.isUnsignedInteger()) return builder_.create<arith::ExtUIOp>(wide, raw);
  return builder_.create<arith::ExtSIOp>(wide, raw);
}

Value Elements::narrow_to_storage(Value value, Type storage) {
  if (storage.isF32() || storage.isF64() || storage.isInteger(64) || storage.isInteger(32)) return value;
  if (auto kind = narrow_kind(storage)) {
    return narrow(builder_, value, *kind, NarrowOptions{.native_f16 = target_.native_f16});
  }
  Type raw = shaped_like(value, raw_type(storage));
  if (storage.isInteger(1)) return builder_.create<arith::ExtUIOp>(raw, value);
  return builder_.create<arith::TruncIOp>(raw, value);
}

Value Elements::converted(Value value, Type element) {
  Type from = mlir::getElementTypeOrSelf(value.getType()), to = shaped_like(value, element);
  if (from == element) return value;
  if (!mlir::isa<mlir::FloatType>(from)) return builder_.create<arith::SIToFPOp>(to, value);
  if (!mlir::isa<mlir::FloatType>(element)) return builder_.create<arith::FPToSIOp>(to, value);
  if (from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth()) return builder_.create<arith::ExtFOp>(to, value);
  return builder_.create<arith::TruncFOp>(to, value);
}

Value Elements::load(const BufferRef& ref, Value position, int64_t lanes, Value mask) {
  Value where = address(ref, position);
  Type raw = raw_type(ref.storage);
  const int64_t alignment = std::max<int64_t>(tile::storage_bits(ref.storage) / 8, 1);
  if (!tile::is_packed(ref.storage)) {
    Type type = lanes == 1 ? raw : mlir::VectorType::get({lanes}, raw);
    return converted(widen_storage(raw_load(type, where, alignment, mask), ref.storage),
                     tile::compute_type(ref.element));
  }
  if (lanes == 1) {
    Value byte = raw_load(raw, where, 1, {});
    Value odd =
        builder_.create<arith::AndIOp>(builder_.createOrFold<arith::IndexCastOp>(builder_.getI64Type(), position),
                                       builder_.create<arith::ConstantIntOp>(1, 64));
    Value shift = builder_.create<arith::TruncIOp>(
        raw, builder_.create<arith::ShLIOp>(odd, builder_.create<arith::ConstantIntOp>(2, 64)));
    return widen_storage(builder_.create<arith::ShRUIOp>(byte, shift), ref.storage);
  }
  // Lanes of packed types begin at an even element: the vectoriser sees to it.
  Value bytes = raw_load(mlir::VectorType::get({lanes / 2}, raw), where, 1, {});
  return widen_storage(unpack_nibbles(builder_, bytes), ref.storage);
}

Value Elements::raw_lanes(const BufferRef& ref, Value value, bool exact) {
  if (!exact && ref.storage != ref.element) {
    value = widen_storage(narrow_to_storage(value, ref.element), ref.element);
  }
  if (exact && ref.storage.isBF16()) {
    // A bf16 is the upper half of its f32: nothing is rounded.
    Value bits = builder_.create<arith::BitcastOp>(shaped_like(value, builder_.getI32Type()), value);
    Value half = builder_.create<arith::ConstantOp>(builder_.getIntegerAttr(builder_.getI32Type(), 16));
    if (auto type = mlir::dyn_cast<mlir::VectorType>(value.getType())) half = splat(half, type.getNumElements());
    return builder_.create<arith::TruncIOp>(shaped_like(value, builder_.getI16Type()),
                                            builder_.create<arith::ShRUIOp>(bits, half));
  }
  return narrow_to_storage(converted(value, tile::compute_type(ref.storage)), ref.storage);
}

void Elements::store(const BufferRef& ref, Value value, Value position, int64_t lanes, Value mask, bool exact,
                     int64_t streaming_alignment) {
  Value where = address(ref, position);
  Value raw = raw_lanes(ref, value, exact);
  const int64_t element_bytes = std::max<int64_t>(tile::storage_bits(ref.storage) / 8, 1);
  const int64_t alignment = streaming_alignment ? streaming_alignment : element_bytes;
  if (!tile::is_packed(ref.storage)) {
    raw_store(raw, where, alignment, mask, streaming_alignment != 0);
    return;
  }
  if (lanes > 1) {
    raw_store(pack_nibbles(builder_, raw), where, 1, {}, false);
    return;
  }
  // One nibble of a byte: read, replace, write.
  Type byte_type = builder_.getI8Type();
  Value byte = raw_load(byte_type, where, 1, {});
  Value odd = builder_.create<arith::AndIOp>(builder_.createOrFold<arith::IndexCastOp>(builder_.getI64Type(), position),
                                             builder_.create<arith::ConstantIntOp>(1, 64));
  Value shift = builder_.create<arith::TruncIOp>(
      byte_type, builder_.create<arith::ShLIOp>(odd, builder_.create<arith::ConstantIntOp>(2, 64)));
  Value low = builder_.create<arith::ConstantIntOp>(0x0f, 8);
  Value keep = builder_.create<arith::XOrIOp>(builder_.create<arith::ShLIOp>(low, shift),
                                              builder_.create<arith::ConstantIntOp>(0xff, 8));
  Value nibble = builder_.create<arith::ShLIOp>(builder_.create<arith::AndIOp>(raw, low), shift);
  raw_store(builder_.create<arith::OrIOp>(builder_.create<arith::AndIOp>(byte, keep), nibble), where, 1, {}, false);
}

Value Elements::splat(Value scalar, int64_t lanes) {
  if (lanes == 1 || mlir::isa<mlir::VectorType>(scalar.getType())) return scalar;
  return builder_.create<vector::BroadcastOp>(mlir::VectorType::get({lanes}, scalar.getType()), scalar);
}

Value Elements::lane(Value vector_value, int64_t index) {
  if (!mlir::isa<mlir::VectorType>(vector_value.getType())) return vector_value;
  return builder_.create<vector::ExtractOp>(vector_value, index);
}

Value Elements::constant_like(Type type, double value) {
  Type element = mlir::getElementTypeOrSelf(type);
  mlir::TypedAttr attribute;
  if (mlir::isa<mlir::FloatType>(element)) {
    attribute = builder_.getFloatAttr(element, value);
  } else {
    attribute = builder_.getIntegerAttr(element, static_cast<int64_t>(value));
  }
  if (auto shaped = mlir::dyn_cast<mlir::VectorType>(type)) attribute = mlir::DenseElementsAttr::get(shaped, attribute);
  return builder_.create<arith::ConstantOp>(attribute);
}

Value Elements::fma(Value a, Value b, Value c) {
  if (!mlir::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(a.getType()))) {
    return builder_.create<arith::AddIOp>(builder_.create<arith::MulIOp>(a, b), c);
  }
  if (target_.fma) return builder_.create<mlir::math::FmaOp>(a, b, c);
  return builder_.create<arith::AddFOp>(builder_.create<arith::MulFOp>(a, b), c);
}

Value Elements::across(tile::Combine kind, Value value, bool propagate_nan) {
  auto type = mlir::dyn_cast<mlir::VectorType>(value.getType());
  if (!type) return value;
  // Halves combined until one lane is left: the same order on every target.
  int64_t lanes = type.getNumElements();
  while (lanes > 1) {
    llvm::SmallVector<int64_t> low, high;
    for (int64_t i = 0; i < lanes / 2; ++i) {
      low.push_back(i);
      high.push_back(lanes / 2 + i);
    }
    Value a = builder_.create<vector::ShuffleOp>(value, value, low);
    Value b = builder_.create<vector::ShuffleOp>(value, value, high);
    value = combined(builder_, kind, a, b, propagate_nan, /*never_nan=*/true);
    lanes /= 2;
  }
  return lane(value, 0);
}

}  // namespace deep_accel::compile
