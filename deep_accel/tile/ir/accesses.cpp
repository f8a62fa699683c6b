// Which buffers each operation reads and writes. Hazards, liveness and buffer reuse are decided from these answers, so
// `covers` is said only where it is proven.
#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::tile {

using mlir::Operation;
using mlir::Region;
using mlir::Value;
using AccessList = llvm::SmallVector<Access>;

namespace {

// One access for each buffer value, in order of first mention.
class Collector {
 public:
  Collector& read(Value buffer) {
    if (buffer) entry(buffer).reads = true;
    return *this;
  }
  Collector& write(Value buffer) {
    entry(buffer).writes = true;
    return *this;
  }
  Collector& cover(Value buffer) {
    entry(buffer).writes = entry(buffer).covers = true;
    return *this;
  }
  Collector& update(Value buffer) { return read(buffer).write(buffer); }
  Collector& add(Value buffer, const Access& access) {
    Access& known = entry(buffer);
    known.reads |= access.reads;
    known.writes |= access.writes;
    return *this;
  }

  // An operation that reads what it covers, perhaps through another view, does not overwrite before it reads.
  AccessList take() {
    for (Access& access : accesses_) {
      if (!access.covers) continue;
      Value root = root_buffer(access.buffer);
      access.covers = llvm::none_of(
          accesses_, [&](const Access& other) { return other.reads && root_buffer(other.buffer) == root; });
    }
    return std::move(accesses_);
  }

 private:
  Access& entry(Value buffer) {
    for (Access& access : accesses_) {
      if (access.buffer == buffer) return access;
    }
    accesses_.push_back({buffer});
    return accesses_.back();
  }

  AccessList accesses_;
};

// The value defined outside `region` that `buffer` is, or is a view of; null for a buffer of the region's own.
Value seen_outside(Value buffer, Region& region) {
  while (region.isAncestor(buffer.getParentRegion())) {
    auto view = buffer.getDefiningOp<mlir::ViewLikeOpInterface>();
    if (!view) return {};
    buffer = view.getViewSource();
  }
  return buffer;
}

// True where the indices, over all points of the map, are all indices of the buffer.
bool spans(MapOp map, Value buffer, mlir::OperandRange indices) {
  auto type = mlir::cast<mlir::MemRefType>(buffer.getType());
  if (!type.hasStaticShape()) return false;
  if (llvm::any_of(map.getStaticSizes(), [](int64_t size) { return mlir::ShapedType::isDynamic(size) || size < 1; })) {
    return false;
  }
  llvm::SmallBitVector used(map.rank());
  for (auto [index, extent] : llvm::zip_equal(indices, type.getShape())) {
    if (extent == 1 && constant_index(index) == 0) continue;
    auto variable = mlir::dyn_cast<mlir::BlockArgument>(index);
    if (!variable || variable.getOwner() != &map.getBody().front()) return false;
    const unsigned number = variable.getArgNumber();
    if (used.test(number) || map.getStaticSizes()[number] != extent) return false;
    used.set(number);
  }
  return true;
}

// True where `op`, which touches the buffer that `write` sets, finds only what `write` has set in the same iteration.
bool comes_after(Operation* op, WriteOp write) {
  Operation* ancestor = write->getBlock()->findAncestorOpInBlock(*op);
  if (!ancestor || !write->isBeforeInBlock(ancestor)) return false;
  auto same = [&](Value buffer, mlir::OperandRange indices) {
    return buffer == write.getBuffer() && llvm::equal(indices, write.getIndices());
  };
  if (auto read = mlir::dyn_cast<ReadOp>(op)) return same(read.getBuffer(), read.getIndices());
  if (auto combine = mlir::dyn_cast<CombineOp>(op)) return same(combine.getBuffer(), combine.getIndices());
  return false;
}

// True where the write sets every element before any iteration reads one.
bool covers(MapOp map, WriteOp write) {
  Value buffer = write.getBuffer();
  if (!spans(map, buffer, write.getIndices())) return false;
  Value root = root_buffer(buffer);
  auto result = map.getBody().walk([&](TileOp op) {
    for (const Access& access : op.accesses()) {
      if (access.reads && root_buffer(access.buffer) == root && !comes_after(op, write)) {
        return mlir::WalkResult::interrupt();
      }
    }
    return mlir::WalkResult::advance();
  });
  return !result.wasInterrupted();
}

// A store into a window that is the whole destination.
bool fills(Value tile, Value dest, mlir::OperandRange indices, std::optional<llvm::ArrayRef<int64_t>> dims) {
  auto from = mlir::cast<mlir::MemRefType>(tile.getType()), to = mlir::cast<mlir::MemRefType>(dest.getType());
  return !dims && from.getShape() == to.getShape() &&
         llvm::all_of(indices, [](Value index) { return constant_index(index) == 0; });
}

}  // namespace

