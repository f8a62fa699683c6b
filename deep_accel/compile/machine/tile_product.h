// Bodies of the functions that target/tile_product.h describes.
#pragma once

#include "deep_accel/compile/target/tile_product.h"
#include "llvm/IR/Function.h"

namespace deep_accel::compile {

void define_tile_product(llvm::Function& function, const TileProduct& product);

}  // namespace deep_accel::compile
