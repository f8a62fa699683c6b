#include "harness.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "deep_accel/base/error.h"
#include "deep_accel/base/files.h"
#include "deep_accel/compile/compiler.h"
#include "probe.h"

namespace deep_accel::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kTurnSeconds = 0.02;
constexpr double kQuiet = 1.04;  // probes that took no longer, in terms of the best, found the machine quiet
constexpr int kMostRounds = 4;   // times the rounds that are wanted, in search of quiet ones

double seconds_of(const std::function<void()>& run, int64_t repeats) {
  const Clock::time_point start = Clock::now();
  for (int64_t i = 0; i < repeats; ++i) run();
  return std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(repeats);
}

// One measurement, and how much longer the probe took around it than it can.
struct Turn {
  double seconds, disturbance;
};

bool is_quiet(const Turn& turn) { return turn.disturbance <= kQuiet; }

// The machine beside its best moment so far.
class Quiet {
 public:
  explicit Quiet(int threads) : threads_(threads), best_(best_of(threads)) {
    for (int i = 0; i < 50; ++i) disturbance();
  }
  double disturbance() {
    const double seconds = probe(threads_);
    best_ = std::min(best_, seconds);
    return seconds / best_;
  }

 private:
  static double& best_of(int threads) {
    static std::map<int, double> best;
    return best.try_emplace(threads, INFINITY).first->second;
  }

  int threads_;
  double& best_;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Of the quiet turns; where they are too few, of as many as were wanted, the least disturbed.
double median_of_quiet(std::vector<Turn>& turns, int wanted) {
  std::sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) { return a.disturbance < b.disturbance; });
  const auto quiet = static_cast<size_t>(std::count_if(turns.begin(), turns.end(), is_quiet));
  turns.resize(std::min(turns.size(), std::max(quiet, static_cast<size_t>(wanted))));
  std::vector<double> seconds;
  for (const Turn& turn : turns) seconds.push_back(turn.seconds);
  return median(std::move(seconds));
}

void move_to(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  sched_setaffinity(0, sizeof(one), &one);
}

double highest(const std::vector<Peaks>& measured, double (*figure)(const Peaks&)) {
  double best = 0;
  for (const Peaks& peaks : measured) best = std::max(best, figure(peaks));
  return best;
}

}  // namespace

std::vector<double> take_turns(const std::vector<Contestant>& contestants, int rounds, int threads) {
  std::vector<int64_t> repeats;
  for (const Contestant& contestant : contestants) {
    contestant.run();  // touches memory, makes threads
    const double once = seconds_of(contestant.run, 1);
    repeats.push_back(std::max<int64_t>(1, static_cast<int64_t>(kTurnSeconds / std::max(once, 1e-9))));
  }
  Quiet quiet(threads);
  std::vector<std::vector<Turn>> turns(contestants.size());
  for (int round = 0; round < kMostRounds * rounds; ++round) {
    for (size_t i = 0; i < contestants.size(); ++i) {
      const double before = quiet.disturbance();
      const double seconds = seconds_of(contestants[i].run, repeats[i]);
      turns[i].push_back({seconds, std::max(before, quiet.disturbance())});
    }
    if (round + 1 < rounds) continue;
    const bool enough = std::all_of(turns.begin(), turns.end(), [&](const std::vector<Turn>& of_one) {
      return std::count_if(of_one.begin(), of_one.end(), is_quiet) >= rounds;
    });
    if (enough) break;
  }
  std::vector<double> medians;
  for (std::vector<Turn>& of_one : turns) medians.push_back(median_of_quiet(of_one, rounds));
  return medians;
}

Pinned::Pinned(bool pin) {
  cpu_set_t allowed;
  if (!pin || sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
  before_.resize(sizeof(allowed));
  std::memcpy(before_.data(), &allowed, sizeof(allowed));
  int quietest = -1, tried = 0;
  double least = INFINITY;
  for (int cpu = CPU_SETSIZE; cpu-- > 0 && tried < 8;) {  // from the last on: interrupts prefer the first
    if (!CPU_ISSET(cpu, &allowed)) continue;
    ++tried;
    move_to(cpu);
    std::vector<double> seconds;
    for (int i = 0; i < 101; ++i) seconds.push_back(probe(1));
    const double usual = median(std::move(seconds));
    if (usual < least) least = usual, quietest = cpu;
  }
  if (quietest >= 0) move_to(quietest);
}

Pinned::~Pinned() {
  if (before_.empty()) return;
  cpu_set_t allowed;
  std::memcpy(&allowed, before_.data(), sizeof(allowed));
  sched_setaffinity(0, sizeof(allowed), &allowed);
}

Roof::Roof(int threads) : threads_(threads), measured_(all_of(threads)) { measure_again(); }

std::vector<Peaks>& Roof::all_of(int threads) {
  static std::map<int, std::vector<Peaks>> all;
  return all[threads];
}

void Roof::measure_again() { measured_.push_back(measure_peaks(threads_, /*quick=*/true)); }

double Roof::gflops() const {
  return highest(measured_, [](const Peaks& peaks) { return peaks.f32_gflops_all; });
}

double Roof::copy() const {
  return highest(measured_, [](const Peaks& peaks) { return std::max(peaks.all.copy, peaks.all.copy_streaming); });
}

double Roof::best_bandwidth() const {
  return highest(measured_, [](const Peaks& peaks) { return peaks.all.best(); });
}

std::string kernel_text(const std::string& file) { return read_text(std::string(DEEP_ACCEL_BENCH_KERNELS "/") + file); }

std::string with_stages(std::string text, int stages) {
  const std::string written = "stages(3)";
  const size_t at = text.find(written);
  if (at == std::string::npos) throw ValueError("the kernel has no 'stages(3)'");
  return text.replace(at, written.size(), "stages(" + std::to_string(stages) + ")");
}

std::shared_ptr<const Kernel> compiled(const std::string& text) {
  return compile::jit(tile::Program::parse(text, "bench"));
}

Tensor random_tensor(const Dims& shape, uint64_t seed) {
  const Tensor tensor = Tensor::empty(DType::f32, shape);
  uint64_t state = seed * 0x9e3779b97f4a7c15 + 1;
  for (float *at = tensor.data<float>(), *end = at + tensor.size(); at != end; ++at) {
    state = state * 6364136223846793005 + 1442695040888963407;
    *at = static_cast<float>(static_cast<int64_t>(state) >> 40) * 0x1p-23f;
  }
  return tensor;
}

void Report::add(const Result& result) {
  results_.push_back(result);
  std::printf("  %-34s %d thread%s  %-22s %10.4g %-8s", result.subject.c_str(), result.threads,
              result.threads == 1 ? " " : "s", result.name.c_str(), result.value, result.unit.c_str());
  if (result.roof > 0) std::printf("  %5.1f %% of %.4g", 100 * result.value / result.roof, result.roof);
  std::printf("\n");
  std::fflush(stdout);
}

nlohmann::json Report::json() const {
  nlohmann::json lines = nlohmann::json::array();
  for (const Result& result : results_) {
    lines.push_back({{"group", result.group},
                     {"subject", result.subject},
                     {"threads", result.threads},
                     {"name", result.name},
                     {"value", result.value},
                     {"unit", result.unit},
                     {"roof", result.roof}});
  }
  return lines;
}

}  // namespace deep_accel::bench
