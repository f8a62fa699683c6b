// What the compiler decided, read off the program after the passes on tiles.
#pragma once

#include <map>
#include <string>

#include "deep_accel/compile/target/target.h"
#include "mlir/IR/BuiltinOps.h"

namespace deep_accel::compile {

// One program at three moments.
struct Stages {
  mlir::ModuleOp written;  // before the passes: its operations say what they cost; sizes that are given are constants
  // After the passes on tiles, with the attributes that they leave: tile.decisions, tile.arena_bytes, tile.buffer_bytes
  // on grids; tile.offset, tile.panels, tile.storage on allocs; tile.register_tile on products.
  mlir::ModuleOp decided;
  mlir::ModuleOp lowered;  // as functions, with tile.loops on those of phases
};

// JSON text; docs/tilelang.md describes it. `sizes` of named dimensions are for the estimate of a whole launch.
std::string explanation(Stages stages, const std::map<std::string, int64_t>& sizes, const Target& target);

}  // namespace deep_accel::compile
