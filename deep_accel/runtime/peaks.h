// What this machine can do at most, measured: the roof of the roofline.
#pragma once

#include <optional>
#include <string>

namespace deep_accel {

// In 10^9 bytes a second that the program reads and writes (a write's read of the line that it replaces is not
// counted).
struct Bandwidth {
  double read = 0;            // sum of an array
  double copy = 0;            // b = a
  double copy_streaming = 0;  // b = a, past the caches
  double triad = 0;           // a = b + s * c

  double best() const;
};

struct Peaks {
  int threads = 1;            // of the `all` figures
  std::string instructions;   // what the chains were compiled for: "avx512", "avx2", "neon", "generic"
  double f32_gflops_one = 0;  // multiply-adds, two operations each, in 10^9 operations a second, on one thread
  double f32_gflops_all = 0;
  Bandwidth one, all;
};

// Medians of several repeats. About a second; `quick` about a third. threads 0: num_threads().
Peaks measure_peaks(int threads = 0, bool quick = false);

// Whether others used the processors during the measurement: more threads were clearly slower than one.
bool disturbed(const Peaks& peaks);

// As measured before on such a processor with that many threads (0: num_threads()), if it was.
std::optional<Peaks> known_peaks(int threads = 0);

// known_peaks(), else (or `fresh`) measured now and, unless disturbed, kept (a file in cache_directory()).
Peaks cached_peaks(int threads = 0, bool fresh = false);

}  // namespace deep_accel
