// See factors.h.
#include "deep_accel/compile/passes/factors.h"

namespace deep_accel::compile {

tile::LoadOp filling_load(tile::GemmOp gemm, mlir::Value factor) {
  auto alloc = factor.getDefiningOp<tile::AllocOp>();
  if (!alloc) return {};
  tile::LoadOp load;
  for (mlir::Operation* user : alloc->getUsers()) {
    if (mlir::isa<tile::GemmOp>(user)) continue;
    auto candidate = mlir::dyn_cast<tile::LoadOp>(user);
    if (load || !candidate || candidate.getTile() != factor) return {};
    load = candidate;
  }
  return load && load->getBlock() == gemm->getBlock() && load->isBeforeInBlock(gemm) ? load : tile::LoadOp();
}

}  // namespace deep_accel::compile
