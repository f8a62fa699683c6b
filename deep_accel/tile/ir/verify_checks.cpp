// Verifiers of checks, prints and foreign code, and of the attributes that passes leave for later ones.
#include "deep_accel/tile/ir/verify.h"

namespace deep_accel::tile {

using mlir::Operation;
using mlir::Value;

namespace {

// Compiled code holds texts as C strings.
LogicalResult check_text(Operation* op, llvm::StringRef what, llvm::StringRef text) {
  const size_t zero = text.find('\0');
  if (zero == llvm::StringRef::npos) return success();
  return op->emitOpError() << "has a zero byte in its " << what << ", after " << zero << " others; leave it out";
}

constexpr int64_t kMostPrinted = 4096;

}  // namespace

LogicalResult AssertOp::verify() { return check_text(*this, "message", getMessage()); }

LogicalResult PrintOp::verify() {
  if (failed(check_text(*this, "text", getText()))) return failure();
  int64_t printed = 0;
  for (Value operand : getValues()) {
    auto count = is_buffer(operand.getType()) ? element_count(memref(operand)) : std::optional<int64_t>(1);
    if (count && *count <= kMostPrinted - printed) {
      printed += *count;
      continue;
    }
    return emitOpError() << "prints "
                         << (is_buffer(operand.getType())
                                 ? buffer_name(operand) + " of shape " + shape_text(memref(operand).getShape())
                                 : std::string("many values"))
                         << ", but at most " << kMostPrinted
                         << " elements are printed at a time; print a slice, or single elements";
  }
  return success();
}

LogicalResult ExternOp::verify() {
  for (auto [number, operand] : llvm::enumerate(getOperands())) {
    if (!is_buffer(operand.getType())) continue;
    if (memref(operand).hasStaticShape() && is_contiguous(memref(operand))) continue;
    return emitOpError() << "passes " << buffer_name(operand) << " as operand " << number
                         << ", but C functions take buffers of static shape without gaps, not " << operand.getType()
                         << "; load it into a tile";
  }
  for (auto [name, list] : {std::make_pair("reads", getReads()), std::make_pair("writes", getWrites())}) {
    for (int64_t number : list) {
      const bool known = number >= 0 && number < static_cast<int64_t>(getOperands().size());
      if (known && is_buffer(getOperands()[number].getType())) continue;
      return emitOpError() << "names operand " << number << " in " << name
                           << (known ? ", which is a scalar; name buffers alone"
                                     : ", but there is no such operand; they count from 0");
    }
  }
  return success();
}

// What passes leave ---------------------------------------------------------------------------------------------------

namespace {

LogicalResult check_panels(Operation* op, mlir::MemRefType type) {
  mlir::Attribute attribute = op->getAttr("tile.panels");
  if (!attribute) return success();
  auto panels = mlir::dyn_cast<mlir::DenseI64ArrayAttr>(attribute);
  const bool has_group = panels && panels.size() == 3;
  if (panels && (panels.size() == 2 || has_group) && type.getRank() >= 2 && (panels[0] == 0 || panels[0] == 1) &&
      panels[1] >= 1 && panels[1] <= kWidestPanel && (!has_group || (panels[2] >= 1 && panels[2] <= kWidestPanel))) {
    return success();
  }
  return op->emitOpError() << "expects tile.panels to be [axis, width] or [axis, width, group] of the last two "
                           << "dimensions, with axis 0 or 1, width and group 1 to " << kWidestPanel << ", got "
                           << attribute;
}

LogicalResult check_storage(Operation* op, mlir::MemRefType type) {
  mlir::Attribute attribute = op->getAttr("tile.storage");
  if (!attribute) return success();
  mlir::Type element = type.getElementType();
  auto storage = mlir::dyn_cast<mlir::TypeAttr>(attribute);
  // Every value of the element's type has its place in the other one.
  if (storage &&
      (storage.getValue() == compute_type(element) || (storage.getValue().isF64() && storage_bits(element) < 64) ||
       (storage.getValue().isF32() && computes_in_floats(element) && !element.isF64()) ||
       (storage.getValue().isF32() && !computes_in_floats(element) && storage_bits(element) <= 16))) {
    return success();
  }
  return op->emitOpError() << "expects tile.storage to be a type that arithmetic knows and that holds all of "
                           << element << ", got " << attribute;
}

LogicalResult check_kept(AllocOp op) {
  mlir::Attribute attribute = op->getAttr("tile.kept");
  if (!attribute) return success();
  auto kind = mlir::dyn_cast<mlir::StringAttr>(attribute);
  const bool marks = kind && kind.getValue() == "marks";
  if (!kind || !(marks || kind.getValue() == "tile") || !op->getParentOfType<GridOp>()) {
    return op.emitOpError() << "expects tile.kept to be \"tile\" or \"marks\", inside a grid, got " << attribute;
  }
  if (marks && !op.getType().getElementType().isInteger(64)) {
    return op.emitOpError() << "expects marks to be i64, got " << op.getType().getElementType();
  }
  return success();
}

}  // namespace

LogicalResult check_layout(AllocOp op) {
  auto type = mlir::cast<mlir::MemRefType>(op.getType());
  if (failed(check_panels(op, type)) || failed(check_storage(op, type)) || failed(check_kept(op))) return failure();
  mlir::Attribute attribute = op->getAttr("tile.offset");
  if (!attribute) return success();
  auto offset = mlir::dyn_cast<mlir::IntegerAttr>(attribute);
  if (offset && offset.getType().isSignlessInteger(64) && offset.getInt() >= 0 && offset.getInt() % 64 == 0) {
    return success();
  }
  return op.emitOpError() << "expects tile.offset to be a multiple of 64 of type i64, got " << attribute;
}

LogicalResult check_register_tile(GemmOp op) {
  mlir::Attribute attribute = op->getAttr("tile.register_tile");
  if (!attribute) return success();
  auto tile = mlir::dyn_cast<mlir::DenseI64ArrayAttr>(attribute);
  if (tile && tile.size() == 2 &&
      llvm::all_of(tile.asArrayRef(), [](int64_t size) { return size >= 1 && size <= kWidestPanel; })) {
    return success();
  }
  return op.emitOpError() << "expects tile.register_tile to be [rows, columns], each 1 to " << kWidestPanel << ", got "
                          << attribute;
}

}  // namespace deep_accel::tile
