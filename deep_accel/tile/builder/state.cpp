// Locations, values and their types, and the checks that every operation of the builder makes.
#include "deep_accel/tile/builder/state.h"

#include "mlir/IR/Verifier.h"

namespace deep_accel::tile {

namespace {

std::shared_ptr<mlir::MLIRContext> shared_context_for_builders() { return make_context(); }

}  // namespace

BuilderState::BuilderState()
    : context(shared_context_for_builders()),
      module(mlir::ModuleOp::create(mlir::UnknownLoc::get(context.get()))),
      builder(context.get()),
      location_(mlir::UnknownLoc::get(context.get())) {}

// Location
// --------------------------------------------------------------------------------------------------------------

void BuilderState::at(const Where& where) {
  location_ =
      place_
          ? *place_
          : mlir::Location(mlir::FileLineColLoc::get(context.get(), where.file_name(), where.line(), where.column()));
  if (finished) fail("the kernel is finished: finish() was called; make another Builder");
}

void BuilderState::set_place(std::optional<Builder::Place> place) {
  place_.reset();
  if (place) {
    place_ = mlir::FileLineColLoc::get(context.get(), place->file, static_cast<unsigned>(place->line),
                                       static_cast<unsigned>(place->column));
    location_ = place_;
    // The kernel itself was made from a line of the face's own code: it stands where its first place is.
    if (kernel && !placed_) kernel->setLoc(*place_);
    placed_ = true;
  }
}

// Types
// -----------------------------------------------------------------------------------------------------------------

mlir::Type BuilderState::mlir_type(ScalarType type) {
  switch (type) {
    case ScalarType::f64:
      return builder.getF64Type();
    case ScalarType::f32:
      return builder.getF32Type();
    case ScalarType::i64:
      return builder.getI64Type();
    case ScalarType::i32:
      return builder.getI32Type();
    case ScalarType::boolean:
      return builder.getI1Type();
    case ScalarType::index:
      return builder.getIndexType();
  }
  fail<Error>("unknown scalar type");
}

ScalarType BuilderState::scalar_type(mlir::Type type) {
  if (type.isF64()) return ScalarType::f64;
  if (type.isF32()) return ScalarType::f32;
  if (type.isIndex()) return ScalarType::index;
  if (type.isInteger(64)) return ScalarType::i64;
  if (type.isInteger(1)) return ScalarType::boolean;
  return ScalarType::i32;
}

mlir::Type BuilderState::storage_type(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return builder.getF64Type();
    case DType::f32:
      return builder.getF32Type();
    case DType::f16:
      return builder.getF16Type();
    case DType::bf16:
      return builder.getBF16Type();
    case DType::f8e4m3:
      return builder.getFloat8E4M3FNType();
    case DType::f8e5m2:
      return builder.getFloat8E5M2Type();
    case DType::f4e2m1:
      return F4E2M1FNType::get(context.get());
    case DType::u8:
      return builder.getIntegerType(8, /*isSigned=*/false);
    case DType::boolean:
      return builder.getI1Type();
    default:
      return builder.getIntegerType(static_cast<unsigned>(bits(dtype)));
  }
}

// Values
// ----------------------------------------------------------------------------------------------------------------

Scalar BuilderState::wrap(mlir::Value value) {
  return Scalar(shared_from_this(), value.getAsOpaquePointer(), scalar_type(value.getType()));
}

Scalars BuilderState::wrap(mlir::ValueRange values) {
  Scalars scalars;
  for (mlir::Value value : values) scalars.push_back(wrap(value));
  return scalars;
}

TileBuffer BuilderState::wrap_buffer(mlir::Value value) {
  return TileBuffer(shared_from_this(), value.getAsOpaquePointer());
}

mlir::OpBuilder BuilderState::preamble_builder() {
  mlir::OpBuilder preamble(context.get());
  if (last_preamble) {
    preamble.setInsertionPointAfter(last_preamble);
  } else {
    preamble.setInsertionPointToStart(&kernel.getBody().front());
  }
  return preamble;
}

