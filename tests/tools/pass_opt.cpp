// mlir-opt for the tile dialect and the compiler's own passes by name, behind RUN lines of tests/lit.
#include "deep_accel/compile/passes/passes.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char** argv) {
  mlir::DialectRegistry registry;
  deep_accel::tile::register_dialects(registry);
  deep_accel::compile::register_passes();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "DeepAccel's passes\n", registry));
}
