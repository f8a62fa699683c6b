// What a kernel's arguments and phases are, for those who launch it.
#pragma once

#include <string>

#include "deep_accel/runtime/kernel_signature.h"
#include "deep_accel/tile/program.h"

namespace mlir {
class Operation;
}

namespace deep_accel::tile {

// The kernel's signature; `kernel` may be empty where the program has one. Throws ValueError where there is none of
// that name.
KernelSignature signature_of(const Program& program, const std::string& kernel = "");

// The same as text, of a tile.kernel operation. arena_bytes is the largest `tile.arena_bytes` among its grids.
std::string signature_json(mlir::Operation* kernel, const std::string& target = "");

}  // namespace deep_accel::tile