mlir::Value BuilderState::constant(mlir::TypedAttr attribute) {
  mlir::Value& known = constants_[{attribute.getType().getAsOpaquePointer(), attribute.getAsOpaquePointer()}];
  if (!known) {
    auto preamble = preamble_builder();
    known = preamble.create<mlir::arith::ConstantOp>(location(), attribute);
    last_preamble = known.getDefiningOp();
  }
  return known;
}

mlir::Value BuilderState::constant(ScalarType type, double number) {
  if (type != ScalarType::f64 && type != ScalarType::f32) return integer_constant(type, static_cast<int64_t>(number));
  return constant(builder.getFloatAttr(mlir_type(type), number));
}

mlir::Value BuilderState::integer_constant(ScalarType type, int64_t number) {
  if (type == ScalarType::f64 || type == ScalarType::f32) return constant(type, static_cast<double>(number));
  return constant(builder.getIntegerAttr(mlir_type(type), type == ScalarType::boolean ? number != 0 : number));
}

bool BuilderState::visible(mlir::Value value) const {
  mlir::Region* home = value.getParentRegion();
  mlir::Region* here = builder.getInsertionBlock()->getParent();
  return home->isAncestor(here);
}

void BuilderState::require_visible(const Scalar& scalar) const {
  if (scalar.is_literal()) return;
  if (scalar.state().get() != this) {
    fail("a scalar of another kernel is used here; values belong to the Builder that made them");
  }
  if (!visible(unwrap(scalar))) {
    const std::string origin = location_text(unwrap(scalar).getLoc());
    fail("a value that was computed inside a loop, branch or grid is used outside of it" +
         (origin.empty() ? std::string() : " (it comes from " + origin + ")") +
         "; write it to a buffer, or carry it out as a result of the loop");
  }
}

void BuilderState::require_own(const TileBuffer& buffer, std::string_view function, std::string_view argument) const {
  if (buffer.state().get() != this) {
    fail(function, argument, "a buffer of this kernel", "one of another",
         "buffers belong to the Builder that made them");
  }
  if (!visible(unwrap(buffer))) {
    fail(function, argument, "a buffer that lives here", describe(buffer) + " of a grid or loop that has ended",
         "allocate it here, or outside of both");
  }
}

mlir::Value BuilderState::value(const Scalar& scalar, ScalarType type) {
  if (scalar.is_literal()) {
    if (scalar.is_floating()) return constant(type, scalar.number());
    return integer_constant(type, *scalar.constant());
  }
  require_visible(scalar);
  return convert(unwrap(scalar), type);
}

mlir::Value BuilderState::index(const Scalar& scalar, std::string_view function, std::string_view argument) {
  if (scalar.is_floating() || (!scalar.is_literal() && scalar.is_boolean())) {
    fail<TypeError>(function, argument, "an integer", std::string(name(scalar.type())),
                    "convert it with cast(x, ScalarType::index)");
  }
  return value(scalar, ScalarType::index);
}

llvm::SmallVector<mlir::Value> BuilderState::indices(const Scalars& scalars, std::string_view function,
                                                     std::string_view argument) {
  llvm::SmallVector<mlir::Value> values;
  for (const Scalar& scalar : scalars) values.push_back(index(scalar, function, argument));
  return values;
}

llvm::SmallVector<mlir::Value> BuilderState::positions(const TileBuffer& buffer, const Scalars& scalars,
                                                       std::string_view function) {
  if (static_cast<int64_t>(scalars.size()) != unwrap(buffer).getType().getRank()) {
    fail<ShapeError>(function, "indices", "one index for each dimension of " + describe(buffer),
                     std::to_string(scalars.size()), "give " + std::to_string(unwrap(buffer).getType().getRank()));
  }
  return indices(scalars, function, "indices");
}

