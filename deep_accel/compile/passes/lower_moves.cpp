// See lower_moves.h. One function an operation.
#include "deep_accel/compile/passes/lower_moves.h"

#include "deep_accel/compile/passes/combining.h"
#include "deep_accel/compile/passes/window.h"

namespace deep_accel::compile {

using mlir::OpFoldResult;
using mlir::Value;
using mlir::ValueRange;
namespace arith = mlir::arith;
namespace scf = mlir::scf;

namespace {

using Builder = mlir::ImplicitLocOpBuilder;

Value constant(Builder& builder, int64_t value) { return builder.create<arith::ConstantIndexOp>(value); }
Value add(Builder& builder, Value a, Value b) { return builder.createOrFold<arith::AddIOp>(a, b); }
mlir::Type element_of(Value buffer) { return mlir::cast<mlir::MemRefType>(buffer.getType()).getElementType(); }

Value read(Builder& builder, Value buffer, ValueRange indices) {
  return builder.create<tile::ReadOp>(tile::compute_type(element_of(buffer)), buffer, indices);
}

// Writes a value of any compute type.
void write(Builder& builder, Value value, Value buffer, ValueRange indices) {
  value = convert_compute(builder, value, tile::compute_type(element_of(buffer)));
  builder.create<tile::WriteOp>(value, buffer, indices);
}

Value fill_value(Builder& builder, Value given, Value tile) {
  mlir::Type type = tile::compute_type(element_of(tile));
  return given ? given : builder.create<arith::ConstantOp>(type, builder.getZeroAttr(type)).getResult();
}

llvm::SmallVector<OpFoldResult> sizes_of(Builder& builder, Value tile) {
  return llvm::map_to_vector(mlir::cast<mlir::MemRefType>(tile.getType()).getShape(),
                             [&](int64_t size) -> OpFoldResult { return builder.getIndexAttr(size); });
}

// A tile's window in a larger buffer: tile dimension d stands for `buffer_dim(d)`.
struct Window {
  llvm::SmallVector<WindowDim> dims, points;
  llvm::SmallVector<Value> origin;         // where it begins, an index a dimension of the buffer
  llvm::SmallVector<int64_t> buffer_dims;  // of the tile's dimensions

  Window(Builder& builder, Value buffer, ValueRange indices, llvm::ArrayRef<int64_t> tile_shape,
         llvm::ArrayRef<int64_t> stands_for)
      : origin(indices.begin(), indices.end()), buffer_dims(stands_for) {
    for (auto [dim, offset] : llvm::enumerate(indices)) {
      auto* place = llvm::find(buffer_dims, static_cast<int64_t>(dim));
      const OpFoldResult extent = extent_of(builder, buffer, static_cast<int64_t>(dim));
      if (place == buffer_dims.end()) points.push_back({offset, 1, extent});
    }
    for (auto [position, dim] : llvm::enumerate(buffer_dims)) {
      dims.push_back({indices[dim], tile_shape[position], extent_of(builder, buffer, dim)});
    }
  }

  // The buffer's indices for an element of the window.
  llvm::SmallVector<Value> at(Builder& builder, ValueRange window_indices) const {
    llvm::SmallVector<Value> indices(origin);
    for (auto [position, dim] : llvm::enumerate(buffer_dims)) {
      indices[dim] = add(builder, indices[dim], window_indices[position]);
    }
    return indices;
  }
};

template <typename Op>
llvm::SmallVector<int64_t> source_dims(Op op) {
  llvm::SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < op.getTile().getType().getRank(); ++dim) dims.push_back(op.source_dim(dim));
  return dims;
}

template <typename Op>
llvm::SmallVector<int64_t> dest_dims(Op op) {
  llvm::SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < op.getTile().getType().getRank(); ++dim) dims.push_back(op.dest_dim(dim));
  return dims;
}

