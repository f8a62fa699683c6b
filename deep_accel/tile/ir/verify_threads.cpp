// Verifiers of code for threads: where it may stand, and what the operations between threads take.
#include "deep_accel/tile/ir/verify.h"
#include "llvm/Support/MathExtras.h"

namespace deep_accel::tile {

using mlir::Operation;

namespace {

constexpr int64_t kMostThreads = 4096;
constexpr int64_t kWidestGroup = 1024;

// Operations that all threads reach together: in tile.threads, with nothing between but uniform control flow.
LogicalResult check_in_threads(Operation* op) {
  Operation* parent = op->getParentOp();
  while (mlir::isa_and_nonnull<mlir::scf::ForOp, mlir::scf::WhileOp, mlir::scf::IfOp>(parent)) {
    parent = parent->getParentOp();
  }
  if (mlir::isa_and_nonnull<ThreadsOp>(parent)) return success();
  // Lowered code has no tile.kernel around it, and its own rules.
  if (!around<KernelOp>(op)) return success();
  return op->emitOpError() << "stands in " << parent->getName()
                           << "; it belongs in tile.threads, at the top or in scf.for, scf.while and scf.if";
}

LogicalResult check_width(Operation* op, int64_t width) {
  if (width >= 1 && width <= kWidestGroup && llvm::isPowerOf2_64(static_cast<uint64_t>(width))) return success();
  return op->emitOpError() << "expects width to be a power of two from 1 to " << kWidestGroup << ", got " << width;
}

}  // namespace

LogicalResult ThreadsOp::verify() {
  llvm::ArrayRef<int64_t> extents = getExtents();
  if (extents.empty() || extents.size() > 3) return emitOpError() << "expects 1 to 3 extents, got " << extents.size();
  int64_t threads = 1;
  for (int64_t extent : extents) {
    if (extent < 1 || extent > kMostThreads || (threads *= extent) > kMostThreads) {
      return emitOpError() << "expects positive extents of at most " << kMostThreads << " threads together, got "
                           << shape_text(extents);
    }
  }
  if (auto parent = getOperation()->getParentOfType<ThreadsOp>()) {
    return emitOpError("stands in another tile.threads; give one of them up to three extents");
  }
  if (around<KernelOp>(*this) && !around<GridOp>(*this)) {
    return emitOpError("stands outside tile.grid; threads belong to a block");
  }
  return check_region_arguments(*this, getBody(), extents.size());
}

LogicalResult BarrierOp::verify() {
  if (failed(check_in_threads(*this))) return failure();
  if (getId() && static_cast<int64_t>(*getId()) < 0) {
    return emitOpError() << "has id " << static_cast<int64_t>(*getId()) << "; ids are not negative";
  }
  if (!getCount()) return success();
  if (!getId()) return emitOpError("has a count but no id; name the barrier of a part of the threads by an id");
  auto threads = around<ThreadsOp>(*this);
  const int64_t most = threads ? threads.count() : kMostThreads, count = static_cast<int64_t>(*getCount());
  if (count >= 1 && count <= most) return success();
  return emitOpError() << "expects count to be 1 to " << most << ", the number of threads, got " << count;
}

LogicalResult ShuffleOp::verify() {
  if (failed(check_in_threads(*this))) return failure();
  return check_width(*this, static_cast<int64_t>(getWidth()));
}

LogicalResult VoteOp::verify() {
  if (failed(check_in_threads(*this))) return failure();
  return check_width(*this, static_cast<int64_t>(getWidth()));
}

}  // namespace deep_accel::tile
