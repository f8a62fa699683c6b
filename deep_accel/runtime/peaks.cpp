// Independent chains of multiply-adds in registers, and sweeps over arrays that no cache holds.
//
// A compiler merges chains that it can prove equal, and drops those whose result nobody uses. So each chain starts from
// its own value, read from memory, and all results are added up into a volatile.
#include "deep_accel/runtime/peaks.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <vector>

#include "deep_accel/base/error.h"
#include "deep_accel/base/files.h"
#include "deep_accel/base/log.h"
#include "deep_accel/runtime/device.h"
#include "deep_accel/runtime/tensor.h"
#include "deep_accel/runtime/workers.h"

namespace deep_accel {
namespace {

using Clock = std::chrono::steady_clock;

thread_local volatile float sink;

template <int Lanes>
using Vector __attribute__((vector_size(Lanes * sizeof(float)))) = float;

// Start values of the chains: near 1, all different, and nothing that the compiler knows.
const std::vector<float>& start_values() {
  static const std::vector<float> values = [] {
    std::vector<float> made(1024);
    for (size_t i = 0; i < made.size(); ++i) made[i] = 1.0f + static_cast<float>(i) / 4096.0f;
    return made;
  }();
  return values;
}

// x = x * m + a in each chain: m just below 1 and a small keep the values ordinary.
template <int Lanes, int Chains>
[[gnu::always_inline]] inline float run_chains(const float* start, int64_t iterations) {
#pragma clang fp contract(fast)
  using V = Vector<Lanes>;
  V chain[Chains], multiplier, addend;
  for (int k = 0; k < Chains; ++k) {
    for (int i = 0; i < Lanes; ++i) chain[k][i] = start[k * Lanes + i];
  }
  for (int i = 0; i < Lanes; ++i) {
    multiplier[i] = 1.0f / (start[i] + 1e-3f);
    addend[i] = start[i] * 1e-3f;
  }
  for (int64_t n = 0; n < iterations; ++n) {
#pragma clang loop unroll(full)
    for (int k = 0; k < Chains; ++k) chain[k] = chain[k] * multiplier + addend;
  }
  float sum = 0;
  for (int k = 0; k < Chains; ++k) {
    for (int i = 0; i < Lanes; ++i) sum += chain[k][i];
  }
  return sum;
}

// 16 floats a step, in eight sums.
[[gnu::always_inline]] inline float read_sweep(const float* a, int64_t count) {
  using V = Vector<16>;
  V sums[8] = {};
  const V* from = reinterpret_cast<const V*>(a);
  for (int64_t i = 0; i + 8 <= count / 16; i += 8) {
#pragma clang loop unroll(full)
    for (int k = 0; k < 8; ++k) sums[k] += from[i + k];
  }
  V total = {};
  for (const V& sum : sums) total += sum;
  float result = 0;
  for (int i = 0; i < 16; ++i) result += total[i];  // all lanes: the compiler would not load those that nobody uses
  return result;
}

[[gnu::always_inline]] inline void copy_sweep(const float* a, float* b, int64_t count) {
  using V = Vector<16>;
  const V* from = reinterpret_cast<const V*>(a);
  V* to = reinterpret_cast<V*>(b);
  for (int64_t i = 0; i < count / 16; ++i) {
    to[i] = from[i];
    asm volatile("" ::: "memory");  // lest the compiler calls memcpy, which streams on its own account
  }
}

[[gnu::always_inline]] inline void streaming_sweep(const float* a, float* b, int64_t count) {
  using V = Vector<16>;
  const V* from = reinterpret_cast<const V*>(a);
  V* to = reinterpret_cast<V*>(b);
  for (int64_t i = 0; i < count / 16; ++i) __builtin_nontemporal_store(from[i], to + i);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);  // streaming stores are done only then
}

[[gnu::always_inline]] inline void triad_sweep(float* a, const float* b, const float* c, float scale, int64_t count) {
  using V = Vector<16>;
  for (int64_t i = 0; i < count / 16; ++i) {
    reinterpret_cast<V*>(a)[i] = reinterpret_cast<const V*>(b)[i] + reinterpret_cast<const V*>(c)[i] * scale;
  }
}

// The loops for one set of instructions. The chains are enough to cover the latency of two units, and fit the
// registers.
struct Loops {
  const char* name;
  int64_t flops;  // of one iteration
  float (*chains)(const float*, int64_t);
  float (*read)(const float*, int64_t);
  void (*copy)(const float*, float*, int64_t);
  void (*streaming)(const float*, float*, int64_t);
  void (*triad)(float*, const float*, const float*, float, int64_t);
};

#define DEEP_ACCEL_LOOPS(NAME, TARGET, LANES, CHAINS)                                                       \
  TARGET float chains_##NAME(const float* start, int64_t n) { return run_chains<LANES, CHAINS>(start, n); } \
  TARGET float read_##NAME(const float* a, int64_t count) { return read_sweep(a, count); }                  \
  TARGET void copy_##NAME(const float* a, float* b, int64_t count) { copy_sweep(a, b, count); }             \
  TARGET void streaming_##NAME(const float* a, float* b, int64_t count) { streaming_sweep(a, b, count); }   \
  TARGET void triad_##NAME(float* a, const float* b, const float* c, float scale, int64_t count) {          \
    triad_sweep(a, b, c, scale, count);                                                                     \
  }                                                                                                         \
  constexpr Loops k_##NAME = {                                                                              \
      #NAME, int64_t{2} * LANES * CHAINS, chains_##NAME, read_##NAME, copy_##NAME, streaming_##NAME, triad_##NAME};

