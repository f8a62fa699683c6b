// What maps do element by element, as the passes that join them see it.
#pragma once

#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::compile {

// One element access in a map's body.
struct Element {
  mlir::Value buffer;
  mlir::ValueRange indices;
  bool reads, writes, combines;
};

// The accesses of a map's body; nullopt where it does more than reading, writing and combining elements.
std::optional<llvm::SmallVector<Element>> elements_of(tile::MapOp map);

// The same value in an iteration of `first` as in that iteration of `second`; or, without maps, always.
bool same_value(mlir::Value a, mlir::Value b, tile::MapOp first = {}, tile::MapOp second = {});

}  // namespace deep_accel::compile
