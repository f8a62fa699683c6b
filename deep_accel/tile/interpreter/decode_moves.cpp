// Moves, one function an operation; each says in loops what the dialect's documentation says in words.
#include "deep_accel/tile/interpreter/decode.h"

namespace deep_accel::tile::interpreter {

namespace {

ScalarType compute_of(mlir::Value buffer) {
  return element_type(mlir::cast<mlir::MemRefType>(buffer.getType()).getElementType()).compute;
}

bool inside(const View& view, llvm::ArrayRef<int64_t> index) {
  for (size_t dim = 0; dim < index.size(); ++dim) {
    if (index[dim] < 0 || index[dim] >= view.sizes[dim]) return false;
  }
  return true;
}

int64_t wrapping_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

// Where a window's element lies: its origin, moved along the dimensions that the window's own stand for. Indices wrap,
// as those of compiled code do.
Indices moved(Indices origin, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> index) {
  for (size_t dim = 0; dim < index.size(); ++dim) {
    int64_t& at = origin[static_cast<size_t>(dims[dim])];
    at = wrapping_add(at, index[dim]);
  }
  return origin;
}

template <typename Op>
Indices source_dims(Op op, int64_t first = 0) {
  Indices dims;
  for (int64_t dim = first; dim < op.getTile().getType().getRank(); ++dim) dims.push_back(op.source_dim(dim));
  return dims;
}

template <typename Op>
Indices dest_dims(Op op, int64_t first = 0) {
  Indices dims;
  for (int64_t dim = first; dim < op.getTile().getType().getRank(); ++dim) dims.push_back(op.dest_dim(dim));
  return dims;
}

// How a move takes elements from a buffer that may end within the window: conversion, and what stands for those outside
// (the operand, or zero).
struct Taking {
  ScalarType from, to;
  std::optional<Slot> fill;
  Site site;

  Scalar operator()(Thread& t, const View& source, const Indices& where) const {
    if (!inside(source, where)) return fill ? t.scalars[*fill] : Scalar();
    return converted(t.machine.read(source, place(source, where), site), from, to);
  }
};

// How a move puts elements there: those outside are dropped.
struct Putting {
  ScalarType from, to;
  std::optional<Combine> combine;
  bool atomic;
  Site site;