#if defined(__x86_64__)
DEEP_ACCEL_LOOPS(avx512, __attribute__((target("avx512f,avx512vl"))), 16, 16)
DEEP_ACCEL_LOOPS(avx2, __attribute__((target("avx2,fma"))), 8, 12)
DEEP_ACCEL_LOOPS(generic, , 4, 12)
#elif defined(__aarch64__)
DEEP_ACCEL_LOOPS(neon, , 4, 24)
#else
DEEP_ACCEL_LOOPS(generic, , 4, 8)
#endif
#undef DEEP_ACCEL_LOOPS

const Loops& loops() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) return k_avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return k_avx2;
  return k_generic;
#elif defined(__aarch64__)
  return k_neon;
#else
  return k_generic;
#endif
}

// Seconds of the median repeat; the first, which warms caches and clocks up, does not count.
template <typename Work>
double median_seconds(int repeats, Work work) {
  work();
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) {
    Clock::time_point start = Clock::now();
    work();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

double measure_flops(int threads, bool quick) {
  const float* start = start_values().data();
  auto run = [&](int64_t iterations) {
    run_on_workers(threads, [&](int) { sink = loops().chains(start, iterations); });
  };
  // As many iterations as take some milliseconds: long beside the waking of threads.
  double wanted = quick ? 0.004 : 0.015;
  int64_t iterations = 20000;
  for (;;) {
    double seconds = median_seconds(1, [&] { run(iterations); });
    if (seconds > wanted / 2) break;
    iterations *= 2;
  }
  double seconds = median_seconds(quick ? 5 : 9, [&] { run(iterations); });
  return static_cast<double>(loops().flops * iterations) * threads / seconds / 1e9;
}

struct Arrays {
  Tensor a, b, c;
  int64_t count;  // floats of each
};

Arrays make_arrays(bool quick) {
  const CpuInfo& cpu = host_cpu();
  // Each four times the last cache, so that little of one sweep is left for the next.
  int64_t bytes = std::clamp(4 * cpu.l3_bytes, int64_t{64} << 20, int64_t{quick ? 96 : 256} << 20);
  bytes = std::min(bytes, cpu.memory_bytes / 16) / 65536 * 65536;
  Arrays arrays{.a = {}, .b = {}, .c = {}, .count = bytes / 4};
  for (Tensor* array : {&arrays.a, &arrays.b, &arrays.c}) *array = Tensor::full(DType::f32, {arrays.count}, 1.0);
  return arrays;
}

Bandwidth measure_bandwidth(const Arrays& arrays, int threads, bool quick) {
  auto* a = arrays.a.data<float>();
  auto* b = arrays.b.data<float>();
  auto* c = arrays.c.data<float>();
  auto sweep = [&](int arrays_moved, auto body) {
    double seconds = median_seconds(quick ? 3 : 5, [&] {
      run_on_workers(threads, [&](int slot) {
        int64_t part =
            arrays.count / threads / 1024 * 1024;  // whole vectors; the remainder is nothing beside the whole
        body(part * slot, part);
      });
    });
    return static_cast<double>(arrays.count) * 4 * arrays_moved / seconds / 1e9;
  };
  Bandwidth result;
  result.read = sweep(1, [&](int64_t start, int64_t count) { sink = loops().read(a + start, count); });
  result.copy = sweep(2, [&](int64_t start, int64_t count) { loops().copy(a + start, b + start, count); });
  result.copy_streaming =
      sweep(2, [&](int64_t start, int64_t count) { loops().streaming(a + start, b + start, count); });
  result.triad =
      sweep(3, [&](int64_t start, int64_t count) { loops().triad(c + start, a + start, b + start, 0.5f, count); });
  return result;
}

nlohmann::json to_json(const Bandwidth& b) {
  return {{"read", b.read}, {"copy", b.copy}, {"copy_streaming", b.copy_streaming}, {"triad", b.triad}};
}

std::filesystem::path peaks_path(int threads) {
  return cache_directory() / ("peaks-" + host_cpu().fingerprint() + "-" + std::to_string(threads) + ".json");
}

Bandwidth bandwidth_from(const nlohmann::json& json) {
  return {json.at("read"), json.at("copy"), json.at("copy_streaming"), json.at("triad")};
}

}  // namespace

