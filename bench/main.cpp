// deepaccel-bench [--quick] [--json FILE] [GROUP ...]: measures speed; groups are product, memory, latency, pipeline.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "deep_accel/base/error.h"
#include "deep_accel/base/files.h"
#include "deep_accel/runtime/device.h"
#include "deep_accel/runtime/workers.h"
#include "harness.h"
#include "peers.h"

namespace deep_accel::bench {
namespace {

struct Group {
  const char* name;
  const char* summary;
  void (*run)(Report&, const Settings&);
};

constexpr Group kGroups[] = {
    {"product", "f32 products beside other libraries and the peak of multiply-adds", bench_product},
    {"memory", "softmax, layer norm and a fused chain beside the bandwidth of a copy", bench_memory},
    {"latency", "compiling, loading from the cache, launching", bench_latency},
    {"pipeline", "stages of a pipeline, where they help and where they must not hurt", bench_pipeline},
};

nlohmann::json peaks_json(const Peaks& peaks) {
  return {{"threads", peaks.threads},
          {"instructions", peaks.instructions},
          {"f32_gflops_one", peaks.f32_gflops_one},
          {"f32_gflops_all", peaks.f32_gflops_all},
          {"copy_one", std::max(peaks.one.copy, peaks.one.copy_streaming)},
          {"copy_all", std::max(peaks.all.copy, peaks.all.copy_streaming)}};
}

int run(int argc, char** argv) {
  Settings settings;
  std::string json_path;
  std::vector<const Group*> chosen;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const Group* group = nullptr;
    for (const Group& known : kGroups) {
      if (argument == known.name) group = &known;
    }
    if (group) {
      chosen.push_back(group);
    } else if (argument == "--quick") {
      settings.quick = true;
    } else if (argument == "--json" && i + 1 < argc) {
      json_path = argv[++i];
    } else {
      std::fprintf(stderr, "usage: deepaccel-bench [--quick] [--json FILE] [GROUP ...]\n");
      for (const Group& known : kGroups) std::fprintf(stderr, "  %-10s %s\n", known.name, known.summary);
      return argument == "--help" ? 0 : 2;
    }
  }
  if (chosen.empty()) {
    for (const Group& known : kGroups) chosen.push_back(&known);
  }
  peers();  // they make their threads on loading: before any thread is pinned
  const int threads = std::min(2, available_processors());
  nlohmann::json file{{"processor", host_cpu().name}, {"peers", nlohmann::json::array()}};
  for (const Peer& peer : peers()) file["peers"].push_back({{"name", peer.name}, {"description", peer.description}});
  const Peaks before = measure_peaks(threads);
  std::printf("%s: %.1f Gflop/s on one thread, %.1f on %d; copies %.1f GB/s on one, %.1f on %d\n",
              host_cpu().name.c_str(), before.f32_gflops_one, before.f32_gflops_all, threads,
              std::max(before.one.copy, before.one.copy_streaming),
              std::max(before.all.copy, before.all.copy_streaming), threads);
  Report report;
  for (const Group* group : chosen) {
    std::printf("\n%s: %s\n", group->name, group->summary);
    group->run(report, settings);
  }
  const Peaks after = measure_peaks(threads);
  std::printf("\nafterwards: %.1f Gflop/s on one thread, %.1f on %d\n", after.f32_gflops_one, after.f32_gflops_all,
              threads);
  file["before"] = peaks_json(before);
  file["after"] = peaks_json(after);
  file["quick"] = settings.quick;
  file["results"] = report.json();
  if (!json_path.empty()) write_file_atomically(json_path, file.dump(2) + "\n");
  return 0;
}

}  // namespace
}  // namespace deep_accel::bench

int main(int argc, char** argv) {
  try {
    return deep_accel::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "deepaccel-bench: error: %s\n", error.what());
    return 1;
  }
}
