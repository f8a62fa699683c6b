// See dot_products.h.
#include "deep_accel/compile/passes/dot_products.h"

#include "deep_accel/compile/target/tile_product.h"

namespace deep_accel::compile {

namespace {

mlir::Type element_of(mlir::Value tile) { return mlir::cast<mlir::MemRefType>(tile.getType()).getElementType(); }

bool on_x86(const Target& target) { return llvm::StringRef(target.triple).starts_with("x86_64"); }

}  // namespace

int64_t dot_group(tile::GemmOp op, const Target& target) {
  mlir::Type a = element_of(op.getA()), b = element_of(op.getB());
  mlir::Type sum = tile::compute_type(element_of(op.getAcc()));
  // A vector of sums at least. Scales would enlarge what a bf16 instruction may lose of small sums.
  if (op.n() < 4 || op.getScaleA()) return 1;
  int64_t group = 1;
  if (sum.isInteger(32) && a.isInteger(8) && b.isInteger(8) && target.vnni) {
    // x86 multiplies unsigned by signed, and a shift by 128 makes the one of the other; Arm both alike.
    if (on_x86(target) || a.isUnsignedInteger() == b.isUnsignedInteger()) group = 4;
  } else if (sum.isF32() && a.isBF16() && b.isBF16() && target.bf16_dot) {
    group = 2;
  }
  return op.k() % group == 0 ? group : 1;
}

bool lies_in_words(mlir::Value left, bool transposed, int64_t group) {
  auto type = mlir::cast<mlir::MemRefType>(left.getType());
  if (transposed) return false;
  if (auto alloc = left.getDefiningOp<tile::AllocOp>()) {
    if (alloc->hasAttr("tile.storage") || alloc->hasAttr("tile.panels")) return false;
  } else {
    mlir::Value root = tile::root_buffer(left);
    auto owner = root.getDefiningOp<tile::AllocOp>();
    if (!owner || owner->hasAttr("tile.storage") || owner->hasAttr("tile.panels")) return false;
  }
  llvm::SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (mlir::failed(mlir::getStridesAndOffset(type, strides, offset))) return false;
  return strides[1] == 1 && !mlir::ShapedType::isDynamic(strides[0]) && strides[0] % group == 0;
}

bool fits_tile_registers(tile::GemmOp op, int64_t group, const Target& target) {
  mlir::Type sum = element_of(op.getAcc());
  if (!target.amx || group == 1 || !(sum.isF32() || sum.isInteger(32))) return false;
  return op.k() % (group * TileProduct::kBytes / 4) == 0;
}

std::string dot_name(tile::GemmOp op, const Target& target, bool tile_registers) {
  if (tile_registers && element_of(op.getA()).isBF16()) return "tdpbf16ps";
  if (tile_registers) {
    auto letter = [](mlir::Value factor) { return element_of(factor).isUnsignedInteger() ? "u" : "s"; };
    return std::string("tdpb") + letter(op.getA()) + letter(op.getB()) + "d";
  }
  if (element_of(op.getA()).isBF16()) return "vdpbf16ps";
  if (on_x86(target)) return "vpdpbusd";
  return element_of(op.getA()).isUnsignedInteger() ? "udot" : "sdot";
}

}  // namespace deep_accel::compile