  void operator()(Thread& t, const View& tile, const Indices& index, const View& dest, const Indices& where) const {
    if (!inside(dest, where)) return;
    const Scalar value = converted(t.machine.read(tile, place(tile, index), site), from, to);
    const int64_t at = place(dest, where);
    if (combine) {
      t.machine.combine(dest, at, *combine, value, /*propagate_nan=*/false, atomic, site);
    } else {
      t.machine.write(dest, at, value, site);
    }
  }
};

// The origin with the row that a tile of row numbers names.
Indices at_row(Thread& t, const View& rows, int64_t number, Indices origin, size_t axis, Site site,
               mlir::Operation* op) {
  const Scalar row = t.machine.read(rows, place(rows, {number}), site);
  origin[axis] = wrapping_add(origin[axis], t.machine.decided(row, op, "an address"));
  return origin;
}

}  // namespace

template <typename Op>
void Decoder::load(Op op) {
  std::optional<Slot> token;
  if constexpr (std::is_same_v<Op, AsyncLoadOp>) token = slot(op.getToken());
  const Site at_site = site(op);
  const Taking take{compute_of(op.getSource()), compute_of(op.getTile()), optional_slot(op.getFill()), at_site};
  emit(op, [source_slot = view_slot(op.getSource()), tile_slot = view_slot(op.getTile()), at = slots(op.getIndices()),
            dims = source_dims(op), token, take, at_site, operation = op.getOperation()](Thread& t) {
    const View &source = t.views[source_slot], &tile = t.views[tile_slot];
    const Indices origin = indices(t, at, operation);
    for_each_index(tile.sizes, [&](const Indices& index) {
      t.machine.write(tile, place(tile, index), take(t, source, moved(origin, dims, index)), at_site);
    });
    if (token) t.scalars[*token] = Scalar::of_integer(t.machine.start_load(operation, tile));
  });
}

template <typename Op>
void Decoder::store(Op op, std::optional<Combine> atomic) {
  const Putting put{compute_of(op.getTile()), compute_of(op.getDest()), atomic, /*atomic=*/true, site(op)};
  emit(op, [tile_slot = view_slot(op.getTile()), dest_slot = view_slot(op.getDest()), at = slots(op.getIndices()),
            dims = dest_dims(op), put, operation = op.getOperation()](Thread& t) {
    const View &tile = t.views[tile_slot], &dest = t.views[dest_slot];
    const Indices origin = indices(t, at, operation);
    for_each_index(tile.sizes, [&](const Indices& index) { put(t, tile, index, dest, moved(origin, dims, index)); });
  });
}

void Decoder::gather(GatherOp op) {
  const Site at_site = site(op);
  const Taking take{compute_of(op.getSource()), compute_of(op.getTile()), optional_slot(op.getFill()), at_site};
  emit(op, [source_slot = view_slot(op.getSource()), rows_slot = view_slot(op.getRows()),
            tile_slot = view_slot(op.getTile()), at = slots(op.getIndices()), axis = op.getAxis(),
            dims = source_dims(op, 1), take, at_site, operation = op.getOperation()](Thread& t) {
    const View &source = t.views[source_slot], &rows = t.views[rows_slot], &tile = t.views[tile_slot];
    const Indices origin = indices(t, at, operation);
    for_each_index(tile.sizes, [&](const Indices& index) {
      const Indices row = at_row(t, rows, index[0], origin, axis, at_site, operation);
      const Indices where = moved(row, dims, llvm::ArrayRef(index).drop_front());
      t.machine.write(tile, place(tile, index), take(t, source, where), at_site);
    });
  });
}

void Decoder::scatter(ScatterOp op) {
  const Site at_site = site(op);
  const Putting put{compute_of(op.getTile()), compute_of(op.getDest()), op.getCombine(), /*atomic=*/false, at_site};
  emit(op, [tile_slot = view_slot(op.getTile()), dest_slot = view_slot(op.getDest()),
            rows_slot = view_slot(op.getRows()), at = slots(op.getIndices()), axis = op.getAxis(),
            dims = dest_dims(op, 1), put, at_site, operation = op.getOperation()](Thread& t) {
    const View &tile = t.views[tile_slot], &dest = t.views[dest_slot], &rows = t.views[rows_slot];
    const Indices origin = indices(t, at, operation);
    for_each_index(tile.sizes, [&](const Indices& index) {
      const Indices row = at_row(t, rows, index[0], origin, axis, at_site, operation);
      put(t, tile, index, dest, moved(row, dims, llvm::ArrayRef(index).drop_front()));
    });
  });
}

void Decoder::im2col(Im2colOp op) {
  const Site at_site = site(op);
  const Taking take{compute_of(op.getImage()), compute_of(op.getTile()), optional_slot(op.getFill()), at_site};
  emit(op, [image_slot = view_slot(op.getImage()), tile_slot = view_slot(op.getTile()),
            pixel_slot = slot(op.getPixel()), channel_slot = slot(op.getChannel()), kernel = Indices(op.getKernel()),
            stride = Indices(op.getStride()), dilation = Indices(op.getDilation()), pad = Indices(op.getPad()), take,
            at_site, operation = op.getOperation()](Thread& t) {
    const View &image = t.views[image_slot], &tile = t.views[tile_slot];
    const Indices first = indices(t, {pixel_slot, channel_slot}, operation);
    const int64_t channels = image.sizes[3];
    // Places where the filter fits: floor((size + pads - reach) / stride) + 1, none where that is negative.
    auto out_size = [&](size_t axis) {
      const int64_t reach = dilation[axis] * (kernel[axis] - 1) + 1;
      const int64_t room = image.sizes[axis + 1] + pad[axis] + pad[axis + 2] - reach;
      return room < 0 ? 0 : room / stride[axis] + 1;
    };
    const int64_t out_height = out_size(0), out_width = out_size(1);
    const int64_t pixels = image.sizes[0] * out_height * out_width, columns = kernel[0] * kernel[1] * channels;
    for_each_index(tile.sizes, [&](const Indices& index) {
      const int64_t pixel = wrapping_add(first[0], index[0]), column = wrapping_add(first[1], index[1]);
      Indices where{-1, -1, -1, -1};  // outside
      if (pixel >= 0 && pixel < pixels && column >= 0 && column < columns) {
        const int64_t row = pixel / out_width % out_height, out_column = pixel % out_width;
        const int64_t tap = column / channels;
        where = {pixel / (out_height * out_width), row * stride[0] + tap / kernel[1] * dilation[0] - pad[0],
                 out_column * stride[1] + tap % kernel[1] * dilation[1] - pad[1], column % channels};
      }
      t.machine.write(tile, place(tile, index), take(t, image, where), at_site);
    });
  });
}

bool Decoder::move(mlir::Operation* op) {
  if (auto load_op = mlir::dyn_cast<LoadOp>(op)) {
    load(load_op);
  } else if (auto async = mlir::dyn_cast<AsyncLoadOp>(op)) {
    load(async);
  } else if (auto wait = mlir::dyn_cast<WaitOp>(op)) {
    emit(op, [tokens = slots(wait.getTokens())](Thread& t) {
      for (Slot token : tokens) t.machine.finish_load(static_cast<uint32_t>(t.scalars[token].integer));
    });
  } else if (auto store_op = mlir::dyn_cast<StoreOp>(op)) {
    store(store_op, std::nullopt);
  } else if (auto atomic = mlir::dyn_cast<AtomicStoreOp>(op)) {
    store(atomic, atomic.getCombine());
  } else if (mlir::isa<CopyOp, TransposeOp>(op)) {
    Indices permutation;
    const mlir::Value source = op->getOperand(0), dest = op->getOperand(1);
    if (auto transpose = mlir::dyn_cast<TransposeOp>(op)) {
      permutation.assign(transpose.getPermutation().begin(), transpose.getPermutation().end());
    } else {
      for (int64_t dim = 0; dim < mlir::cast<mlir::MemRefType>(source.getType()).getRank(); ++dim) {
        permutation.push_back(dim);
      }
    }
    emit(op, [from_slot = view_slot(source), to_slot = view_slot(dest), permutation, from = compute_of(source),
              to = compute_of(dest), site = site(op)](Thread& t) {
      const View &read_from = t.views[from_slot], &write_to = t.views[to_slot];
      // dest[i_perm[0], i_perm[1], ...] = source[i_0, i_1, ...]
      for_each_index(read_from.sizes, [&](const Indices& index) {
        Indices permuted;
        for (int64_t dim : permutation) permuted.push_back(index[static_cast<size_t>(dim)]);
        const Scalar value = converted(t.machine.read(read_from, place(read_from, index), site), from, to);
        t.machine.write(write_to, place(write_to, permuted), value, site);
      });
    });
  } else if (auto gather_op = mlir::dyn_cast<GatherOp>(op)) {
    gather(gather_op);
  } else if (auto scatter_op = mlir::dyn_cast<ScatterOp>(op)) {
    scatter(scatter_op);
  } else if (auto columns = mlir::dyn_cast<Im2colOp>(op)) {
    im2col(columns);
  } else if (auto fill_op = mlir::dyn_cast<FillOp>(op)) {
    emit(op, [tile_slot = view_slot(fill_op.getTile()), value = slot(fill_op.getValue()), site = site(op)](Thread& t) {
      const View& tile = t.views[tile_slot];
      for_each_index(tile.sizes,
                     [&](const Indices& index) { t.machine.write(tile, place(tile, index), t.scalars[value], site); });
    });
  } else {
    return mlir::isa<PrefetchOp>(op);  // no effect on values
  }
  return true;
}

}  // namespace deep_accel::tile::interpreter
