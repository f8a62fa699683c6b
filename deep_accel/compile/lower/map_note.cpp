// What became of a map, kept on its phase's function for `explain`: `tile.loops`, a dictionary for each map with the
// source lines that it was joined of, its sizes, and the shape of its vectors.
#include "deep_accel/compile/lower/map_emitter.h"
#include "deep_accel/tile/ir/program_impl.h"

namespace deep_accel::compile {

namespace {

// "file:line" of every statement in the map, each once, in order.
mlir::ArrayAttr lines_of(tile::MapOp map) {
  llvm::SmallVector<mlir::Attribute> lines;
  map.getBody().walk([&](mlir::Operation* op) {
    if (!mlir::isa<tile::TileDialect>(op->getDialect())) return;
    const std::string place = tile::location_text(op->getLoc());
    mlir::Attribute line = mlir::StringAttr::get(op->getContext(), llvm::StringRef(place).rsplit(':').first);
    if (!place.empty() && !llvm::is_contained(lines, line)) lines.push_back(line);
  });
  return mlir::ArrayAttr::get(map.getContext(), lines);
}

}  // namespace

void MapEmitter::note_shape() {
  constexpr llvm::StringLiteral key("tile.loops");
  mlir::Operation* function = mlir::cast<mlir::BlockArgument>(emitter_.context_).getOwner()->getParentOp();
  mlir::Builder builder(op_.getContext());
  llvm::SmallVector<mlir::NamedAttribute> shape;
  auto add = [&](llvm::StringRef name, mlir::Attribute value) { shape.push_back(builder.getNamedAttr(name, value)); };
  add("lines", lines_of(op_));
  add("sizes", builder.getDenseI64ArrayAttr(op_.getStaticSizes()));
  if (axis_ >= 0) {
    add("axis", builder.getI64IntegerAttr(axis_));
    add("lanes", builder.getI64IntegerAttr(lanes_));
    if (!horizontal_.empty()) add("accumulators", builder.getI64IntegerAttr(choose_unroll()));
    if (may_go_past_caches_) add("past_caches", builder.getUnitAttr());
  }
  llvm::SmallVector<mlir::Attribute> loops;
  if (auto known = function->getAttrOfType<mlir::ArrayAttr>(key)) llvm::append_range(loops, known);
  loops.push_back(builder.getDictionaryAttr(shape));
  function->setAttr(key, builder.getArrayAttr(loops));
}

}  // namespace deep_accel::compile