double Bandwidth::best() const { return std::max({read, copy, copy_streaming, triad}); }

Peaks measure_peaks(int threads, bool quick) {
  Peaks peaks;
  peaks.threads = threads > 0 ? threads : num_threads();
  peaks.instructions = loops().name;
  peaks.f32_gflops_one = measure_flops(1, quick);
  peaks.f32_gflops_all = peaks.threads > 1 ? measure_flops(peaks.threads, quick) : peaks.f32_gflops_one;
  Arrays arrays = make_arrays(quick);
  peaks.one = measure_bandwidth(arrays, 1, quick);
  peaks.all = peaks.threads > 1 ? measure_bandwidth(arrays, peaks.threads, quick) : peaks.one;
  return peaks;
}

bool disturbed(const Peaks& peaks) {
  // Threads that share a core may gain nothing from each other, but lose little.
  return peaks.f32_gflops_all < 0.8 * peaks.f32_gflops_one || peaks.all.best() < 0.8 * peaks.one.best();
}

std::optional<Peaks> known_peaks(int threads) {
  if (threads <= 0) threads = num_threads();
  const std::filesystem::path path = peaks_path(threads);
  try {
    nlohmann::json json = nlohmann::json::parse(read_text(path));
    return Peaks{.threads = threads,
                 .instructions = json.at("instructions"),
                 .f32_gflops_one = json.at("f32_gflops_one"),
                 .f32_gflops_all = json.at("f32_gflops_all"),
                 .one = bandwidth_from(json.at("bandwidth_one")),
                 .all = bandwidth_from(json.at("bandwidth_all"))};
  } catch (const IoError&) {  // not there yet
  } catch (const nlohmann::json::exception& error) {
    log_warning("'" + path.string() + "' is damaged: " + error.what());
  }
  return std::nullopt;
}

Peaks cached_peaks(int threads, bool fresh) {
  if (threads <= 0) threads = num_threads();
  if (!fresh) {
    if (std::optional<Peaks> known = known_peaks(threads)) return *known;
  }
  Peaks peaks = measure_peaks(threads);
  if (disturbed(peaks)) {
    log_warning("the processors were busy while the peaks were measured: they are not kept; measure again");
    return peaks;
  }
  nlohmann::json json = {{"cpu", host_cpu().name},
                         {"threads", threads},
                         {"instructions", peaks.instructions},
                         {"f32_gflops_one", peaks.f32_gflops_one},
                         {"f32_gflops_all", peaks.f32_gflops_all},
                         {"bandwidth_one", to_json(peaks.one)},
                         {"bandwidth_all", to_json(peaks.all)}};
  try {
    write_file_atomically(peaks_path(threads), json.dump(2) + "\n");
  } catch (const IoError& error) {
    log_info(std::string("the measured peaks are not kept: ") + error.what());
  }
  return peaks;
}

}  // namespace deep_accel
