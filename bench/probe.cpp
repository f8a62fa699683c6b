#include "probe.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>

#include "deep_accel/runtime/workers.h"

namespace deep_accel::bench {
namespace {

using Vector = float __attribute__((vector_size(32)));
constexpr int kSums = 8, kVectors = 256, kRepeats = 60;

// Never read, but the compiler does not know.
volatile float sink;  // NOLINT

double run_once() {
  alignas(64) static const std::array<Vector, kVectors> data{};
  std::array<Vector, kSums> sums{};
  uint32_t state = 1;
  const auto start = std::chrono::steady_clock::now();
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (int i = 0; i < kVectors; i += 2) {
      const Vector a = data[static_cast<size_t>(i)], b = data[static_cast<size_t>(i + 1)];
      for (Vector& sum : sums) sum += a * sum + b;
      state = state * 1664525 + 1013904223;
      asm volatile("" : "+r"(state), "+m"(sums));  // each round is done, in this order
    }
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  sink = sums[0][0] + static_cast<float>(state);
  return seconds;
}

}  // namespace

double probe(int threads) {
  std::mutex mutex;
  double slowest = 0;
  run_on_workers(threads, [&](int) {
    const double seconds = run_once();
    std::lock_guard lock(mutex);
    slowest = std::max(slowest, seconds);
  });
  return slowest;
}

}  // namespace deep_accel::bench
