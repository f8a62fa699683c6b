// Measuring: contestants take turns (A B C A B C ...), so that what else the machine does meets them all alike; medians
// are compared. Between the turns a probe of known length tells whether somebody else has the machine; turns beside
// such a probe do not count where there are others. What the machine can do is measured before and after; the best
// counts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "deep_accel/runtime/kernel.h"
#include "deep_accel/runtime/peaks.h"

namespace deep_accel::bench {

struct Settings {
  bool quick = false;  // few rounds and small sizes: whether everything runs, not how fast
};

struct Contestant {
  std::string name;
  std::function<void()> run;
};

// Seconds of one run of each, on so many threads: the medians of `rounds` quiet turns. A turn repeats a run until it
// took a fair while. Where quiet is rare, up to four times the rounds are run, and the quietest are taken.
std::vector<double> take_turns(const std::vector<Contestant>& contestants, int rounds, int threads = 1);

// Puts this thread on one processor while it lives, so that measurements on one thread do not wander: of a few, the one
// that others leave alone the most.
class Pinned {
 public:
  explicit Pinned(bool pin);
  ~Pinned();
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

 private:
  std::vector<char> before_;
};

// What the machine can do: the best of all measurements of this process on so many threads, one before what is compared
// with it and one after.
class Roof {
 public:
  explicit Roof(int threads);
  void measure_again();
  double gflops() const;  // f32, on the threads asked for
  double copy() const;    // GB/s, read and written, the better of the two ways
  double best_bandwidth() const;

 private:
  static std::vector<Peaks>& all_of(int threads);

  int threads_;
  std::vector<Peaks>& measured_;
};

// A kernel of bench/kernels, its text; the text with another number of stages for `stages(3)`; the text compiled.
std::string kernel_text(const std::string& file);
std::string with_stages(std::string text, int stages);
std::shared_ptr<const Kernel> compiled(const std::string& text);

// Numbers in [-1, 1).
Tensor random_tensor(const Dims& shape, uint64_t seed);

// One line of a result: printed, and kept for the JSON file.
struct Result {
  std::string group;    // "product"
  std::string subject;  // "1024 x 1024 x 1024"
  int threads = 1;
  std::string name;  // contestant
  double value = 0;
  std::string unit;
  double roof = 0;  // in the same unit; 0: none
};

class Report {
 public:
  void add(const Result& result);
  nlohmann::json json() const;

 private:
  std::vector<Result> results_;
};

// The groups of benchmarks.
void bench_product(Report& report, const Settings& settings);
void bench_memory(Report& report, const Settings& settings);
void bench_latency(Report& report, const Settings& settings);
void bench_pipeline(Report& report, const Settings& settings);

}  // namespace deep_accel::bench
