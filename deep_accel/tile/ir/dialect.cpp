// Registration, types and attributes of the tile dialect, and the questions that one asks of buffers.
#include "deep_accel/tile/ir/dialect.h"

#include "deep_accel/tile/ir/tile_dialect.cpp.inc"
#include "deep_accel/tile/ir/tile_enums.cpp.inc"
#include "deep_accel/tile/ir/tile_interfaces.cpp.inc"
#include "llvm/ADT/StringExtras.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/DialectImplementation.h"
#define GET_ATTRDEF_CLASSES
#include "deep_accel/tile/ir/tile_attributes.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "deep_accel/tile/ir/tile_types.cpp.inc"

namespace deep_accel::tile {

void TileDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "deep_accel/tile/ir/tile_types.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "deep_accel/tile/ir/tile_attributes.cpp.inc"
      >();
  register_operations();
}

void register_dialects(mlir::DialectRegistry& registry) {
  registry.insert<TileDialect, mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::scf::SCFDialect,
                  mlir::index::IndexDialect, mlir::ub::UBDialect>();
}

mlir::Type compute_type(mlir::Type storage) {
  mlir::MLIRContext* context = storage.getContext();
  if (storage.isF64() || storage.isF32()) return storage;
  if (storage.isF16() || storage.isBF16() || storage.isFloat8E4M3FN() || storage.isFloat8E5M2() ||
      mlir::isa<F4E2M1FNType>(storage)) {
    return mlir::Float32Type::get(context);
  }
  auto integer = mlir::dyn_cast<mlir::IntegerType>(storage);
  if (!integer) return {};
  const unsigned width = integer.getWidth();
  if (integer.isUnsigned()) return width == 8 ? mlir::IntegerType::get(context, 32) : mlir::Type();
  if (width == 1 || width == 64) return mlir::IntegerType::get(context, width);
  if (width == 4 || width == 8 || width == 16 || width == 32) return mlir::IntegerType::get(context, 32);
  return {};
}

DType dtype_of(mlir::Type storage) {
  if (storage.isF64()) return DType::f64;
  if (storage.isF32()) return DType::f32;
  if (storage.isF16()) return DType::f16;
  if (storage.isBF16()) return DType::bf16;
  if (storage.isFloat8E4M3FN()) return DType::f8e4m3;
  if (storage.isFloat8E5M2()) return DType::f8e5m2;
  if (mlir::isa<F4E2M1FNType>(storage)) return DType::f4e2m1;
  if (storage.isUnsignedInteger(8)) return DType::u8;
  switch (storage.getIntOrFloatBitWidth()) {
    case 64:
      return DType::i64;
    case 16:
      return DType::i16;
    case 8:
      return DType::i8;
    case 4:
      return DType::i4;
    case 1:
      return DType::boolean;
    default:
      return DType::i32;
  }
}

int64_t storage_bits(mlir::Type storage) {
  if (mlir::isa<F4E2M1FNType>(storage)) return 4;
  const int64_t bits = storage.getIntOrFloatBitWidth();
  return bits == 1 ? 8 : bits;
}

bool is_packed(mlir::Type storage) { return storage_bits(storage) == 4; }

Space space_of(mlir::MemRefType type) {
  auto space = mlir::dyn_cast_or_null<SpaceAttr>(type.getMemorySpace());
  return space ? space.getValue() : Space::global;
}

mlir::MemRefType buffer_type(llvm::ArrayRef<int64_t> shape, mlir::Type element, Space space) {
  return mlir::MemRefType::get(shape, element, mlir::MemRefLayoutAttrInterface{},
                               SpaceAttr::get(element.getContext(), space));
}

bool is_buffer(mlir::Type type) {
  auto memref = mlir::dyn_cast<mlir::MemRefType>(type);
  return memref && compute_type(memref.getElementType()) && mlir::isa_and_nonnull<SpaceAttr>(memref.getMemorySpace());
}

bool is_global(mlir::Type type) {
  return is_buffer(type) && space_of(mlir::cast<mlir::MemRefType>(type)) == Space::global;
}

bool is_tile(mlir::Type type) {
  return is_buffer(type) && !is_global(type) && mlir::cast<mlir::MemRefType>(type).hasStaticShape();
}

bool is_compute_type(mlir::Type type) {
  return type.isF64() || type.isF32() || type.isSignlessInteger(64) || type.isSignlessInteger(32) ||
         type.isSignlessInteger(1);
}

mlir::Value root_buffer(mlir::Value buffer) {
  while (auto view = buffer.getDefiningOp<mlir::ViewLikeOpInterface>()) buffer = view.getViewSource();
  return buffer;
}

std::optional<int64_t> constant_index(mlir::Value value) { return mlir::getConstantIntValue(value); }

std::string buffer_name(mlir::Value buffer) {
  mlir::Value root = root_buffer(buffer);
  if (auto alloc = root.getDefiningOp<AllocOp>()) {
    if (auto name = alloc.getName()) return "'" + name->str() + "'";
  } else if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(root)) {
    if (auto kernel = mlir::dyn_cast<KernelOp>(argument.getOwner()->getParentOp())) {
      return "'" + kernel.arg_name(argument.getArgNumber()).str() + "'";
    }
  }
  return "a buffer";
}

}  // namespace deep_accel::tile
