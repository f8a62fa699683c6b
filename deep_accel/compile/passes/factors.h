// Where the factors of products come from.
#pragma once

#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::compile {

// The load that alone fills a factor's tile, in the product's block and before it; null where there is none, or where
// others than products use the tile.
tile::LoadOp filling_load(tile::GemmOp gemm, mlir::Value factor);

}  // namespace deep_accel::compile
