// Verifiers of structure: kernels and their arguments, grids, buffers and their views, pipelines.
#include "deep_accel/tile/ir/verify.h"
#include "llvm/Support/MathExtras.h"

namespace deep_accel::tile {

using mlir::Operation;
using mlir::ShapedType;
using mlir::Value;

namespace {

// No machine has more; sums and products of what stays below fit in 64 bits.
constexpr int64_t kMostBytes = int64_t{1} << 47;

// On a machine's chips there is less.
constexpr int64_t kMostTileBytes = int64_t{1} << 40;

// The static sizes together, dynamic ones as one, are addressable.
LogicalResult check_bytes(Operation* op, llvm::Twine what, mlir::MemRefType type) {
  const int64_t most = is_tile(type) ? kMostTileBytes : kMostBytes;
  int64_t bits = storage_bits(type.getElementType());
  for (int64_t size : type.getShape()) {
    if (ShapedType::isDynamic(size) || size == 0) continue;
    if (__builtin_mul_overflow(bits, size, &bits) || bits > 8 * most) {
      return op->emitOpError() << what << " of shape " << shape_text(type.getShape()) << " of " << type.getElementType()
                               << " takes more than " << most << " bytes; make it smaller";
    }
  }
  return success();
}

bool is_identifier(llvm::StringRef name) {
  return !name.empty() && !llvm::isDigit(name.front()) &&
         llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

}  // namespace

// Kernels -------------------------------------------------------------------------------------------------------------

namespace {

constexpr int64_t kMostDimensions = 12;

std::string argument_text(KernelOp kernel, unsigned index) {
  llvm::StringRef name = kernel.arg_name(index);
  return "argument " + std::to_string(index) + (name.empty() ? "" : " '" + name.str() + "'");
}

LogicalResult check_argument_layout(KernelOp kernel, unsigned index, mlir::MemRefType type) {
  auto layout = layout_of(type);
  if (!layout) {
    return kernel.emitOpError() << argument_text(kernel, index) << " has layout " << type.getLayout()
                                << "; rows without gaps or strided<...> are known";
  }
  if (layout->offset != 0) {
    return kernel.emitOpError() << argument_text(kernel, index) << " has offset "
                                << (ShapedType::isDynamic(layout->offset) ? "?" : std::to_string(layout->offset))
                                << "; tensors begin at their first element: leave it out";
  }
  if (llvm::any_of(layout->strides, [](int64_t stride) { return stride < 0 && !ShapedType::isDynamic(stride); })) {
    return kernel.emitOpError() << argument_text(kernel, index) << " has a negative stride in " << type.getLayout();
  }
  if (llvm::any_of(layout->strides, [](int64_t stride) { return stride > kMostBytes; })) {
    return kernel.emitOpError() << argument_text(kernel, index) << " has a stride beyond " << kMostBytes << " in "
                                << type.getLayout() << "; no tensor is as large";
  }
  return success();
}

LogicalResult check_argument_dims(KernelOp kernel, unsigned index, mlir::MemRefType type) {
  auto names = kernel.getArgAttrOfType<mlir::ArrayAttr>(index, "tile.dims");
  const bool are_names =
      names && llvm::all_of(names, [](mlir::Attribute name) { return mlir::isa<mlir::StringAttr>(name); });
  if (!are_names || static_cast<int64_t>(names.size()) != type.getRank()) {
    return kernel.emitOpError() << argument_text(kernel, index) << " expects tile.dims with " << type.getRank()
                                << " names, one for each dimension";
  }
  for (auto [dim, name] : llvm::enumerate(kernel.arg_dims(index))) {
    const bool readable = llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
    if (name != "?" && !readable) {
      return kernel.emitOpError() << argument_text(kernel, index) << " has dimension " << dim << " named '" << name
                                  << "'; use letters, digits, '_' and '.'";
    }
    if (type.isDynamicDim(dim) == !name.empty()) continue;
    return kernel.emitOpError() << argument_text(kernel, index) << " has dimension " << dim
                                << (name.empty() ? " of run-time size without a name in tile.dims; give a name, or '?'"
                                                 : " of static size, named in tile.dims; write \"\"");
  }
  return success();
}

LogicalResult check_buffer_argument(KernelOp kernel, unsigned index) {
  auto type = mlir::cast<mlir::MemRefType>(kernel.getArgumentTypes()[index]);
  if (type.getRank() > kMostDimensions) {
    return kernel.emitOpError() << argument_text(kernel, index) << " has rank " << type.getRank()
                                << "; tensors have at most " << kMostDimensions << " dimensions";
  }
  auto role = kernel.getArgAttrOfType<mlir::StringAttr>(index, "tile.role");
  if (!role || !symbolizeRole(role.getValue())) {
    return kernel.emitOpError() << argument_text(kernel, index)
                                << " expects tile.role to be \"in\", \"out\" or \"inout\", got "
                                << (role ? "\"" + role.getValue().str() + "\"" : std::string("none"));
  }
  if (failed(check_argument_layout(kernel, index, type)) || failed(check_argument_dims(kernel, index, type))) {
    return failure();
  }
  return check_bytes(kernel, argument_text(kernel, index), type);
}

LogicalResult check_scalar_argument(KernelOp kernel, unsigned index) {
  if (kernel.getArgAttr(index, "tile.dims")) {
    return kernel.emitOpError() << argument_text(kernel, index)
                                << " is a scalar and has no dimensions; leave out tile.dims";
  }
  if (auto role = kernel.getArgAttrOfType<mlir::StringAttr>(index, "tile.role"); role && role.getValue() != "in") {
    return kernel.emitOpError() << argument_text(kernel, index)
                                << " is a scalar, which is read alone; leave out tile.role";
  }
  return success();
}

}  // namespace

LogicalResult KernelOp::verify() {
  if (!is_identifier(getSymName())) {
    return emitOpError() << "has the name '" << getSymName() << "'; use letters, digits and '_'";
  }
  if (!getResultTypes().empty()) {
    return emitOpError("returns a value; kernels write to their out arguments instead");
  }
  llvm::StringMap<unsigned> names;
  for (auto [index, type] : llvm::enumerate(getArgumentTypes())) {
    llvm::StringRef name = arg_name(index);
    if (name.empty()) return emitOpError() << "expects tile.name on argument " << index;
    if (!is_identifier(name)) {
      return emitOpError() << "names argument " << index << " '" << name << "'; use letters, digits and '_'";
    }
    auto [known, fresh] = names.try_emplace(name, index);
    if (!fresh) {
      return emitOpError() << "names arguments " << known->second << " and " << index << " '" << name
                           << "'; give each its own name";
    }
    if (!is_global(type) && !is_compute_type(type) && !type.isIndex()) {
      return emitOpError() << argument_text(*this, index) << " has type " << type
                           << "; arguments are buffers in global space, f64, f32, i64, i32, i1 or index";
    }
    if (failed(is_global(type) ? check_buffer_argument(*this, index) : check_scalar_argument(*this, index))) {
      return failure();
    }
  }
  return success();
}

LogicalResult DimOp::verify() {
  auto kernel = around<KernelOp>(*this);
  if (!kernel) return success();
  if (!getName().empty() && getName() != "?" && kernel.find_dim(getName())) return success();
  return emitOpError() << "asks for the size '" << getName() << "', which no argument of '" << kernel.getSymName()
                       << "' has in its tile.dims";
}

LogicalResult ExtentOp::verify() {
  const int64_t rank = memref(getBuffer()).getRank(), dim = static_cast<int64_t>(getDim());
  if (dim >= 0 && dim < rank) return success();
  return emitOpError() << "asks for the size of dimension " << dim << ", but " << buffer_name(getBuffer())
                       << " has rank " << rank;
}

LogicalResult GridOp::verify() {
  if (getExtents().empty() || getExtents().size() > 3) {
    return emitOpError() << "expects 1 to 3 extents, got " << getExtents().size();
  }
  for (Value extent : getExtents()) {
    if (auto known = constant_index(extent); known && *known < 0) {
      return emitOpError() << "has extent " << *known << "; extents are not negative";
    }
  }
  if (auto order = getOrder()) {
    if (order->getWalk() != Walk::swizzle && order->getPanel() != 0) {
      return emitOpError() << "has a panel in its order, which is for swizzle; leave it out of "
                           << stringifyWalk(order->getWalk());
    }
    if (order->getPanel() < 0) {
      return emitOpError() << "has panels of " << order->getPanel() << " blocks; a panel's width is positive";
    }
  }
  return check_region_arguments(*this, getBody(), getExtents().size());
}

// Buffers -------------------------------------------------------------------------------------------------------------

LogicalResult AllocOp::verify() {
  mlir::MemRefType type = memref(getBuffer());
  std::string name = buffer_name(getBuffer());
  if (!type.hasStaticShape()) {
    return emitOpError() << "expects a static shape for " << name << ", got " << shape_text(type.getShape());
  }
  if (!type.getLayout().isIdentity()) {
    return emitOpError() << "expects no layout on " << name << ", got " << type.getLayout()
                         << "; what is allocated has rows without gaps";
  }
  if (llvm::is_contained(type.getShape(), 0)) {
    return emitOpError() << "expects positive sizes for " << name << ", got " << shape_text(type.getShape());
  }
  if (failed(check_bytes(*this, name, type)) || failed(check_tile_rank(*this, getBuffer())) ||
      failed(check_layout(*this))) {
    return failure();
  }
  if (auto align = getAlign()) {
    const auto bytes = static_cast<int64_t>(*align);
    if (bytes < 1 || bytes > 65536 || !llvm::isPowerOf2_64(*align)) {
      return emitOpError() << "expects align of " << name << " to be a power of two from 1 to 65536, got " << bytes;
    }
  }
  // Lowered code has no tile.kernel around it, and its own rules.
  if (!around<KernelOp>(*this)) return success();
  const Space space = space_of(type);
  const bool in_grid = static_cast<bool>(around<GridOp>(*this));
  if (space == Space::global && in_grid) {
    return emitOpError() << "puts " << name
                         << " in global space inside a grid; allocate a workspace before the grid, a tile in shared";
  }
  if (space != Space::global && !in_grid) {
    return emitOpError() << "puts " << name << " in " << stringifySpace(space)
                         << " space outside a grid; tiles belong to a block, a workspace for all blocks is global";
  }
  if (around<ThreadsOp>(*this) && space != Space::local) {
    return emitOpError() << "puts " << name << " in " << stringifySpace(space)
                         << " space inside tile.threads; a thread's own is local, others go before tile.threads";
  }
  return success();
}

LogicalResult SliceOp::verify() {
  mlir::MemRefType source = memref(getSource()), result = memref(getResult());
  if (failed(check_indices(*this, getSource(), getOffsets().size()))) return failure();
  if (!result.hasStaticShape()) {
    return emitOpError() << "expects a window of static sizes of " << buffer_name(getSource()) << ", got "
                         << shape_text(result.getShape());
  }
  if (result.getRank() > source.getRank()) {
    return emitOpError() << "has a window of rank " << result.getRank() << ", but " << buffer_name(getSource())
                         << " has rank " << source.getRank();
  }
  if (auto dims = getDims()) {
    if (failed(check_dims(*this, getSource(), *dims, result.getRank()))) return failure();
    if (!llvm::is_sorted(*dims)) {
      return emitOpError() << "expects dims in order, since a view does not permute " << buffer_name(getSource())
                           << "; use tile.transpose, or dims of tile.load";
    }
  }
  for (auto [index, size] : llvm::enumerate(result.getShape())) {
    const int64_t dim = source_dim(index), whole = source.getDimSize(dim);
    if (size < 1 || (!ShapedType::isDynamic(whole) && size > whole)) {
      return emitOpError() << "has a window of " << size << " in dimension " << dim << " of "
                           << buffer_name(getSource()) << ", which is " << shape_text({whole});
    }
  }
  mlir::MemRefType expected = slice_type(source, result.getShape(), getDims());
  if (!expected) {
    return emitOpError() << "cannot see a window of " << buffer_name(getSource()) << ", whose layout is "
                         << source.getLayout() << "; rows without gaps or strided<...> are known";
  }
  auto wanted = layout_of(expected), got = layout_of(result);
  const bool same_place = got && wanted->strides == got->strides &&
                          (wanted->offset == got->offset || got->offset == slice_offset(source, getOffsets()));
  if (same_place && expected.getElementType() == result.getElementType() &&
      expected.getMemorySpace() == result.getMemorySpace()) {
    return check_tile_rank(*this, getResult());
  }
  return emitOpError() << "expects the view of " << buffer_name(getSource()) << " to be of type " << expected
                       << ", got " << result;
}

LogicalResult ReshapeOp::verify() {
  mlir::MemRefType source = memref(getSource()), result = memref(getResult());
  auto from = element_count(source), to = element_count(result);
  if (!from || !to) {
    return emitOpError() << "expects static shapes, got " << shape_text(source.getShape()) << " of "
                         << buffer_name(getSource()) << " to " << shape_text(result.getShape());
  }
  if (*from != *to) {
    return emitOpError() << "turns " << *from << " elements of " << buffer_name(getSource()) << " ("
                         << shape_text(source.getShape()) << ") into " << *to << " (" << shape_text(result.getShape())
                         << ")";
  }
  if (!is_contiguous(source)) {
    return emitOpError() << "expects " << buffer_name(getSource()) << " without gaps between its rows, got " << source
                         << "; copy it into a tile first";
  }
  mlir::MemRefType expected = reshape_type(source, result.getShape());
  if (expected == result) return check_tile_rank(*this, getResult());
  return emitOpError() << "expects the view of " << buffer_name(getSource()) << " to be of type " << expected
                       << ", got " << result;
}

LogicalResult BitcastOp::verify() {
  mlir::MemRefType source = memref(getSource()), result = memref(getResult());
  mlir::MemRefType expected = bitcast_type(source, result.getElementType());
  if (!expected) {
    return emitOpError() << "cannot see " << buffer_name(getSource()) << ", " << source << ", as elements of "
                         << storage_bits(result.getElementType())
                         << " bits; the last dimension must be static, without gaps, and hold a whole number of them";
  }
  if (expected == result) return success();
  return emitOpError() << "expects the view of " << buffer_name(getSource()) << " to be of type " << expected
                       << ", got " << result;
}

// Pipelines -----------------------------------------------------------------------------------------------------------

LogicalResult PipelineOp::verify() {
  const auto stages = static_cast<int64_t>(getStages());
  if (stages < 1 || stages > 64) return emitOpError() << "expects 1 to 64 stages, got " << stages;
  if (auto step = constant_index(getStep()); step && *step < 1) {
    return emitOpError() << "has step " << *step << "; steps are positive";
  }
  return check_region_arguments(*this, getBody(), 1);
}

llvm::SmallVector<Operation*> PipelineOp::statements() {
  llvm::SmallVector<Operation*> statements;
  for (Operation& op : getBody().front()) {
    if (!mlir::isMemoryEffectFree(&op)) statements.push_back(&op);
  }
  return statements;
}

// After the body is known to be sound, since effects are asked of it.
LogicalResult PipelineOp::verifyRegions() {
  const size_t count = statements().size();
  for (auto [name, list] : {std::make_pair("stage", getStage()), std::make_pair("order", getOrder())}) {
    if (list && list->size() != count) {
      return emitOpError() << "expects " << name << " to have " << count
                           << " entries, one for each effectful statement of the body, got " << list->size();
    }
  }
  if (auto stage = getStage()) {
    for (int64_t number : *stage) {
      if (number >= 0 && number < static_cast<int64_t>(getStages())) continue;
      return emitOpError() << "places a statement in stage " << number << ", but has stages 0 to "
                           << static_cast<int64_t>(getStages()) - 1;
    }
  }
  if (auto order = getOrder()) {
    llvm::SmallVector<int64_t> sorted(*order);
    llvm::sort(sorted);
    if (!llvm::equal(sorted, llvm::seq<int64_t>(0, count))) {
      return emitOpError() << "expects order to be a permutation of 0 to " << static_cast<int64_t>(count) - 1;
    }
  }
  return success();
}

}  // namespace deep_accel::tile