template <typename Op>
void lower_load(Builder& builder, Op op) {
  Window window(builder, op.getSource(), op.getIndices(), op.getTile().getType().getShape(), source_dims(op));
  Value fill = fill_value(builder, op.getFill(), op.getTile());
  make_window(
      builder, window.dims, window.points,
      [&](ValueRange at) { write(builder, read(builder, op.getSource(), window.at(builder, at)), op.getTile(), at); },
      [&](ValueRange at) { write(builder, fill, op.getTile(), at); });
}

void lower_store(Builder& builder, tile::StoreOp op) {
  Window window(builder, op.getDest(), op.getIndices(), op.getTile().getType().getShape(), dest_dims(op));
  make_window(
      builder, window.dims, window.points,
      [&](ValueRange at) { write(builder, read(builder, op.getTile(), at), op.getDest(), window.at(builder, at)); },
      nullptr);
}

void lower_atomic_store(Builder& builder, tile::AtomicStoreOp op) {
  Window window(builder, op.getDest(), op.getIndices(), op.getTile().getType().getShape(), dest_dims(op));
  make_window(
      builder, window.dims, window.points,
      [&](ValueRange at) {
        Value value =
            convert_compute(builder, read(builder, op.getTile(), at), tile::compute_type(element_of(op.getDest())));
        builder.create<tile::AtomicOp>(value.getType(), op.getCombine(), value, op.getDest(), window.at(builder, at),
                                       op.getMemoryOrder());
      },
      nullptr);
}

void lower_copy(Builder& builder, tile::CopyOp op) {
  make_map(builder, sizes_of(builder, op.getDest()),
           [&](ValueRange at) { write(builder, read(builder, op.getSource(), at), op.getDest(), at); });
}

void lower_transpose(Builder& builder, tile::TransposeOp op) {
  // dest[i_perm[0], i_perm[1], ...] = source[i_0, i_1, ...]
  make_map(builder, sizes_of(builder, op.getSource()), [&](ValueRange at) {
    llvm::SmallVector<Value> permuted =
        llvm::map_to_vector(op.getPermutation(), [&](int64_t dim) -> Value { return at[dim]; });
    write(builder, read(builder, op.getSource(), at), op.getDest(), permuted);
  });
}

void lower_fill(Builder& builder, Value tile, Value value) {
  make_map(builder, sizes_of(builder, tile), [&](ValueRange at) { write(builder, value, tile, at); });
}

// For each row of an index tile, in order: `body` with the row's number and the index that it names.
void for_each_row(Builder& builder, Value rows, Value base, llvm::function_ref<void(Value row, Value named)> body) {
  const int64_t count = mlir::cast<mlir::MemRefType>(rows.getType()).getDimSize(0);
  auto loop = builder.create<scf::ForOp>(constant(builder, 0), constant(builder, count), constant(builder, 1));
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value row = loop.getInductionVar();
  Value named = builder.create<arith::IndexCastOp>(builder.getIndexType(), read(builder, rows, row));
  body(row, add(builder, named, base));
}

llvm::SmallVector<Value> with_front(Value first, ValueRange rest) {
  llvm::SmallVector<Value> all{first};
  llvm::append_range(all, rest);
  return all;
}

void lower_gather(Builder& builder, tile::GatherOp op) {
  Value fill = fill_value(builder, op.getFill(), op.getTile());
  llvm::SmallVector<int64_t> dims;
  for (int64_t dim = 1; dim < op.getTile().getType().getRank(); ++dim) dims.push_back(op.source_dim(dim));
  for_each_row(builder, op.getRows(), op.getIndices()[op.getAxis()], [&](Value row, Value named) {
    llvm::SmallVector<Value> origin(op.getIndices());
    origin[op.getAxis()] = named;
    Window window(builder, op.getSource(), origin, op.getTile().getType().getShape().drop_front(), dims);
    make_window(
        builder, window.dims, window.points,
        [&](ValueRange at) {
          write(builder, read(builder, op.getSource(), window.at(builder, at)), op.getTile(), with_front(row, at));
        },
        [&](ValueRange at) { write(builder, fill, op.getTile(), with_front(row, at)); });
  });
}

