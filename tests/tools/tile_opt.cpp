// mlir-opt for the tile dialect and the passes on tiles by name, behind RUN lines of tests/lit: it takes a file text by
// text (-----), expects errors where the file says so, and shows what operations answer through their interface. What
// users do stands behind `deepaccel tile`.
#include "deep_accel/compile/passes/passes.h"
#include "deep_accel/tile/ir/dialect.h"
#include "llvm/Support/FormatVariadic.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

namespace {

// What tile::Program::parse asks beyond the operations' own verifiers.
struct VerifyProgram : mlir::PassWrapper<VerifyProgram, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyProgram)
  llvm::StringRef getArgument() const final { return "verify-program"; }
  llvm::StringRef getDescription() const final { return "Check what holds for a program as users write it"; }
  void runOnOperation() final {
    if (mlir::failed(deep_accel::tile::verify_program(getOperation()))) signalPassFailure();
  }
};

// Prints for each operation of tile.kernel what it answers through its interface, as remarks.
struct PrintAccesses : mlir::PassWrapper<PrintAccesses, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrintAccesses)
  llvm::StringRef getArgument() const final { return "print-accesses"; }
  llvm::StringRef getDescription() const final { return "Remark what operations read and write, and what they cost"; }
  void runOnOperation() final {
    getOperation().walk<mlir::WalkOrder::PreOrder>([](deep_accel::tile::TileOp op) {
      auto remark = mlir::emitRemark(op.getLoc());
      for (const auto& access : op.accesses()) {
        const bool is_view = deep_accel::tile::root_buffer(access.buffer) != access.buffer;
        remark << (access.reads ? "reads " : "") << (access.writes ? "writes " : "") << (access.covers ? "covers " : "")
               << (is_view ? "a view of " : "") << deep_accel::tile::buffer_name(access.buffer) << "; ";
      }
      remark << llvm::formatv("{0:F0} flops, {1:F1} bytes", op.cost().flops, op.cost().bytes).str();
    });
  }
};

}  // namespace

int main(int argc, char** argv) {
  mlir::DialectRegistry registry;
  deep_accel::tile::register_dialects(registry);
  deep_accel::compile::register_passes();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::PassRegistration<VerifyProgram>();
  mlir::PassRegistration<PrintAccesses>();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "mlir-opt for the tile dialect and the passes on tiles\n", registry));
}
