// Prefetches that are issued little by little while something else computes, which hides their way from memory.
#pragma once

#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::compile {

// What issues a prefetch, line by line: the next product or the next map of its block.
enum class PrefetchHost { none, product, map };

inline void set_prefetch_host(tile::PrefetchOp op, PrefetchHost host) {
  const char* name = host == PrefetchHost::product ? "product" : "map";
  op->setAttr("tile.during", mlir::StringAttr::get(op->getContext(), name));
}

inline PrefetchHost prefetch_host(tile::PrefetchOp op) {
  auto name = op->getAttrOfType<mlir::StringAttr>("tile.during");
  if (!name) return PrefetchHost::none;
  return name.getValue() == "product" ? PrefetchHost::product : PrefetchHost::map;
}

}  // namespace deep_accel::compile
