// The local tiles of threads as arrays over all threads of the block.
#pragma once

#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::compile {

// Shape and indices of arrays over the threads: the first thread axis is the fastest, so it comes last.
llvm::SmallVector<int64_t> threads_shape(tile::ThreadsOp threads);
llvm::SmallVector<mlir::Value> reversed(mlir::ValueRange thread_ids);

// Moves the local tiles of the threads before the operation, as shared tiles with the threads' dimensions added: behind
// the tile's own where all accesses are to elements (so that neighbouring threads are neighbours in memory), before
// them where somebody wants a thread's tile as a whole.
mlir::LogicalResult share_local_tiles(tile::ThreadsOp threads);

}  // namespace deep_accel::compile
