// What holds for whole programs as users write them: a closed set of operations, each where it belongs. Passes lower a
// kernel in place and go beyond these rules, so they are asked once, on what comes in.
#include "deep_accel/tile/ir/verify.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace deep_accel::tile {

using mlir::Operation;
using mlir::ShapedType;
using mlir::Value;

namespace {

namespace scf = mlir::scf;

// Code of this length takes a compiler minutes, and nobody writes it.
constexpr int64_t kMostOperations = 10'000;

bool is_scalar_code(Operation* op) {
  return mlir::isa_and_nonnull<mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::index::IndexDialect>(
             op->getDialect()) ||
         mlir::isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::IndexSwitchOp, scf::YieldOp, scf::ConditionOp,
                   mlir::ub::PoisonOp>(op);
}

// Scalars of 1 to 64 bits that arithmetic knows.
bool is_scalar(mlir::Type type) {
  if (type.isIndex()) return true;
  if (auto integer = mlir::dyn_cast<mlir::IntegerType>(type)) {
    return integer.isSignless() && integer.getWidth() >= 1 && integer.getWidth() <= 64;
  }
  return type.isF64() || type.isF32() || type.isF16() || type.isBF16() || type.isFloat8E4M3FN() || type.isFloat8E5M2();
}

// Buffers and tokens are made by tile operations alone: control flow and arithmetic do not choose between them.
LogicalResult check_results(Operation* op) {
  const bool of_tile = mlir::isa<TileDialect>(op->getDialect());
  for (mlir::Type type : op->getResultTypes()) {
    if (is_scalar(type) || (of_tile && (is_buffer(type) || mlir::isa<TokenType>(type)))) continue;
    return op->emitOpError()
           << "gives a value of type " << type
           << "; kernels compute with scalars of up to 64 bits, and only tile operations give buffers";
  }
  return success();
}

// Views and remarks, which may stand anywhere.
bool is_anywhere(Operation* op) {
  return is_scalar_code(op) ||
         mlir::isa<DimOp, ExtentOp, SliceOp, ReshapeOp, BitcastOp, AssumeOp, AssertOp, PrintOp>(op);
}

bool is_in_map(Operation* op) {
  return is_anywhere(op) || mlir::isa<ReadOp, WriteOp, CombineOp, AtomicOp, ExternOp, PrefetchOp>(op);
}

LogicalResult check_place(Operation* op) {
  if (!mlir::isa_and_nonnull<TileDialect>(op->getDialect()) && !is_scalar_code(op)) {
    return op->emitOpError(
        "is not known in kernels, which take tile, arith, math and index operations, and scf.for, "
        "scf.while, scf.if and scf.index_switch");
  }
  if (op->getParentOfType<MapOp>()) {
    if (is_in_map(op)) return success();
    return op->emitOpError(
        "stands in tile.map, whose body is for single points; put it before or after the map, or "
        "loop over its elements with scf.for");
  }
  if (op->getParentOfType<ThreadsOp>()) {
    if (!mlir::isa<GemmOp, SparseGemmOp, PipelineOp, AsyncLoadOp, WaitOp>(op)) return success();
    return op->emitOpError(
        "stands in tile.threads, where each thread would do the whole of it; put it before or after");
  }
  if (op->getParentOfType<GridOp>() || mlir::isa<GridOp, AllocOp>(op) || is_anywhere(op)) return success();
  return op->emitOpError("stands outside tile.grid, where sizes are computed but nothing is read or written");
}

// Attributes of the dialect that are no part of an operation: users give hints for verification, passes leave the rest.
LogicalResult check_attributes(Operation* op) {
  for (mlir::NamedAttribute attribute : op->getDiscardableAttrs()) {
    llvm::StringRef name = attribute.getName();
    if (!name.starts_with("tile.") || (name == "tile.sizes" && mlir::isa<KernelOp>(op))) continue;
    return op->emitOpError() << "has the attribute " << name
                             << ", which the compiler's passes may set, and programs do not; leave it out";
  }
  return success();
}

// What runs whenever its block does: a constant index is right or wrong, not perhaps never used.
bool is_unconditional(Operation* op) {
  for (Operation* parent = op->getParentOp(); !mlir::isa<KernelOp>(parent); parent = parent->getParentOp()) {
    if (!mlir::isa<GridOp, PipelineOp, MapOp, ThreadsOp>(parent)) return false;
  }
  return true;
}

LogicalResult check_inside(Operation* op, Value buffer, mlir::OperandRange indices, llvm::ArrayRef<int64_t> window) {
  for (auto [dim, index] : llvm::enumerate(indices)) {
    auto known = constant_index(index);
    const int64_t size = memref(buffer).getDimSize(dim);
    if (!known || ShapedType::isDynamic(size)) continue;
    if (*known >= 0 && *known <= size - window[dim]) continue;
    return op->emitOpError() << "reaches outside " << buffer_name(buffer) << ": index " << *known << " in dimension "
                             << dim << ", which has room for 0 to " << size - window[dim];
  }
  return success();
}

LogicalResult check_constant_indices(Operation* op) {
  if (!mlir::isa<ReadOp, WriteOp, CombineOp, AtomicOp, SliceOp>(op) || !is_unconditional(op)) return success();
  return llvm::TypeSwitch<Operation*, LogicalResult>(op)
      .Case<ReadOp, WriteOp, CombineOp, AtomicOp>([](auto access) {
        llvm::SmallVector<int64_t> point(access.getIndices().size(), 1);
        return check_inside(access, access.getBuffer(), access.getIndices(), point);
      })
      .Case<SliceOp>([](SliceOp slice) {
        llvm::SmallVector<int64_t> window(slice.getOffsets().size(), 1);
        for (auto [index, size] : llvm::enumerate(memref(slice.getResult()).getShape())) {
          window[slice.source_dim(index)] = size;
        }
        return check_inside(slice, slice.getSource(), slice.getOffsets(), window);
      });
}

}  // namespace

LogicalResult verify_program(mlir::ModuleOp module) {
  int64_t operations = 0;
  module->walk([&](Operation*) { ++operations; });
  if (operations > kMostOperations) {
    return module.emitError() << "the program has " << operations << " operations, more than " << kMostOperations
                              << "; write loops, or split it";
  }
  for (Operation& op : *module.getBody()) {
    if (!mlir::isa<KernelOp>(op)) return op.emitOpError("stands beside kernels; a program holds tile.kernel alone");
    if (failed(check_attributes(&op))) return failure();
    auto result = mlir::cast<KernelOp>(op).getBody().walk<mlir::WalkOrder::PreOrder>([](Operation* inner) {
      const bool right = succeeded(check_place(inner)) && succeeded(check_results(inner)) &&
                         succeeded(check_attributes(inner)) && succeeded(check_constant_indices(inner));
      return right ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
    });
    if (result.wasInterrupted()) return failure();
  }
  return success();
}

}  // namespace deep_accel::tile