mlir::Value BuilderState::convert(mlir::Value from, ScalarType to) {
  const ScalarType type = scalar_type(from.getType());
  if (type == to) return from;
  const mlir::Type target = mlir_type(to);
  const bool from_float = type == ScalarType::f64 || type == ScalarType::f32;
  const bool to_float = to == ScalarType::f64 || to == ScalarType::f32;
  namespace arith = mlir::arith;
  if (to == ScalarType::boolean) {
    mlir::Value zero = constant(type, 0);
    return from_float ? folded<arith::CmpFOp>(arith::CmpFPredicate::UNE, from, zero)
                      : folded<arith::CmpIOp>(arith::CmpIPredicate::ne, from, zero);
  }
  if (from_float && to_float) {
    return to == ScalarType::f64 ? folded<arith::ExtFOp>(target, from) : folded<arith::TruncFOp>(target, from);
  }
  if (from_float) {
    if (to == ScalarType::index) return convert(convert(from, ScalarType::i64), ScalarType::index);
    return folded<arith::FPToSIOp>(target, from);
  }
  if (type == ScalarType::boolean) {
    if (to_float) return folded<arith::UIToFPOp>(target, from);
    if (to == ScalarType::index) return folded<arith::IndexCastUIOp>(target, from);
    return folded<arith::ExtUIOp>(target, from);
  }
  if (to_float) {
    mlir::Value integer = type == ScalarType::index ? convert(from, ScalarType::i64) : from;
    return folded<arith::SIToFPOp>(target, integer);
  }
  if (type == ScalarType::index || to == ScalarType::index) return folded<arith::IndexCastOp>(target, from);
  return to == ScalarType::i64 ? folded<arith::ExtSIOp>(target, from) : folded<arith::TruncIOp>(target, from);
}

ScalarType BuilderState::common_type(const Scalar& a, const Scalar& b) {
  auto rank = [](ScalarType type) {  // which type wins
    switch (type) {
      case ScalarType::boolean:
        return 0;
      case ScalarType::i32:
        return 1;
      case ScalarType::i64:
        return 2;
      case ScalarType::index:
        return 3;
      case ScalarType::f32:
        return 4;
      case ScalarType::f64:
        return 5;
    }
    return 0;
  };
  const Scalar& stronger = rank(a.type()) >= rank(b.type()) ? a : b;
  if (a.is_literal() == b.is_literal()) return stronger.type();
  // A literal takes the other's type, but for a fraction that meets an integer, and an integer that meets a boolean.
  const Scalar& literal = a.is_literal() ? a : b;
  const Scalar& other = a.is_literal() ? b : a;
  if (literal.is_floating()) return other.is_floating() ? other.type() : ScalarType::f32;
  if (other.is_boolean()) return literal.type();
  return other.type();
}

mlir::Value BuilderState::fold(mlir::Operation* op) {
  llvm::SmallVector<mlir::OpFoldResult> results;
  if (mlir::failed(op->fold(results)) || results.size() != 1) return op->getResult(0);
  const ScalarType type = scalar_type(op->getResult(0).getType());
  mlir::Value replacement;
  if (auto value = mlir::dyn_cast<mlir::Value>(results[0])) {
    replacement = value;
  } else {
    auto attribute = mlir::cast<mlir::Attribute>(results[0]);
    if (auto integer = mlir::dyn_cast<mlir::IntegerAttr>(attribute)) {
      const bool boolean = type == ScalarType::boolean;
      replacement =
          integer_constant(type, boolean ? integer.getValue().getZExtValue() : integer.getValue().getSExtValue());
    } else if (auto floating = mlir::dyn_cast<mlir::FloatAttr>(attribute)) {
      if (!mlir::isa<mlir::Float32Type, mlir::Float64Type>(floating.getType())) return op->getResult(0);
      replacement = constant(type, floating.getValueAsDouble());
    } else {
      return op->getResult(0);
    }
  }
  if (replacement != op->getResult(0)) op->erase();
  return replacement;
}

void BuilderState::check(mlir::Operation* op) {
  DiagnosticCollector diagnostics(context.get());
  if (mlir::failed(mlir::verify(op, /*verifyRecursively=*/false))) throw ValueError(diagnostics.text());
}

// Regions
// ---------------------------------------------------------------------------------------------------------------

void BuilderState::open(Kind kind, mlir::Operation* op, mlir::Block* body) {
  regions.push_back({kind, op, builder.saveInsertionPoint()});
  if (!body->empty() && body->back().hasTrait<mlir::OpTrait::IsTerminator>()) {
    builder.setInsertionPoint(&body->back());
  } else {
    builder.setInsertionPointToEnd(body);
  }
}