// |value|, for the combinations that take magnitudes.
Value magnitude(Builder& builder, Value value) {
  if (mlir::isa<mlir::FloatType>(value.getType())) return builder.create<mlir::math::AbsFOp>(value);
  return builder.create<mlir::math::AbsIOp>(value);
}

void lower_scatter(Builder& builder, tile::ScatterOp op) {
  llvm::SmallVector<int64_t> dims;
  for (int64_t dim = 1; dim < op.getTile().getType().getRank(); ++dim) dims.push_back(op.dest_dim(dim));
  for_each_row(builder, op.getRows(), op.getIndices()[op.getAxis()], [&](Value row, Value named) {
    llvm::SmallVector<Value> origin(op.getIndices());
    origin[op.getAxis()] = named;
    Window window(builder, op.getDest(), origin, op.getTile().getType().getShape().drop_front(), dims);
    make_window(
        builder, window.dims, window.points,
        [&](ValueRange at) {
          Value value = read(builder, op.getTile(), with_front(row, at));
          llvm::SmallVector<Value> where = window.at(builder, at);
          if (!op.getCombine()) return write(builder, value, op.getDest(), where);
          value = convert_compute(builder, value, tile::compute_type(element_of(op.getDest())));
          const tile::Combine combine = without_magnitude(*op.getCombine());
          if (combine != *op.getCombine()) value = magnitude(builder, value);
          builder.create<tile::CombineOp>(combine, value, op.getDest(), where, false);
        },
        nullptr);
  });
}

void lower_reduce(Builder& builder, tile::ReduceOp op) {
  mlir::Type type = tile::compute_type(element_of(op.getDest()));
  if (op.getClear()) {
    lower_fill(builder, op.getDest(), builder.create<arith::ConstantOp>(identity(builder, op.getCombine(), type)));
  }
  const bool keeps_dim = op.getDest().getType().getRank() == op.getSource().getType().getRank();
  Value zero = constant(builder, 0);
  make_map(builder, sizes_of(builder, op.getSource()), [&](ValueRange at) {
    Value value = convert_compute(builder, read(builder, op.getSource(), at), type);
    const tile::Combine combine = without_magnitude(op.getCombine());
    if (combine != op.getCombine()) value = magnitude(builder, value);
    llvm::SmallVector<Value> where(at);
    if (keeps_dim) {
      where[op.getDim()] = zero;
    } else {
      where.erase(where.begin() + static_cast<int64_t>(op.getDim()));
    }
    builder.create<tile::CombineOp>(combine, value, op.getDest(), where, op.getPropagateNan());
  });
}

// A combination written by hand takes the magnitude beforehand, as those above do.
void take_magnitude(Builder& builder, tile::CombineOp op) {
  const tile::Combine combine = without_magnitude(op.getCombine());
  if (combine == op.getCombine()) return;
  op.getValueMutable().assign(magnitude(builder, op.getValue()));
  op.setCombine(combine);
}

void lower_scan(Builder& builder, tile::ScanOp op) {
  const int64_t dim = op.getDim();
  llvm::SmallVector<OpFoldResult> others = sizes_of(builder, op.getSource());
  const int64_t length = op.getSource().getType().getDimSize(static_cast<unsigned>(dim));
  others.erase(others.begin() + dim);
  mlir::Type type = tile::compute_type(element_of(op.getDest()));
  const tile::Combine combine = without_magnitude(op.getCombine());
  make_map(builder, others, [&](ValueRange at) {
    Value start = builder.create<arith::ConstantOp>(identity(builder, op.getCombine(), type));
    auto loop =
        builder.create<scf::ForOp>(constant(builder, 0), constant(builder, length), constant(builder, 1), start);
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value step = loop.getInductionVar();
    if (op.getReverse()) step = builder.create<arith::SubIOp>(constant(builder, length - 1), step);
    llvm::SmallVector<Value> where(at);
    where.insert(where.begin() + dim, step);
    Value value = convert_compute(builder, read(builder, op.getSource(), where), type);
    if (combine != op.getCombine()) value = magnitude(builder, value);
    Value before = loop.getRegionIterArg(0);
    Value after = combined(builder, combine, before, value);
    write(builder, op.getExclusive() ? before : after, op.getDest(), where);
    builder.create<scf::YieldOp>(after);
  });
}

