// Grids, loops, branches, memory and views.
#include "deep_accel/tile/builder/state.h"

namespace deep_accel::tile {

namespace scf = mlir::scf;
using Kind = BuilderState::Kind;

void Builder::require_variables(const Scalars& variables, size_t wanted) {
  if (variables.size() != wanted) {
    throw ShapeError("the body takes " + std::to_string(wanted) + " variables, but there are " +
                     std::to_string(variables.size()) + " extents; give it one for each");
  }
}

// Grids
// -----------------------------------------------------------------------------------------------------------------

Scalars Builder::begin_grid(const Scalars& extents, const GridOptions& options, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  if (!s.regions.empty())
    s.fail("grid: a grid stands at the top of the kernel; end the grid or loop that is open first");
  if (extents.empty() || extents.size() > 3) {
    s.fail<ShapeError>("grid", "extents", "one to three sizes", std::to_string(extents.size()),
                       "fold further axes into one");
  }
  OrderAttr order;
  if (options.walk != BlockWalk::rows) {
    order = OrderAttr::get(s.context.get(), static_cast<Walk>(options.walk),
                           options.walk == BlockWalk::swizzle ? options.panel : 0);
  }
  auto grid = s.create<GridOp>(s.indices(extents, "grid", "extents"), order);
  if (options.threads > 0) grid->setAttr("threads", s.builder.getI64IntegerAttr(options.threads));
  s.open(Kind::grid, grid, &grid.getBody().front());
  return s.wrap(mlir::ValueRange(grid.getBody().getArguments()));
}

Scalars Builder::begin_map(const Scalars& sizes, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  llvm::SmallVector<mlir::OpFoldResult> folded;
  for (const Scalar& size : sizes) {
    mlir::Value value = s.index(size, "map", "sizes");
    if (auto known = constant_index(value)) {
      if (*known < 0) s.fail<ShapeError>("map", "sizes", "at least 0", std::to_string(*known), "check the extents");
      folded.push_back(s.builder.getIndexAttr(*known));
    } else {
      folded.push_back(value);
    }
  }
  auto map = s.create<MapOp>(folded);
  s.open(Kind::map, map, &map.getBody().front());
  return s.wrap(mlir::ValueRange(map.getBody().getArguments()));
}

Scalars Builder::begin_threads(const std::vector<int64_t>& extents, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  if (extents.empty() || extents.size() > 3 || llvm::any_of(extents, [](int64_t e) { return e < 1; })) {
    s.fail<ShapeError>("threads", "extents", "one to three positive sizes", BuilderState::shape_text(extents),
                       "check them");
  }
  auto threads = s.create<ThreadsOp>(llvm::ArrayRef<int64_t>(extents));
  s.open(Kind::threads, threads, &threads.getBody().front());
  return s.wrap(mlir::ValueRange(threads.getBody().getArguments()));
}

// Loops
// -----------------------------------------------------------------------------------------------------------------

Scalar Builder::begin_pipeline(const Scalar& lower, const Scalar& upper, const Scalar& step,
                               const PipelineOptions& options, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  if (options.stages < 0) {
    s.fail("pipelined", "stages", "at least 0", std::to_string(options.stages), "0 and 1 mean one iteration at a time");
  }
  auto loop = s.create<PipelineOp>(s.index(lower, "pipelined", "lower"), s.index(upper, "pipelined", "upper"),
                                   s.index(step, "pipelined", "step"), std::max<int64_t>(options.stages, 1));
  if (!options.stage.empty()) loop.setStageAttr(s.builder.getDenseI64ArrayAttr(options.stage));
  if (!options.order.empty()) loop.setOrderAttr(s.builder.getDenseI64ArrayAttr(options.order));
  s.open(Kind::pipeline, loop, &loop.getBody().front());
  return s.wrap(loop.induction_variable());
}

Scalars Builder::begin_for(const Scalar& lower, const Scalar& upper, const Scalar& step, const Scalars& initial,
                           Where where) {
  BuilderState& s = *state_;
  s.at(where);
  if (auto known = step.constant(); known && *known <= 0) {
    s.fail("for", "step", "positive", std::to_string(*known), "count upwards and compute the other index from it");
  }
  llvm::SmallVector<mlir::Value> carried;
  for (const Scalar& scalar : initial) carried.push_back(s.value(scalar));
  auto loop = s.create<scf::ForOp>(s.index(lower, "for", "lower"), s.index(upper, "for", "upper"),
                                   s.index(step, "for", "step"), carried);
  s.open(Kind::for_loop, loop, loop.getBody());
  return s.wrap(mlir::ValueRange(loop.getBody()->getArguments()));
}

Scalars Builder::begin_while(const Scalars& initial, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  llvm::SmallVector<mlir::Value> carried;
  llvm::SmallVector<mlir::Type> types;
  for (const Scalar& scalar : initial) {
    carried.push_back(s.value(scalar));
    types.push_back(carried.back().getType());
  }
  auto loop = s.create<scf::WhileOp>(mlir::TypeRange(types), mlir::ValueRange(carried));
  llvm::SmallVector<mlir::Location> locations(types.size(), s.location());
  mlir::Block* before = s.builder.createBlock(&loop.getBefore(), {}, types, locations);
  s.builder.createBlock(&loop.getAfter(), {}, types, locations);
  s.builder.setInsertionPointAfter(loop);
  s.open(Kind::while_condition, loop, before);
  return s.wrap(mlir::ValueRange(before->getArguments()));
}

Scalars Builder::begin_while_body(const Scalar& condition, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  if (s.regions.empty() || s.regions.back().kind != Kind::while_condition) {
    s.fail("while: there is no condition open here");
  }
  auto loop = mlir::cast<scf::WhileOp>(s.regions.back().op);
  s.create<scf::ConditionOp>(s.value(condition, ScalarType::boolean), loop.getBeforeArguments());
  s.close();
  s.open(Kind::while_body, loop, &loop.getAfter().front());
  return s.wrap(mlir::ValueRange(loop.getAfterArguments()));
}

namespace {

// What a loop carries on, in the types that it began with.
llvm::SmallVector<mlir::Value> carried_on(BuilderState& s, const Scalars& values, mlir::ValueRange arguments) {
  if (values.size() != arguments.size()) {
    s.fail<ShapeError>("end", "values",
                       "one for each of the loop's " + std::to_string(arguments.size()) + " carried values",
                       std::to_string(values.size()), "return as many as were given");
  }
  llvm::SmallVector<mlir::Value> results;
  for (auto [scalar, argument] : llvm::zip(values, arguments)) {
    const ScalarType type = BuilderState::scalar_type(argument.getType());
    const bool to_float = type == ScalarType::f32 || type == ScalarType::f64;
    if (scalar.is_floating() && !to_float) {
      s.fail<TypeError>("a value carried by the loop begins as " + std::string(name(type)) + " and becomes " +
                        std::string(name(scalar.type())) +
                        "; begin with a fraction (0.0), or convert it back with cast");
    }
    results.push_back(s.value(scalar, type));
  }
  return results;
}

}  // namespace

Scalars Builder::end(const Scalars& values, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  if (s.regions.empty()) s.fail("end: nothing is open here");
  const BuilderState::Region region = s.regions.back();
  if (region.kind == Kind::if_then || region.kind == Kind::if_else) return end_if({}, {}, where);
  if (region.kind == Kind::while_condition) s.fail("end: the loop has a condition and no body yet");
  Scalars results;
  if (auto loop = mlir::dyn_cast<scf::ForOp>(region.op)) {
    if (!loop.getRegionIterArgs().empty()) s.create<scf::YieldOp>(carried_on(s, values, loop.getRegionIterArgs()));
    results = s.wrap(mlir::ValueRange(loop.getResults()));
  } else if (auto loop = mlir::dyn_cast<scf::WhileOp>(region.op)) {
    s.create<scf::YieldOp>(carried_on(s, values, loop.getAfterArguments()));
    results = s.wrap(mlir::ValueRange(loop.getResults()));
  }
  s.close();
  s.check(region.op);
  return results;
}

// Branches
// --------------------------------------------------------------------------------------------------------------

void Builder::begin_if(const Scalar& condition, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  auto branch = s.create<scf::IfOp>(s.value(condition, ScalarType::boolean), /*withElseRegion=*/true);
  s.open(Kind::if_then, branch, branch.thenBlock());
}

void Builder::begin_else(Where where) {
  BuilderState& s = *state_;
  s.at(where);
  if (s.regions.empty() || s.regions.back().kind != Kind::if_then) s.fail("else: there is no branch open here");
  auto branch = mlir::cast<scf::IfOp>(s.regions.back().op);
  s.close();
  s.open(Kind::if_else, branch, branch.elseBlock());
}

Scalars Builder::end_if(const Scalars& then_values, const Scalars& else_values, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  if (s.regions.empty() || (s.regions.back().kind != Kind::if_then && s.regions.back().kind != Kind::if_else)) {
    s.fail("end_if: there is no branch open here");
  }
  if (then_values.size() != else_values.size()) {
    s.fail<ShapeError>("if", "values", "as many from both branches",
                       std::to_string(then_values.size()) + " and " + std::to_string(else_values.size()),
                       "give each result a value on both sides");
  }
  auto branch = mlir::cast<scf::IfOp>(s.regions.back().op);
  mlir::Block *then_block = branch.thenBlock(), *else_block = branch.elseBlock();
  llvm::SmallVector<mlir::Value> then_results, else_results;
  llvm::SmallVector<mlir::Type> types;
  for (auto [a, b] : llvm::zip(then_values, else_values)) {
    const ScalarType type = BuilderState::common_type(a, b);
    types.push_back(s.mlir_type(type));
    s.builder.setInsertionPoint(then_block->getTerminator());
    then_results.push_back(s.value(a, type));
    s.builder.setInsertionPoint(else_block->getTerminator());
    else_results.push_back(s.value(b, type));
  }
  s.close();
  if (types.empty()) {
    if (else_block->without_terminator().empty()) else_block->erase();
    return {};
  }
  // Computing both is as good where that has no effect and cannot fail.
  auto harmless = [](mlir::Block* block) {
    return llvm::all_of(block->without_terminator(), [](mlir::Operation& op) { return mlir::isPure(&op); });
  };
  if (harmless(then_block) && harmless(else_block)) {
    for (mlir::Block* block : {then_block, else_block}) {
      for (mlir::Operation& op : llvm::make_early_inc_range(block->without_terminator())) op.moveBefore(branch);
    }
    Scalars results;
    for (auto [a, b] : llvm::zip(then_results, else_results)) {
      results.push_back(s.wrap(a == b ? a : s.folded<mlir::arith::SelectOp>(branch.getCondition(), a, b)));
    }
    branch.erase();
    return results;
  }
  auto replacement = s.builder.create<scf::IfOp>(branch.getLoc(), types, branch.getCondition(), /*addThenBlock=*/true,
                                                 /*addElseBlock=*/true);
  auto move = [&](mlir::Block* from, mlir::Block* to, mlir::ValueRange results) {
    from->getTerminator()->erase();
    to->getOperations().splice(to->end(), from->getOperations());
    mlir::OpBuilder::InsertionGuard guard(s.builder);
    s.builder.setInsertionPointToEnd(to);
    s.create<scf::YieldOp>(results);
  };
  move(then_block, replacement.thenBlock(), then_results);
  move(else_block, replacement.elseBlock(), else_results);
  branch.erase();
  return s.wrap(mlir::ValueRange(replacement.getResults()));
}

// Memory and views
// ------------------------------------------------------------------------------------------------------

TileBuffer Builder::alloc(MemorySpace space, DType dtype, const std::vector<int64_t>& shape, std::string_view name,
                          Where where) {
  BuilderState& s = *state_;
  s.at(where);
  const std::string function(deep_accel::tile::name(space));
  if (llvm::any_of(shape, [](int64_t size) { return size < 1; })) {
    s.fail<ShapeError>(function, "shape", "positive sizes", BuilderState::shape_text(shape), "tiles are never empty");
  }
  if (is_packed(dtype) && (shape.empty() || shape.back() % 2 != 0)) {
    s.fail<ShapeError>(function, "shape",
                       "even in the last size (" + std::string(deep_accel::name(dtype)) + " holds two elements a byte)",
                       BuilderState::shape_text(shape), "round it up");
  }
  if (space == MemorySpace::global ? s.inside(Kind::grid) : !s.inside(Kind::grid)) {
    s.fail(space == MemorySpace::global
               ? "workspace: global memory is allocated outside of the grid, since all blocks share it; move it before "
                 "the grid"
               : function +
                     ": tiles are allocated inside of a grid, since each block has its own; move it into the grid");
  }
  if (s.inside(Kind::map)) s.fail(function + ": tiles are not allocated inside of a map; allocate before it");
  auto type = buffer_type(shape, s.storage_type(dtype), static_cast<Space>(space));
  auto op = s.checked<AllocOp>(
      type, name.empty() ? mlir::StringAttr() : s.builder.getStringAttr(llvm::StringRef(name.data(), name.size())),
      mlir::IntegerAttr());
  return s.wrap_buffer(op);
}

TileBuffer Builder::shared(DType dtype, const std::vector<int64_t>& shape, std::string_view name, Where where) {
  return alloc(MemorySpace::shared, dtype, shape, name, where);
}
TileBuffer Builder::fragment(DType dtype, const std::vector<int64_t>& shape, std::string_view name, Where where) {
  return alloc(MemorySpace::fragment, dtype, shape, name, where);
}
TileBuffer Builder::local(DType dtype, const std::vector<int64_t>& shape, std::string_view name, Where where) {
  return alloc(MemorySpace::local, dtype, shape, name, where);
}
TileBuffer Builder::workspace(DType dtype, const std::vector<int64_t>& shape, std::string_view name, Where where) {
  return alloc(MemorySpace::global, dtype, shape, name, where);
}

TileBuffer Builder::slice(const TileBuffer& source, const Scalars& offsets, const std::vector<int64_t>& sizes,
                          const std::vector<int64_t>& dims, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  s.require_own(source, "slice", "source");
  mlir::MemRefType type = BuilderState::unwrap(source).getType();
  auto places = s.positions(source, offsets, "slice");
  const size_t kept = dims.empty() ? static_cast<size_t>(type.getRank()) : dims.size();
  if (sizes.size() != kept) {
    s.fail<ShapeError>("slice", "sizes", "one for each of the " + std::to_string(kept) + " dimensions that stay",
                       BuilderState::shape_text(sizes), "give a size for each");
  }
  llvm::SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (mlir::failed(mlir::getStridesAndOffset(type, strides, offset))) {
    s.fail<ShapeError>("slice: " + BuilderState::describe(source) + " has no strides");
  }
  bool whole = kept == static_cast<size_t>(type.getRank());
  for (auto [axis, place] : llvm::enumerate(places)) {
    auto known = constant_index(place);
    whole &= known == 0;
    offset = known && !mlir::ShapedType::isDynamic(offset) && !mlir::ShapedType::isDynamic(strides[axis])
                 ? offset + *known * strides[axis]
                 : (known == 0 ? offset : mlir::ShapedType::kDynamic);
  }
  llvm::SmallVector<int64_t> kept_strides;
  for (size_t i = 0; i < kept; ++i) {
    const int64_t axis = dims.empty() ? static_cast<int64_t>(i) : dims[i];
    if (axis < 0 || axis >= type.getRank()) {
      s.fail<ShapeError>("slice", "dims", "dimensions of " + BuilderState::describe(source), std::to_string(axis),
                         "check them");
    }
    const int64_t size = type.getDimSize(axis);
    const Interval at = interval_of(places[static_cast<size_t>(axis)]);
    if (sizes[i] < 1 || (!mlir::ShapedType::isDynamic(size) && at.low && *at.low + sizes[i] > size)) {
      s.fail<ShapeError>("slice", "sizes", "within " + BuilderState::describe(source),
                         std::to_string(sizes[i]) + " elements of dimension " + std::to_string(axis), "take fewer");
    }
    whole &= sizes[i] == size;
    kept_strides.push_back(strides[static_cast<size_t>(axis)]);
  }
  if (whole) return source;
  auto layout = mlir::StridedLayoutAttr::get(s.context.get(), offset, kept_strides);
  auto result = mlir::MemRefType::get(sizes, type.getElementType(), layout, type.getMemorySpace());
  auto op = s.checked<SliceOp>(result, BuilderState::unwrap(source), mlir::ValueRange(places),
                               dims.empty() ? mlir::DenseI64ArrayAttr() : s.builder.getDenseI64ArrayAttr(dims));
  return s.wrap_buffer(op);
}

namespace {
void require_contiguous(BuilderState& s, const TileBuffer& source, std::string_view function) {
  s.require_own(source, function, "source");
  mlir::MemRefType type = BuilderState::unwrap(source).getType();
  if (!type.hasStaticShape() || !type.getLayout().isIdentity()) {
    s.fail<ShapeError>(function, "source", "contiguous and of known sizes", BuilderState::describe(source),
                       "copy it to a tile of its own first");
  }
}
}  // namespace

TileBuffer Builder::reshape(const TileBuffer& source, const std::vector<int64_t>& shape, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  require_contiguous(s, source, "reshape");
  mlir::MemRefType type = BuilderState::unwrap(source).getType();
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  if (count != type.getNumElements()) {
    s.fail<ShapeError>(
        "reshape", "shape",
        "of " + std::to_string(type.getNumElements()) + " elements, as " + BuilderState::describe(source),
        BuilderState::shape_text(shape), "their product must stay the same");
  }
  auto result =
      mlir::MemRefType::get(shape, type.getElementType(), mlir::MemRefLayoutAttrInterface{}, type.getMemorySpace());
  if (result == type) return source;
  return s.wrap_buffer(s.checked<ReshapeOp>(result, BuilderState::unwrap(source)));
}

TileBuffer Builder::bitcast(const TileBuffer& source, DType dtype, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  require_contiguous(s, source, "bitcast");
  mlir::MemRefType type = BuilderState::unwrap(source).getType();
  if (dtype == source.dtype()) return source;
  llvm::SmallVector<int64_t> shape(type.getShape());
  const int64_t row_bits = shape.empty() ? 0 : shape.back() * bits(source.dtype());
  if (shape.empty() || row_bits % bits(dtype) != 0) {
    s.fail<ShapeError>("bitcast", "source",
                       "a last dimension that is a whole number of " + std::string(deep_accel::name(dtype)),
                       BuilderState::describe(source), "choose another dtype or reshape first");
  }
  shape.back() = row_bits / bits(dtype);
  auto result =
      mlir::MemRefType::get(shape, s.storage_type(dtype), mlir::MemRefLayoutAttrInterface{}, type.getMemorySpace());
  return s.wrap_buffer(s.checked<BitcastOp>(result, BuilderState::unwrap(source)));
}

// Questions
// -------------------------------------------------------------------------------------------------------------

std::optional<int64_t> Builder::constant_difference(const Scalar& a, const Scalar& b) const {
  BuilderState& s = *state_;
  if (a.is_literal() && b.is_literal() && a.constant() && b.constant()) return *a.constant() - *b.constant();
  if (a.is_floating() || b.is_floating()) return std::nullopt;
  return deep_accel::tile::constant_difference(s.value(a, ScalarType::index), s.value(b, ScalarType::index));
}

bool Builder::surely_within(const Scalar& index, const Scalar& size) const {
  BuilderState& s = *state_;
  auto extent = size.constant();
  const Interval at = interval_of(s.value(index, ScalarType::index));
  return extent && at.low && *at.low >= 0 && at.high && *at.high < *extent;
}

std::vector<std::string> Builder::open_regions() const {
  std::vector<std::string> names;
  for (const auto& region : state_->regions) names.emplace_back(BuilderState::kind_name(region.kind));
  return names;
}

bool Builder::visible(const Scalar& value) const {
  return value.is_literal() || (value.state() == state_ && state_->visible(BuilderState::unwrap(value)));
}

}  // namespace deep_accel::tile
