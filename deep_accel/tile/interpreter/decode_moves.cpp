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

// What stands for elements outside: the operand, or zero.
struct Fill {
  std::optional<Slot> slot;
  Scalar of(Thread& t) const { return slot ? t.scalars[*slot] : Scalar(); }
};

}  // namespace

template <typename Op>
void Decoder::load(Op op) {
  Indices dims;
  for (int64_t dim = 0; dim < op.getTile().getType().getRank(); ++dim) dims.push_back(op.source_dim(dim));
  std::optional<Slot> token;
  if constexpr (std::is_same_v<Op, AsyncLoadOp>) token = slot(op.getToken());
  emit(op, [source_slot = view_slot(op.getSource()), tile_slot = view_slot(op.getTile()), at = slots(op.getIndices()),
            fill = Fill{op.getFill() ? std::optional(slot(op.getFill())) : std::nullopt}, dims, token,
            from = compute_of(op.getSource()), to = compute_of(op.getTile()), site = site(op),
            operation = op.getOperation()](Thread& t) {
    const View &source = t.views[source_slot], &tile = t.views[tile_slot];
    const Indices origin = indices(t, at, operation);
    for_each_index(tile.sizes, [&](const Indices& index) {
      Indices where(origin);
      for (size_t dim = 0; dim < index.size(); ++dim) where[static_cast<size_t>(dims[dim])] += index[dim];
      const Scalar value =
          inside(source, where) ? converted(t.machine.read(source, place(source, where), site), from, to) : fill.of(t);
      t.machine.write(tile, place(tile, index), value, site);
    });
    if (token) {
      t.scalars[*token] = Scalar::of_integer(t.machine.start_load(operation, tile));
    }
  });
}

template <typename Op>
void Decoder::store(Op op, std::optional<Combine> atomic) {
  Indices dims;
  for (int64_t dim = 0; dim < op.getTile().getType().getRank(); ++dim) dims.push_back(op.dest_dim(dim));
  emit(op, [tile_slot = view_slot(op.getTile()), dest_slot = view_slot(op.getDest()), at = slots(op.getIndices()), dims,
            atomic, from = compute_of(op.getTile()), to = compute_of(op.getDest()), site = site(op),
            operation = op.getOperation()](Thread& t) {
    const View &tile = t.views[tile_slot], &dest = t.views[dest_slot];
    const Indices origin = indices(t, at, operation);
    for_each_index(tile.sizes, [&](const Indices& index) {
      Indices where(origin);
      for (size_t dim = 0; dim < index.size(); ++dim) where[static_cast<size_t>(dims[dim])] += index[dim];
      if (!inside(dest, where)) return;
      const Scalar value = converted(t.machine.read(tile, place(tile, index), site), from, to);
      if (atomic) {
        t.machine.combine(dest, place(dest, where), *atomic, value, /*propagate_nan=*/false, /*atomic=*/true, site);
      } else {
        t.machine.write(dest, place(dest, where), value, site);
      }
    });
  });
}

void Decoder::gather(GatherOp op) {
  Indices dims;  // of the source, for the tile's dimensions after the first
  for (int64_t dim = 1; dim < op.getTile().getType().getRank(); ++dim) dims.push_back(op.source_dim(dim));
  emit(op, [source_slot = view_slot(op.getSource()), rows_slot = view_slot(op.getRows()),
            tile_slot = view_slot(op.getTile()), at = slots(op.getIndices()), axis = op.getAxis(), dims,
            fill = Fill{op.getFill() ? std::optional(slot(op.getFill())) : std::nullopt},
            from = compute_of(op.getSource()), to = compute_of(op.getTile()), site = site(op),
            operation = op.getOperation()](Thread& t) {
    const View &source = t.views[source_slot], &rows = t.views[rows_slot], &tile = t.views[tile_slot];
    const Indices origin = indices(t, at, operation);
    for_each_index(tile.sizes, [&](const Indices& index) {
      const Scalar row = t.machine.read(rows, place(rows, {index[0]}), site);
      Indices where(origin);
      where[axis] += t.machine.decided(row, operation, "an address");
      for (size_t dim = 0; dim < dims.size(); ++dim) where[static_cast<size_t>(dims[dim])] += index[dim + 1];
      const Scalar value =
          inside(source, where) ? converted(t.machine.read(source, place(source, where), site), from, to) : fill.of(t);
      t.machine.write(tile, place(tile, index), value, site);
    });
  });
}

void Decoder::scatter(ScatterOp op) {
  Indices dims;
  for (int64_t dim = 1; dim < op.getTile().getType().getRank(); ++dim) dims.push_back(op.dest_dim(dim));
  emit(op, [tile_slot = view_slot(op.getTile()), dest_slot = view_slot(op.getDest()),
            rows_slot = view_slot(op.getRows()), at = slots(op.getIndices()), axis = op.getAxis(), dims,
            combine = op.getCombine(), from = compute_of(op.getTile()), to = compute_of(op.getDest()), site = site(op),
            operation = op.getOperation()](Thread& t) {
    const View &tile = t.views[tile_slot], &dest = t.views[dest_slot], &rows = t.views[rows_slot];
    const Indices origin = indices(t, at, operation);
    for_each_index(tile.sizes, [&](const Indices& index) {
      const Scalar row = t.machine.read(rows, place(rows, {index[0]}), site);
      Indices where(origin);
      where[axis] += t.machine.decided(row, operation, "an address");
      for (size_t dim = 0; dim < dims.size(); ++dim) where[static_cast<size_t>(dims[dim])] += index[dim + 1];
      if (!inside(dest, where)) return;
      const Scalar value = converted(t.machine.read(tile, place(tile, index), site), from, to);
      if (combine) {
        t.machine.combine(dest, place(dest, where), *combine, value, /*propagate_nan=*/false, /*atomic=*/false, site);
      } else {
        t.machine.write(dest, place(dest, where), value, site);
      }
    });
  });
}

void Decoder::im2col(Im2colOp op) {
  emit(op, [image_slot = view_slot(op.getImage()), tile_slot = view_slot(op.getTile()),
            pixel_slot = slot(op.getPixel()), channel_slot = slot(op.getChannel()), kernel = Indices(op.getKernel()),
            stride = Indices(op.getStride()), dilation = Indices(op.getDilation()), pad = Indices(op.getPad()),
            fill = Fill{op.getFill() ? std::optional(slot(op.getFill())) : std::nullopt},
            from = compute_of(op.getImage()), to = compute_of(op.getTile()), site = site(op),
            operation = op.getOperation()](Thread& t) {
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
      const int64_t pixel = first[0] + index[0], column = first[1] + index[1];
      Scalar value = fill.of(t);
      if (pixel >= 0 && pixel < pixels && column >= 0 && column < columns) {
        const int64_t row = pixel / out_width % out_height, out_column = pixel % out_width;
        const int64_t tap = column / channels;
        const Indices where{pixel / (out_height * out_width), row * stride[0] + tap / kernel[1] * dilation[0] - pad[0],
                            out_column * stride[1] + tap % kernel[1] * dilation[1] - pad[1], column % channels};
        if (inside(image, where)) value = converted(t.machine.read(image, place(image, where), site), from, to);
      }
      t.machine.write(tile, place(tile, index), value, site);
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
