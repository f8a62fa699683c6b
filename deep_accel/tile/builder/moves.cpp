// Moves: between global memory and tiles, between tiles, by indices, by windows of an image.
#include <numeric>

#include "deep_accel/tile/builder/state.h"

namespace deep_accel::tile {

namespace {

struct LoadOperands {
  llvm::SmallVector<mlir::Value> at;
  mlir::Value fill;
  mlir::DenseI64ArrayAttr dims;
};

LoadOperands load_operands(BuilderState& s, std::string_view function, const TileBuffer& source, const Scalars& at,
                           const TileBuffer& tile, const LoadOptions& options) {
  s.require_own(source, function, "source");
  s.require_tile(tile, function, "tile");
  LoadOperands operands;
  operands.at = s.positions(source, at, function);
  operands.dims = s.window_dims(source, tile, options.dims, function);
  operands.fill = s.fill_value(options.fill, tile);
  return operands;
}

void require_rows(BuilderState& s, const TileBuffer& rows, const TileBuffer& tile, std::string_view function) {
  s.require_tile(rows, function, "rows");
  if (!is_integer(rows.dtype())) {
    s.fail<TypeError>(function, "rows", "a tile of integers", BuilderState::describe(rows), "indices are i32 or i64");
  }
  auto rows_shape = BuilderState::unwrap(rows).getType().getShape();
  auto tile_shape = BuilderState::unwrap(tile).getType().getShape();
  if (rows_shape.size() != 1 || tile_shape.empty() || rows_shape[0] != tile_shape[0]) {
    s.fail<ShapeError>(function, "rows",
                       "of one dimension, as long as the first of the tile " + BuilderState::describe(tile),
                       BuilderState::describe(rows), "one index for each row of the tile");
  }
}

int64_t checked_axis(BuilderState& s, int64_t axis, const TileBuffer& buffer, std::string_view function) {
  const int64_t rank = buffer.rank();
  if (axis < -rank || axis >= rank) {
    s.fail<IndexError>(function, "axis", "a dimension of " + BuilderState::describe(buffer), std::to_string(axis),
                       "it runs from 0 to " + std::to_string(rank - 1));
  }
  return axis < 0 ? axis + rank : axis;
}

}  // namespace

void Builder::load(const TileBuffer& source, const Scalars& at, const TileBuffer& tile, const LoadOptions& options,
                   Where where) {
  BuilderState& s = *state_;
  s.at(where);
  LoadOperands o = load_operands(s, "load", source, at, tile, options);
  s.checked<LoadOp>(BuilderState::unwrap(source), o.at, BuilderState::unwrap(tile), o.fill, o.dims);
}

Token Builder::async_load(const TileBuffer& source, const Scalars& at, const TileBuffer& tile,
                          const LoadOptions& options, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  LoadOperands o = load_operands(s, "async_load", source, at, tile, options);
  auto op = s.checked<AsyncLoadOp>(TokenType::get(s.context.get()), BuilderState::unwrap(source), o.at,
                                   BuilderState::unwrap(tile), o.fill, o.dims);
  return {op.getToken().getAsOpaquePointer()};
}

void Builder::wait(const std::vector<Token>& tokens, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  llvm::SmallVector<mlir::Value> values;
  for (const Token& token : tokens) {
    if (!token.value) s.fail("wait", "tokens", "what async_load returned", "an empty token", "keep its result");
    values.push_back(mlir::Value::getFromOpaquePointer(token.value));
    if (!s.visible(values.back()))
      s.fail("wait: the load was started inside a loop or branch that has ended; wait there");
  }
  s.checked<WaitOp>(values);
}

void Builder::store(const TileBuffer& tile, const TileBuffer& dest, const Scalars& at, const std::vector<int64_t>& dims,
                    Where where) {
  BuilderState& s = *state_;
  s.at(where);
  s.require_tile(tile, "store", "tile");
  s.require_own(dest, "store", "dest");
  auto places = s.positions(dest, at, "store");
  auto dims_attribute = s.window_dims(dest, tile, dims, "store");
  s.checked<StoreOp>(BuilderState::unwrap(tile), BuilderState::unwrap(dest), places, dims_attribute);
}

void Builder::copy(const TileBuffer& source, const TileBuffer& dest, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  s.require_tile(source, "copy", "source");
  s.require_tile(dest, "copy", "dest");
  s.require_equal_shapes(source, dest, "copy", "source", "dest");
  s.checked<CopyOp>(BuilderState::unwrap(source), BuilderState::unwrap(dest));
}

void Builder::transpose(const TileBuffer& source, const TileBuffer& dest, const std::vector<int64_t>& permutation,
                        Where where) {
  BuilderState& s = *state_;
  s.at(where);
  s.require_tile(source, "transpose", "source");
  s.require_tile(dest, "transpose", "dest");
  auto from = BuilderState::unwrap(source).getType().getShape(), to = BuilderState::unwrap(dest).getType().getShape();
  std::vector<int64_t> sorted = permutation;
  llvm::sort(sorted);
  std::vector<int64_t> all(from.size());
  std::iota(all.begin(), all.end(), 0);
  if (sorted != all || to.size() != from.size()) {
    s.fail<ShapeError>("transpose", "permutation", "each dimension of " + BuilderState::describe(source) + " once",
                       BuilderState::shape_text(permutation), "and the destination of the same rank");
  }
  for (auto [axis, origin] : llvm::enumerate(permutation)) {
    if (to[axis] != from[static_cast<size_t>(origin)]) {
      s.fail<ShapeError>("transpose", "dest", "of the permuted shape of " + BuilderState::describe(source),
                         BuilderState::describe(dest),
                         "dimension " + std::to_string(axis) + " comes from " + std::to_string(origin));
    }
  }
  s.checked<TransposeOp>(BuilderState::unwrap(source), BuilderState::unwrap(dest),
                         llvm::ArrayRef<int64_t>(permutation));
}

void Builder::gather(const TileBuffer& source, const Scalars& at, const TileBuffer& rows, const TileBuffer& tile,
                     int64_t axis, std::optional<Scalar> fill, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  s.require_own(source, "gather", "source");
  s.require_tile(tile, "gather", "tile");
  require_rows(s, rows, tile, "gather");
  s.checked<GatherOp>(BuilderState::unwrap(source), s.positions(source, at, "gather"), BuilderState::unwrap(rows),
                      static_cast<uint64_t>(checked_axis(s, axis, source, "gather")), BuilderState::unwrap(tile),
                      s.fill_value(fill, tile));
}

void Builder::scatter(const TileBuffer& tile, const TileBuffer& dest, const Scalars& at, const TileBuffer& rows,
                      int64_t axis, std::optional<Combination> combination, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  s.require_tile(tile, "scatter", "tile");
  s.require_own(dest, "scatter", "dest");
  require_rows(s, rows, tile, "scatter");
  auto combine = combination ? CombineAttr::get(s.context.get(), static_cast<Combine>(*combination)) : CombineAttr();
  s.checked<ScatterOp>(BuilderState::unwrap(tile), BuilderState::unwrap(dest), s.positions(dest, at, "scatter"),
                       BuilderState::unwrap(rows), static_cast<uint64_t>(checked_axis(s, axis, dest, "scatter")),
                       combine);
}

void Builder::im2col(const TileBuffer& image, const Scalar& pixel, const Scalar& column, const TileBuffer& tile,
                     const ConvolutionWindow& window, std::optional<Scalar> fill, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  s.require_own(image, "im2col", "image");
  s.require_tile(tile, "im2col", "tile");
  if (image.rank() != 4 || tile.rank() != 2) {
    s.fail<ShapeError>("im2col", image.rank() != 4 ? "image" : "tile",
                       image.rank() != 4 ? "N x H x W x C" : "pixels x columns",
                       BuilderState::describe(image.rank() != 4 ? image : tile), "reshape it");
  }
  mlir::Value first_pixel = s.index(pixel, "im2col", "pixel"), first_column = s.index(column, "im2col", "column");
  s.checked<Im2colOp>(BuilderState::unwrap(image), first_pixel, first_column, BuilderState::unwrap(tile),
                      s.fill_value(fill, tile), llvm::ArrayRef<int64_t>(window.kernel),
                      llvm::ArrayRef<int64_t>(window.stride), llvm::ArrayRef<int64_t>(window.dilation),
                      llvm::ArrayRef<int64_t>(window.pad));
}

void Builder::prefetch(const TileBuffer& source, const Scalars& at, const std::vector<int64_t>& sizes, int64_t level,
                       bool write, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  s.require_own(source, "prefetch", "source");
  if (static_cast<int>(sizes.size()) != source.rank()) {
    s.fail<ShapeError>("prefetch", "sizes", "one for each dimension of " + BuilderState::describe(source),
                       BuilderState::shape_text(sizes), "give the window's size in each");
  }
  if (level < 1 || level > 3) s.fail("prefetch", "level", "1, 2 or 3", std::to_string(level), "it names a cache");
  s.checked<PrefetchOp>(BuilderState::unwrap(source), s.positions(source, at, "prefetch"), mlir::Value(),
                        llvm::ArrayRef<int64_t>(sizes), static_cast<uint64_t>(level), write);
}

}  // namespace deep_accel::tile
