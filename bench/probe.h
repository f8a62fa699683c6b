// Whether the machine is ours: a piece of work of known length, between measurements.
#pragma once

namespace deep_accel::bench {

// Seconds of some 0.05 ms of work in the first cache on each of `threads` threads at once, the slowest of them:
// multiply-adds, loads and integers in the mix of a product. A neighbour on the same core, or a slower clock, shows at
// once; peaks of multiply-adds alone leave issue slots for a neighbour, and hide it.
double probe(int threads);

}  // namespace deep_accel::bench