void BuilderState::close() {
  builder.restoreInsertionPoint(regions.back().resume);
  regions.pop_back();
}

bool BuilderState::inside(Kind kind) const {
  return llvm::any_of(regions, [&](const Region& region) { return region.kind == kind; });
}

std::string_view BuilderState::kind_name(Kind kind) {
  switch (kind) {
    case Kind::grid:
      return "grid";
    case Kind::pipeline:
      return "pipeline";
    case Kind::map:
      return "map";
    case Kind::threads:
      return "threads";
    case Kind::for_loop:
      return "for";
    case Kind::if_then:
    case Kind::if_else:
      return "if";
    case Kind::while_condition:
    case Kind::while_body:
      return "while";
  }
  return "";
}

// Checks
// ----------------------------------------------------------------------------------------------------------------

void BuilderState::require_tile(const TileBuffer& buffer, std::string_view function, std::string_view argument) const {
  require_own(buffer, function, argument);
  if (buffer.space() == MemorySpace::global) {
    fail<TypeError>(function, argument, "a tile (shared, fragment or local)", "the global tensor " + describe(buffer),
                    "load it into a tile first");
  }
}

std::string BuilderState::shape_text(llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (auto [axis, size] : llvm::enumerate(shape)) {
    if (axis) text += ", ";
    text += mlir::ShapedType::isDynamic(size) ? "?" : std::to_string(size);
  }
  return text + "]";
}

std::string BuilderState::describe(const TileBuffer& buffer) {
  mlir::MemRefType type = unwrap(buffer).getType();
  const std::string text = std::string(deep_accel::name(dtype_of(type.getElementType()))) + shape_text(type.getShape());
  const std::string name = buffer.name();
  return name.empty() ? text : "'" + name + "' " + text;
}

void BuilderState::require_equal_shapes(const TileBuffer& a, const TileBuffer& b, std::string_view function,
                                        std::string_view name_a, std::string_view name_b) const {
  if (unwrap(a).getType().getShape() != unwrap(b).getType().getShape()) {
    fail<ShapeError>(function, name_b, "of the same shape as '" + std::string(name_a) + "', " + describe(a),
                     describe(b), "make their shapes equal, or take a slice");
  }
}

mlir::DenseI64ArrayAttr BuilderState::window_dims(const TileBuffer& larger, const TileBuffer& tile,
                                                  const std::vector<int64_t>& dims, std::string_view function) {
  const int rank = larger.rank(), tile_rank = tile.rank();
  if (tile_rank > rank) {
    fail<ShapeError>(function, "tile", "of at most the rank of " + describe(larger), describe(tile),
                     "reshape the tile");
  }
  if (dims.empty()) return {};
  if (static_cast<int>(dims.size()) != tile_rank) {
    fail<ShapeError>(function, "dims", "one entry for each dimension of " + describe(tile), std::to_string(dims.size()),
                     "name the dimension of " + describe(larger) + " for each");
  }
  bool usual = true;
  for (auto [index, dim] : llvm::enumerate(dims)) {
    if (dim < 0 || dim >= rank || llvm::is_contained(llvm::ArrayRef(dims).drop_front(index + 1), dim)) {
      fail<ShapeError>(function, "dims", "different dimensions of " + describe(larger), shape_text(dims),
                       "name each at most once, from 0 to " + std::to_string(rank - 1));
    }
    usual &= dim == rank - tile_rank + static_cast<int64_t>(index);
  }
  return usual ? mlir::DenseI64ArrayAttr() : builder.getDenseI64ArrayAttr(dims);
}

mlir::Value BuilderState::fill_value(const std::optional<Scalar>& fill, const TileBuffer& tile) {
  if (!fill || (fill->is_literal() && fill->number() == 0)) return {};
  return value(*fill, deep_accel::tile::compute_type(tile.dtype()));
}

Scalar BuilderState::dim(const std::string& name) {
  auto found = dims.find(name);
  if (found == dims.end()) {
    auto preamble = preamble_builder();
    auto op = preamble.create<DimOp>(location(), name);
    last_preamble = op;
    found = dims.emplace(name, Dim{op.getResult(), location()}).first;
  }
  return wrap(found->second.value);
}

}  // namespace deep_accel::tile
