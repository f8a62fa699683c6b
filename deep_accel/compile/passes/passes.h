// The compiler's passes over the tile dialect, each in a file of its own name. They run on a module or on one kernel.
#pragma once

#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::compile {

// Places every tile of a grid in one arena, so that tiles which are never needed together share memory. Writes
// `tile.offset` (bytes) on the allocs, `tile.arena_bytes` and `tile.buffer_bytes` (the sum without sharing) on the
// grid. An arena above `limit_bytes` is an error that names the largest tiles.
std::unique_ptr<mlir::Pass> make_plan_arena_pass(int64_t limit_bytes = int64_t{64} << 20);

// Replaces tile.threads by maps over the threads, cut at the barriers; what a thread keeps across a barrier, and its
// local tiles, become arrays over the threads.
std::unique_ptr<mlir::Pass> make_lower_threads_pass();

// Replaces tile.pipeline by loops, with prefetches ahead of the iterations where the hardware would not foresee the
// addresses, and asynchronous loads by plain ones after checking that nobody touches the tile before the wait.
std::unique_ptr<mlir::Pass> make_plan_pipeline_pass();

// Makes the passes known by name: plan-arena, lower-threads, plan-pipeline.
void register_passes();

}  // namespace deep_accel::compile
