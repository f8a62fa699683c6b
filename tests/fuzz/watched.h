// Runs inputs in child processes under limits of time and memory, so that whatever an input does is seen from outside.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace deep_accel::test {

struct Limits {
  int seconds = 20;                  // of processor time for one input; five times that under sanitizers
  int64_t bytes = int64_t{6} << 30;  // of address space; not under sanitizers, which take all there is
  int processes = 2;
  double total_seconds = 1e9;  // after which no more inputs are begun
};

struct Failure {
  uint64_t input = 0;
  std::string what;  // "signal 11 (Segmentation fault)", "more than 20 seconds", or what the check said
};

struct WatchedRun {
  uint64_t done = 0;  // inputs whose check returned
  std::vector<Failure> failures;
};

// Calls `check` for inputs first to first + count - 1, some of them at a time. What it returns, unless empty, what it
// throws, and the end of its process are failures.
WatchedRun run_watched(uint64_t first, uint64_t count, const Limits& limits,
                       const std::function<std::string(uint64_t)>& check);

}  // namespace deep_accel::test
