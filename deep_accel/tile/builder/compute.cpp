// Compute: elements, products, reductions, scans, atomics.
#include "deep_accel/tile/builder/state.h"

namespace deep_accel::tile {

namespace scf = mlir::scf;

namespace {

CombineAttr combine_attribute(BuilderState& s, Combination combination) {
  return CombineAttr::get(s.context.get(), static_cast<Combine>(combination));
}

// `value` as what is written to an element of the buffer. Where it was just rounded to the buffer's own dtype, what it
// was before: writing rounds as well.
mlir::Value element_value(BuilderState& s, const Scalar& scalar, const TileBuffer& buffer) {
  mlir::Value value = s.value(scalar, compute_type(buffer.dtype()));
  mlir::Type element = BuilderState::unwrap(buffer).getType().getElementType();
  mlir::Operation* widened = value.getDefiningOp();
  if (mlir::isa_and_nonnull<mlir::arith::ExtFOp, mlir::arith::ExtSIOp>(widened)) {
    mlir::Operation* narrowed = widened->getOperand(0).getDefiningOp();
    if (mlir::isa_and_nonnull<mlir::arith::TruncFOp, mlir::arith::TruncIOp>(narrowed) &&
        narrowed->getResult(0).getType() == element && narrowed->getOperand(0).getType() == value.getType()) {
      return narrowed->getOperand(0);
    }
  }
  return value;
}

// IndexError where an index is outside for sure.
void require_possible(BuilderState& s, const TileBuffer& buffer, mlir::ValueRange places, std::string_view function) {
  mlir::MemRefType type = BuilderState::unwrap(buffer).getType();
  for (auto [axis, place] : llvm::enumerate(places)) {
    const int64_t size = type.getDimSize(static_cast<unsigned>(axis));
    const Interval at = interval_of(place);
    const bool above = !mlir::ShapedType::isDynamic(size) && at.low && *at.low >= size;
    if (above || (at.high && *at.high < 0)) {
      s.fail<IndexError>(function, "index " + std::to_string(axis), "within " + BuilderState::describe(buffer),
                         std::to_string(above ? *at.low : *at.high) + (above ? " or more" : " or less"),
                         "check the indices");
    }
  }
}

// Whether the indices are within the buffer: null where they surely are.
mlir::Value within(BuilderState& s, const TileBuffer& buffer, mlir::ValueRange places) {
  namespace arith = mlir::arith;
  mlir::Value all;
  const Scalars shape = buffer.shape();
  auto also = [&](mlir::Value condition) { all = all ? s.folded<arith::AndIOp>(all, condition) : condition; };
  for (auto [axis, place] : llvm::enumerate(places)) {
    const Interval at = interval_of(place);
    const Scalar& size = shape[axis];
    if (!at.low || *at.low < 0) {
      also(s.folded<arith::CmpIOp>(arith::CmpIPredicate::sge, place, s.constant(ScalarType::index, 0)));
    }
    if (!size.constant() || !at.high || *at.high >= *size.constant()) {
      also(s.folded<arith::CmpIOp>(arith::CmpIPredicate::slt, place, s.value(size, ScalarType::index)));
    }
  }
  return all;
}

}  // namespace

// Elements
// --------------------------------------------------------------------------------------------------------------

Scalar Builder::read(const TileBuffer& buffer, const Scalars& indices, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  s.require_own(buffer, "read", "buffer");
  auto places = s.positions(buffer, indices, "read");
  require_possible(s, buffer, places, "read");
  return s.wrap(s.checked<ReadOp>(s.mlir_type(compute_type(buffer.dtype())), BuilderState::unwrap(buffer),
                                  mlir::ValueRange(places))
                    .getValue());
}

void Builder::write(const Scalar& value, const TileBuffer& buffer, const Scalars& indices, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  s.require_own(buffer, "write", "buffer");
  auto places = s.positions(buffer, indices, "write");
  require_possible(s, buffer, places, "write");
  s.checked<WriteOp>(element_value(s, value, buffer), BuilderState::unwrap(buffer), mlir::ValueRange(places));
}

Scalar Builder::read_guarded(const TileBuffer& buffer, const Scalars& indices, const Scalar& outside, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  s.require_own(buffer, "read", "buffer");
  auto places = s.positions(buffer, indices, "read");
  mlir::Value inside = within(s, buffer, places);
  if (!inside) return read(buffer, indices, where);
  begin_if(s.wrap(inside), where);
  const Scalar value = read(buffer, s.wrap(mlir::ValueRange(places)), where);
  begin_else(where);
  return end_if({value}, {cast(Operand(outside, where), value.type())}, where)[0];
}

void Builder::write_guarded(const Scalar& value, const TileBuffer& buffer, const Scalars& indices, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  s.require_own(buffer, "write", "buffer");
  auto places = s.positions(buffer, indices, "write");
  mlir::Value inside = within(s, buffer, places);
  if (!inside) return write(value, buffer, indices, where);
  begin_if(s.wrap(inside), where);
  write(value, buffer, s.wrap(mlir::ValueRange(places)), where);
  end_if({}, {}, where);
}

void Builder::combine(Combination combination, const Scalar& value, const TileBuffer& buffer, const Scalars& indices,
                      bool propagate_nan, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  s.require_own(buffer, "combine", "buffer");
  auto places = s.positions(buffer, indices, "combine");
  require_possible(s, buffer, places, "combine");
  s.checked<CombineOp>(combine_attribute(s, combination), element_value(s, value, buffer), BuilderState::unwrap(buffer),
                       mlir::ValueRange(places), propagate_nan ? s.builder.getUnitAttr() : mlir::UnitAttr());
}

void Builder::accumulate(Combination combination, const Scalar& value, const TileBuffer& buffer, const Scalars& indices,
                         Where where) {
  BuilderState& s = *state_;
  s.at(where);
  auto map = llvm::find_if(llvm::reverse(s.regions), [](const auto& r) { return r.kind == BuilderState::Kind::map; });
  bool meets = false;
  if (map != s.regions.rend()) {
    // Iterations that differ only in a variable that no index looks at meet in one element.
    llvm::SmallPtrSet<mlir::Value, 8> seen;
    llvm::SmallVector<mlir::Value> pending;
    for (const Scalar& index : indices) {
      if (!index.is_literal()) pending.push_back(BuilderState::unwrap(index));
    }
    while (!pending.empty()) {
      mlir::Value next = pending.pop_back_val();
      if (!seen.insert(next).second) continue;
      if (mlir::Operation* op = next.getDefiningOp()) llvm::append_range(pending, op->getOperands());
    }
    for (auto [variable, size] :
         llvm::zip(mlir::cast<MapOp>(map->op).getBody().getArguments(), mlir::cast<MapOp>(map->op).getStaticSizes())) {
      meets |= size != 1 && !seen.contains(variable);
    }
  }
  if (meets) return combine(combination, value, buffer, indices, false, where);
  const Scalar old = read(buffer, indices, where);
  const Operand a(old, where), b(value, where);
  switch (combination) {
    case Combination::add:
      return write(a + b, buffer, indices, where);
    case Combination::mul:
      return write(a * b, buffer, indices, where);
    case Combination::max:
      return write(max(a, b), buffer, indices, where);
    case Combination::min:
      return write(min(a, b), buffer, indices, where);
    default:
      return combine(combination, value, buffer, indices, false, where);
  }
}

Element TileBuffer::at(Scalars indices, std::source_location where) const {
  return Element(state_, value_, std::move(indices), where);
}

Scalar Element::read() const { return Builder(state_).read(TileBuffer(state_, buffer_), indices_, where_); }

const Element& Element::operator=(const Operand& value) const {
  Builder(state_).write(value.scalar(), TileBuffer(state_, buffer_), indices_, where_);
  return *this;
}

// Tiles
// -----------------------------------------------------------------------------------------------------------------

void Builder::gemm(const TileBuffer& a, const TileBuffer& b, const TileBuffer& acc, const GemmOptions& options,
                   Where where) {
  BuilderState& s = *state_;
  s.at(where);
  const std::pair<const TileBuffer&, const char*> operands[] = {{a, "a"}, {b, "b"}, {acc, "acc"}};
  for (const auto& [tile, argument] : operands) {
    s.require_tile(tile, "gemm", argument);
    if (tile.rank() != 2) {
      s.fail<ShapeError>("gemm", argument, "a matrix", BuilderState::describe(tile), "take a slice or reshape it");
    }
  }
  auto size = [](const TileBuffer& tile, unsigned axis) {
    return BuilderState::unwrap(tile).getType().getDimSize(axis);
  };
  const int64_t m = size(a, options.transpose_a), k = size(a, !options.transpose_a);
  const int64_t kb = size(b, options.transpose_b), n = size(b, !options.transpose_b);
  if (k != kb) {
    s.fail<ShapeError>(
        "gemm", "b",
        "of K = " + std::to_string(k) + (options.transpose_b ? " columns" : " rows") + ", to fit " +
            BuilderState::describe(a),
        BuilderState::describe(b),
        options.transpose_b || size(b, 1) != k ? "make the inner sizes equal" : "did you mean transpose_b?");
  }
  if (size(acc, 0) != m || size(acc, 1) != n) {
    s.fail<ShapeError>("gemm", "acc",
                       BuilderState::shape_text({m, n}) + ", to fit " + BuilderState::describe(a) + " and " +
                           BuilderState::describe(b),
                       BuilderState::describe(acc), "allocate it with that shape");
  }
  if (is_float(a.dtype()) != is_float(b.dtype()) || is_float(a.dtype()) != is_float(acc.dtype())) {
    s.fail<TypeError>("gemm: floats and integers do not mix: " + BuilderState::describe(a) + ", " +
                      BuilderState::describe(b) + " into " + BuilderState::describe(acc) +
                      "; copy one of them to a tile of the other kind");
  }
  mlir::Value scale_a, scale_b;
  if (options.scale_a.has_value() != options.scale_b.has_value()) {
    s.fail("gemm", "scales", "both or none", "one", "give a tile of ones for the other");
  }
  if (options.scale_a) {
    s.require_tile(*options.scale_a, "gemm", "scale_a");
    s.require_tile(*options.scale_b, "gemm", "scale_b");
    scale_a = BuilderState::unwrap(*options.scale_a), scale_b = BuilderState::unwrap(*options.scale_b);
  }
  s.checked<GemmOp>(BuilderState::unwrap(a), BuilderState::unwrap(b), BuilderState::unwrap(acc), scale_a, scale_b,
                    mlir::ValueRange(), options.transpose_a, options.transpose_b, options.clear);
}

void Builder::sparse_gemm(const TileBuffer& a, const TileBuffer& positions, const TileBuffer& b, const TileBuffer& acc,
                          bool transpose_b, bool clear, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  s.require_tile(a, "sparse_gemm", "a");
  s.require_tile(positions, "sparse_gemm", "positions");
  s.require_tile(b, "sparse_gemm", "b");
  s.require_tile(acc, "sparse_gemm", "acc");
  s.require_equal_shapes(a, positions, "sparse_gemm", "a", "positions");
  s.checked<SparseGemmOp>(BuilderState::unwrap(a), BuilderState::unwrap(positions), BuilderState::unwrap(b),
                          BuilderState::unwrap(acc), transpose_b, clear);
}

void Builder::reduce(Combination combination, const TileBuffer& source, const TileBuffer& dest, int64_t dim,
                     const ReduceOptions& options, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  s.require_tile(source, "reduce", "source");
  s.require_tile(dest, "reduce", "dest");
  const int64_t rank = source.rank();
  if (dim < -rank || dim >= rank) {
    s.fail<IndexError>("reduce", "dim", "a dimension of " + BuilderState::describe(source), std::to_string(dim),
                       "it runs from 0 to " + std::to_string(rank - 1));
  }
  const int64_t axis = dim < 0 ? dim + rank : dim;
  llvm::SmallVector<int64_t> kept(BuilderState::unwrap(source).getType().getShape()), dropped(kept);
  kept[static_cast<size_t>(axis)] = 1;
  dropped.erase(dropped.begin() + axis);
  auto actual = BuilderState::unwrap(dest).getType().getShape();
  if (actual != llvm::ArrayRef(kept) && actual != llvm::ArrayRef(dropped)) {
    s.fail<ShapeError>("reduce", "dest",
                       BuilderState::shape_text(dropped) + " or " + BuilderState::shape_text(kept) + " (" +
                           BuilderState::describe(source) + " without dimension " + std::to_string(axis) + ")",
                       BuilderState::describe(dest), "allocate it with that shape");
  }
  s.checked<ReduceOp>(static_cast<Combine>(combination), BuilderState::unwrap(source), BuilderState::unwrap(dest),
                      static_cast<uint64_t>(axis), options.clear, options.propagate_nan);
}

void Builder::scan(Combination combination, const TileBuffer& source, const TileBuffer& dest, int64_t dim,
                   const ScanOptions& options, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  s.require_tile(source, "scan", "source");
  s.require_tile(dest, "scan", "dest");
  s.require_equal_shapes(source, dest, "scan", "source", "dest");
  const int64_t rank = source.rank();
  if (dim < -rank || dim >= rank) {
    s.fail<IndexError>("scan", "dim", "a dimension of " + BuilderState::describe(source), std::to_string(dim),
                       "it runs from 0 to " + std::to_string(rank - 1));
  }
  s.checked<ScanOp>(static_cast<Combine>(combination), BuilderState::unwrap(source), BuilderState::unwrap(dest),
                    static_cast<uint64_t>(dim < 0 ? dim + rank : dim), options.reverse, options.exclusive);
}

void Builder::fill(const TileBuffer& tile, const Scalar& value, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  s.require_tile(tile, "fill", "tile");
  s.checked<FillOp>(BuilderState::unwrap(tile), s.value(value, compute_type(tile.dtype())));
}

Scalar Builder::atomic(Combination combination, const Scalar& value, const TileBuffer& buffer, const Scalars& indices,
                       Ordering order, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  s.require_own(buffer, "atomic", "buffer");
  const DType dtype = buffer.dtype();
  if (dtype != DType::f32 && dtype != DType::f64 && dtype != DType::i32 && dtype != DType::i64) {
    s.fail<TypeError>("atomic", "buffer", "of f32, f64, i32 or i64", BuilderState::describe(buffer),
                      "machines have no atomics on narrower elements; accumulate in f32 and convert afterwards");
  }
  auto places = s.positions(buffer, indices, "atomic");
  mlir::Value operand = s.value(value, compute_type(dtype));
  return s.wrap(s.checked<AtomicOp>(operand.getType(), static_cast<Combine>(combination), operand,
                                    BuilderState::unwrap(buffer), mlir::ValueRange(places),
                                    static_cast<MemoryOrder>(order))
                    .getPrevious());
}

void Builder::atomic_store(Combination combination, const TileBuffer& tile, const TileBuffer& dest, const Scalars& at,
                           const std::vector<int64_t>& dims, Ordering order, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  s.require_tile(tile, "atomic_store", "tile");
  s.require_own(dest, "atomic_store", "dest");
  auto places = s.positions(dest, at, "atomic_store");
  s.checked<AtomicStoreOp>(static_cast<Combine>(combination), BuilderState::unwrap(tile), BuilderState::unwrap(dest),
                           mlir::ValueRange(places), s.window_dims(dest, tile, dims, "atomic_store"),
                           static_cast<MemoryOrder>(order));
}

}  // namespace deep_accel::tile
