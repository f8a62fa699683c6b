#include "deep_accel/compile/passes/thread_tiles.h"

namespace deep_accel::compile {

using mlir::Operation;
using mlir::Value;
namespace arith = mlir::arith;

namespace {

bool is_element_access(Operation* op) {
  return mlir::isa<tile::ReadOp, tile::WriteOp, tile::CombineOp, tile::AtomicOp>(op);
}

mlir::MemRefType type_of(Value buffer) { return mlir::cast<mlir::MemRefType>(buffer.getType()); }

llvm::SmallVector<int64_t> strides_of(mlir::MemRefType type) {
  llvm::SmallVector<int64_t> strides;
  int64_t offset;
  (void)mlir::getStridesAndOffset(type, strides, offset);
  return strides;
}

mlir::MemRefType strided(mlir::MemRefType like, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides) {
  auto layout = mlir::StridedLayoutAttr::get(like.getContext(), mlir::ShapedType::kDynamic, strides);
  return mlir::MemRefType::get(shape, like.getElementType(), layout, like.getMemorySpace());
}

// Views of a tile whose type has changed take the type that follows from it.
mlir::LogicalResult update_views(Value tile) {
  for (Operation* user : tile.getUsers()) {
    if (mlir::isa<tile::BitcastOp>(user)) {
      return user->emitError("bits of a thread's local tile as another type are not supported; ")
             << "put the tile in shared space, with a dimension for the threads";
    }
    mlir::MemRefType source = type_of(tile), type;
    if (auto slice = mlir::dyn_cast<tile::SliceOp>(user)) {
      const llvm::SmallVector<int64_t> from = strides_of(source);
      llvm::SmallVector<int64_t> strides;
      for (int64_t dim = 0; dim < slice.getType().getRank(); ++dim) strides.push_back(from[slice.source_dim(dim)]);
      type = strided(source, slice.getType().getShape(), strides);
    } else if (auto reshape = mlir::dyn_cast<tile::ReshapeOp>(user)) {
      auto plain = tile::buffer_type(reshape.getType().getShape(), source.getElementType(), tile::Space::shared);
      type = strided(source, plain.getShape(), strides_of(plain));
    } else {
      continue;
    }
    user->getResult(0).setType(type);
    if (failed(update_views(user->getResult(0)))) return mlir::failure();
  }
  return mlir::success();
}

// tile[i, j] of thread (x, y) becomes array[i, j, y, x].
void index_by_thread(Value tile, Value array, mlir::ValueRange threads) {
  for (mlir::OpOperand& use : llvm::make_early_inc_range(tile.getUses())) {
    Operation* op = use.getOwner();
    // Taken before the operands change, which moves them in memory.
    const unsigned buffer = use.getOperandNumber(), count = static_cast<unsigned>(type_of(tile).getRank());
    llvm::SmallVector<Value> indices(op->getOperands().slice(buffer + 1, count));
    llvm::append_range(indices, threads);
    op->setOperand(buffer, array);
    op->setOperands(buffer + 1, count, indices);
  }
}

mlir::LogicalResult share(tile::ThreadsOp threads, tile::AllocOp alloc) {
  const mlir::MemRefType type = type_of(alloc.getBuffer());
  const llvm::SmallVector<int64_t> around = threads_shape(threads);
  const llvm::SmallVector<Value> ids = reversed(threads.getBody().getArguments());
  const bool elements = llvm::all_of(alloc.getBuffer().getUsers(), is_element_access);
  llvm::SmallVector<int64_t> shape(elements ? type.getShape() : llvm::ArrayRef<int64_t>(around));
  llvm::append_range(shape, elements ? llvm::ArrayRef<int64_t>(around) : type.getShape());

  mlir::ImplicitLocOpBuilder builder(alloc.getLoc(), threads);
  Value array = builder.create<tile::AllocOp>(tile::buffer_type(shape, type.getElementType(), tile::Space::shared),
                                              alloc.getNameAttr(), alloc.getAlignAttr());
  if (elements) {
    index_by_thread(alloc.getBuffer(), array, ids);
    alloc.erase();
    return mlir::success();
  }
  builder.setInsertionPointToStart(&threads.getBody().front());
  llvm::SmallVector<Value> offsets(ids);
  llvm::SmallVector<int64_t> dims;
  Value zero = builder.create<arith::ConstantIndexOp>(0);
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    offsets.push_back(zero);
    dims.push_back(static_cast<int64_t>(around.size()) + dim);
  }
  auto own = strided(type_of(array), type.getShape(), strides_of(type));
  Value slice = builder.create<tile::SliceOp>(own, array, offsets, builder.getDenseI64ArrayAttr(dims));
  alloc.getBuffer().replaceAllUsesWith(slice);
  alloc.erase();
  return update_views(slice);
}

}  // namespace

llvm::SmallVector<int64_t> threads_shape(tile::ThreadsOp threads) {
  return llvm::SmallVector<int64_t>(llvm::reverse(threads.getExtents()));
}

llvm::SmallVector<Value> reversed(mlir::ValueRange thread_ids) {
  return llvm::SmallVector<Value>(llvm::reverse(thread_ids));
}

mlir::LogicalResult share_local_tiles(tile::ThreadsOp threads) {
  llvm::SmallVector<tile::AllocOp> allocs;
  threads.walk([&](tile::AllocOp alloc) { allocs.push_back(alloc); });
  for (tile::AllocOp alloc : allocs) {
    if (tile::space_of(type_of(alloc.getBuffer())) != tile::Space::local) {
      alloc->moveBefore(threads);  // one for the block
    } else if (failed(share(threads, alloc))) {
      return mlir::failure();
    }
  }
  return mlir::success();
}

}  // namespace deep_accel::compile
