// What the compiler decided, read off the program after the passes on tiles.
#pragma once

#include <string>

#include "deep_accel/compile/target/target.h"
#include "mlir/IR/BuiltinOps.h"

namespace deep_accel::compile {

// JSON text; docs/tilelang.md describes it. `written` is the program before the passes, whose operations say what they
// cost; `decided` the one after them, with the attributes that they leave: tile.decisions, tile.arena_bytes,
// tile.buffer_bytes on grids; tile.offset, tile.panels, tile.storage on allocs; tile.register_tile on products.
std::string explanation(mlir::ModuleOp written, mlir::ModuleOp decided, const Target& target);

}  // namespace deep_accel::compile
