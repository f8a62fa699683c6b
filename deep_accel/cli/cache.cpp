// `deepaccel cache {list,clear,path,stats}`: the kernels that are kept on disk.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>

#include "deep_accel/base/text.h"
#include "deep_accel/cli/command.h"
#include "deep_accel/runtime/kernel_cache.h"

namespace deep_accel::cli {
namespace {

int list_entries(bool json) {
  nlohmann::json entries = nlohmann::json::array();
  for (const StoredKernel& kernel : KernelCache::instance().list()) {
    const std::time_t used = std::chrono::system_clock::to_time_t(kernel.last_used);
    if (json) {
      entries.push_back({{"key", kernel.key}, {"name", kernel.name}, {"bytes", kernel.bytes}, {"last_used", used}});
    } else {
      std::cout << fmt::format("{}  {:>10}  {:%Y-%m-%d %H:%M:%S}  {}\n", kernel.key.substr(0, 16),
                               format_bytes(kernel.bytes), fmt::localtime(used), kernel.name);
    }
  }
  if (json) std::cout << entries.dump(2) << '\n';
  return kSuccess;
}

int clear_entries(bool json) {
  const int64_t count = KernelCache::instance().clear();
  if (json) {
    std::cout << nlohmann::json{{"removed", count}}.dump(2) << '\n';
  } else {
    std::cout << fmt::format("removed {} kernel{} from {}\n", count, count == 1 ? "" : "s",
                             KernelCache::instance().folder().string());
  }
  return kSuccess;
}

int show_path(bool json) {
  const std::string path = KernelCache::instance().folder().string();
  std::cout << (json ? nlohmann::json{{"path", path}}.dump(2) : path) << '\n';
  return kSuccess;
}

int show_statistics(bool json) {
  const KernelCacheStatistics statistics = KernelCache::instance().statistics();
  const std::string folder = KernelCache::instance().folder().string();
  if (json) {
    std::cout << nlohmann::json{{"path", folder},
                                {"entries", statistics.disk_entries},
                                {"bytes", statistics.disk_bytes},
                                {"limit_bytes", statistics.disk_limit}}
                     .dump(2)
              << '\n';
  } else {
    std::cout << fmt::format("{} kernel{} of {} in {}, which may hold {}\n", statistics.disk_entries,
                             statistics.disk_entries == 1 ? "" : "s", format_bytes(statistics.disk_bytes), folder,
                             format_bytes(statistics.disk_limit));
  }
  return kSuccess;
}

}  // namespace

void add_cache(CLI::App& parent, Action& action) {
  CLI::App* app = parent.add_subcommand("cache", "Show and empty the cache of compiled kernels");
  app->require_subcommand(1);
  app->footer(
      "The cache is in DEEP_ACCEL_CACHE_DIR (default ~/.cache/deep_accel) and holds at most DEEP_ACCEL_CACHE_LIMIT\n"
      "(default 1G; 0 turns it off). Those least recently used go first.");
  struct Command {
    const char* name;
    const char* summary;
    int (*run)(bool json);
  };
  for (const Command& command :
       {Command{"list", "List the kernels, the most recently used first", list_entries},
        Command{"clear", "Remove all kernels", clear_entries}, Command{"path", "Print the folder", show_path},
        Command{"stats", "Print the number and size of the kernels", show_statistics}}) {
    auto json = std::make_shared<bool>(false);
    CLI::App* sub = app->add_subcommand(command.name, command.summary);
    sub->add_flag("--json", *json, "Print JSON");
    sub->callback([&action, json, run = command.run] { action = [json, run] { return run(*json); }; });
  }
}

}  // namespace deep_accel::cli