// Row by row, and in a row run by run of columns that share their place in the filter: what is left is a run of
// channels.
void lower_im2col(Builder& builder, tile::Im2colOp op) {
  Value image = op.getImage(), tile = op.getTile();
  Value fill = fill_value(builder, op.getFill(), tile);
  auto size = [&](int64_t dim) -> Value {
    OpFoldResult extent = extent_of(builder, image, dim);
    if (auto fixed = mlir::getConstantIntValue(extent)) return constant(builder, *fixed);
    return mlir::cast<Value>(extent);
  };
  auto out_size = [&](int64_t dim, int64_t axis) -> Value {
    const int64_t reach = op.getDilation()[axis] * (op.getKernel()[axis] - 1) + 1;
    Value padded = add(builder, size(dim), constant(builder, op.getPad()[axis] + op.getPad()[axis + 2] - reach));
    Value steps = builder.create<arith::FloorDivSIOp>(padded, constant(builder, op.getStride()[axis]));
    // None where the filter does not fit.
    return builder.create<arith::MaxSIOp>(constant(builder, 0), add(builder, steps, constant(builder, 1)));
  };
  // Sizes to divide by; where one of them is zero nothing is inside.
  auto divisor = [&](Value size) -> Value { return builder.create<arith::MaxSIOp>(size, constant(builder, 1)); };
  auto type = mlir::cast<mlir::MemRefType>(tile.getType());
  Value zero = constant(builder, 0), one = constant(builder, 1);
  Value height = size(1), width = size(2), depth = size(3);
  Value out_height = out_size(1, 0), out_width = out_size(2, 1);
  Value per_image = builder.create<arith::MulIOp>(out_height, out_width);
  Value pixels = builder.create<arith::MulIOp>(size(0), per_image);
  Value columns = constant(builder, type.getDimSize(1));
  Value channels = divisor(depth);
  // The first column may be negative, as any window's origin.
  Value first_place = builder.create<arith::FloorDivSIOp>(op.getChannel(), channels);
  Value first_channel =
      builder.create<arith::SubIOp>(op.getChannel(), builder.create<arith::MulIOp>(first_place, channels));
  Value runs = builder.create<arith::CeilDivUIOp>(add(builder, first_channel, columns), channels);

  mlir::OpBuilder::InsertionGuard guard(builder);
  auto rows = builder.create<scf::ForOp>(zero, constant(builder, type.getDimSize(0)), one);
  builder.setInsertionPointToStart(rows.getBody());
  Value row = rows.getInductionVar();
  Value pixel = add(builder, op.getPixel(), row);
  Value n = builder.create<arith::DivUIOp>(pixel, divisor(per_image));
  Value in_image = builder.create<arith::RemUIOp>(pixel, divisor(per_image));
  Value out_row = builder.create<arith::DivUIOp>(in_image, divisor(out_width));
  Value out_column = builder.create<arith::RemUIOp>(in_image, divisor(out_width));
  auto loop = builder.create<scf::ForOp>(zero, runs, one);
  builder.setInsertionPointToStart(loop.getBody());
  Value place = add(builder, first_place, loop.getInductionVar());
  Value filter_row = builder.create<arith::DivUIOp>(place, constant(builder, op.getKernel()[1]));
  Value filter_column = builder.create<arith::RemUIOp>(place, constant(builder, op.getKernel()[1]));
  auto source = [&](Value out, Value filter, int64_t axis) -> Value {
    Value from = builder.create<arith::MulIOp>(out, constant(builder, op.getStride()[axis]));
    Value along = builder.create<arith::MulIOp>(filter, constant(builder, op.getDilation()[axis]));
    return builder.create<arith::SubIOp>(add(builder, from, along), constant(builder, op.getPad()[axis]));
  };
  Value y = source(out_row, filter_row, 0), x = source(out_column, filter_column, 1);
  Value begin =
      builder.create<arith::SubIOp>(builder.create<arith::MulIOp>(loop.getInductionVar(), channels), first_channel);
  Value end = builder.create<arith::MinSIOp>(columns, add(builder, begin, channels));
  Value from = builder.create<arith::MaxSIOp>(zero, begin);
  Value channel = builder.create<arith::SubIOp>(from, begin);
  Value count = builder.create<arith::SubIOp>(end, from);

  Value inside = builder.create<arith::CmpIOp>(arith::CmpIPredicate::ult, pixel, pixels);
  auto require = [&](arith::CmpIPredicate predicate, Value a, Value b) {
    inside = builder.create<arith::AndIOp>(inside, builder.create<arith::CmpIOp>(predicate, a, b));
  };
  require(arith::CmpIPredicate::ult, place, constant(builder, op.getKernel()[0] * op.getKernel()[1]));
  require(arith::CmpIPredicate::ult, y, height);
  require(arith::CmpIPredicate::ult, x, width);
  require(arith::CmpIPredicate::ult, zero, depth);
  auto branch = builder.create<scf::IfOp>(inside, /*withElseRegion=*/true);
  builder.setInsertionPointToStart(branch.thenBlock());
  make_map(builder, {count}, [&](ValueRange at) {
    Value value = read(builder, image, ValueRange{n, y, x, add(builder, channel, at[0])});
    write(builder, value, tile, ValueRange{row, add(builder, from, at[0])});
  });
  builder.setInsertionPointToStart(branch.elseBlock());
  make_map(builder, {count},
           [&](ValueRange at) { write(builder, fill, tile, ValueRange{row, add(builder, from, at[0])}); });
}

}  // namespace