AccessList region_accesses(Region& region) {
  Collector all;
  region.walk<mlir::WalkOrder::PreOrder>([&](TileOp op) {
    for (const Access& access : op.accesses()) {
      if (Value buffer = seen_outside(access.buffer, region)) all.add(buffer, access);
    }
    return mlir::WalkResult::skip();
  });
  return all.take();
}

// Moves ---------------------------------------------------------------------------------------------------------------

AccessList LoadOp::accesses() { return Collector().read(getSource()).cover(getTile()).take(); }
AccessList AsyncLoadOp::accesses() { return Collector().read(getSource()).cover(getTile()).take(); }
AccessList CopyOp::accesses() { return Collector().read(getSource()).cover(getDest()).take(); }
AccessList TransposeOp::accesses() { return Collector().read(getSource()).cover(getDest()).take(); }
AccessList Im2colOp::accesses() { return Collector().read(getImage()).cover(getTile()).take(); }
AccessList GatherOp::accesses() { return Collector().read(getSource()).read(getRows()).cover(getTile()).take(); }

AccessList StoreOp::accesses() {
  Collector all;
  all.read(getTile());
  return fills(getTile(), getDest(), getIndices(), getDims()) ? all.cover(getDest()).take()
                                                              : all.write(getDest()).take();
}

AccessList ScatterOp::accesses() {
  Collector all;
  all.read(getTile()).read(getRows());
  return getCombine() ? all.update(getDest()).take() : all.write(getDest()).take();
}

// Compute -------------------------------------------------------------------------------------------------------------

AccessList ReadOp::accesses() { return Collector().read(getBuffer()).take(); }
AccessList WriteOp::accesses() {
  return getIndices().empty() ? Collector().cover(getBuffer()).take() : Collector().write(getBuffer()).take();
}
AccessList CombineOp::accesses() { return Collector().update(getBuffer()).take(); }
AccessList AtomicOp::accesses() { return Collector().update(getBuffer()).take(); }
AccessList AtomicStoreOp::accesses() { return Collector().read(getTile()).update(getDest()).take(); }
AccessList FillOp::accesses() { return Collector().cover(getTile()).take(); }
AccessList ScanOp::accesses() { return Collector().read(getSource()).cover(getDest()).take(); }

AccessList ReduceOp::accesses() {
  Collector all;
  all.read(getSource());
  return getClear() ? all.cover(getDest()).take() : all.update(getDest()).take();
}

AccessList GemmOp::accesses() {
  Collector all;
  all.read(getA()).read(getB()).read(getScaleA()).read(getScaleB());
  return getClear() ? all.cover(getAcc()).take() : all.update(getAcc()).take();
}

AccessList SparseGemmOp::accesses() {
  Collector all;
  all.read(getA()).read(getPositions()).read(getB());
  return getClear() ? all.cover(getAcc()).take() : all.update(getAcc()).take();
}

AccessList MapOp::accesses() {
  AccessList all = region_accesses(getBody());
  for (auto write : getBody().front().getOps<WriteOp>()) {
    for (Access& access : all) {
      if (access.buffer == write.getBuffer() && !access.covers) access.covers = covers(*this, write);
    }
  }
  return all;
}

AccessList ThreadsOp::accesses() { return region_accesses(getBody()); }

// Foreign code and output ---------------------------------------------------------------------------------------------

AccessList ExternOp::accesses() {
  Collector all;
  for (int64_t operand : getReads()) all.read(getOperand(operand));
  for (int64_t operand : getWrites()) all.write(getOperand(operand));
  return all.take();
}

AccessList PrintOp::accesses() {
  Collector all;
  for (Value value : getValues()) {
    if (is_buffer(value.getType())) all.read(value);
  }
  return all.take();
}

}  // namespace deep_accel::tile