void lower_moves(tile::KernelOp kernel) {
  llvm::SmallVector<mlir::Operation*> moves;
  kernel.walk([&](mlir::Operation* op) { moves.push_back(op); });
  for (mlir::Operation* op : moves) {
    Builder builder(op->getLoc(), op);
    const bool lowered =
        llvm::TypeSwitch<mlir::Operation*, bool>(op)
            .Case([&](tile::LoadOp load) { return lower_load(builder, load), true; })
            .Case([&](tile::StoreOp store) { return lower_store(builder, store), true; })
            .Case([&](tile::AtomicStoreOp store) { return lower_atomic_store(builder, store), true; })
            .Case([&](tile::CopyOp copy) { return lower_copy(builder, copy), true; })
            .Case([&](tile::TransposeOp transpose) { return lower_transpose(builder, transpose), true; })
            .Case([&](tile::FillOp fill) { return lower_fill(builder, fill.getTile(), fill.getValue()), true; })
            .Case([&](tile::GatherOp gather) { return lower_gather(builder, gather), true; })
            .Case([&](tile::ScatterOp scatter) { return lower_scatter(builder, scatter), true; })
            .Case([&](tile::ReduceOp reduce) { return lower_reduce(builder, reduce), true; })
            .Case([&](tile::ScanOp scan) { return lower_scan(builder, scan), true; })
            .Case([&](tile::Im2colOp im2col) { return lower_im2col(builder, im2col), true; })
            .Case([&](tile::CombineOp combine) { return take_magnitude(builder, combine), false; })
            .Default(false);
    if (lowered) op->erase();
  }
}

}  // namespace deep_accel::compile
