// `deepaccel info`: what this machine is, and what it can do at most.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "deep_accel/base/text.h"
#include "deep_accel/cli/command.h"
#include "deep_accel/compile/target/target.h"
#include "deep_accel/runtime/device.h"
#include "deep_accel/runtime/kernel_cache.h"
#include "deep_accel/runtime/peaks.h"
#include "deep_accel/runtime/workers.h"

namespace deep_accel::cli {
namespace {

struct InfoOptions {
  bool json = false;
  bool fresh = false;
  int threads = 0;
};

nlohmann::json bandwidth_json(const Bandwidth& bandwidth) {
  return {{"read", bandwidth.read},
          {"copy", bandwidth.copy},
          {"copy_streaming", bandwidth.copy_streaming},
          {"triad", bandwidth.triad},
          {"best", bandwidth.best()}};
}

nlohmann::json info_json(const CpuInfo& cpu, const Peaks& peaks) {
  const compile::Target& target = compile::host_target();
  return {{"version", DEEP_ACCEL_VERSION},
          {"name", cpu.name},
          {"architecture", cpu.architecture},
          {"features", cpu.features},
          {"cores", cpu.cores},
          {"processors", cpu.processors},
          {"memory_bytes", cpu.memory_bytes},
          {"caches",
           {{"l1d_bytes", cpu.l1d_bytes},
            {"l1i_bytes", cpu.l1i_bytes},
            {"l2_bytes", cpu.l2_bytes},
            {"l2_shared_by", cpu.l2_shared_by},
            {"l3_bytes", cpu.l3_bytes},
            {"l3_shared_by", cpu.l3_shared_by},
            {"line_bytes", cpu.line_bytes}}},
          {"target", {{"name", target.name}, {"triple", target.triple}, {"vector_bits", target.vector_bits}}},
          {"threads", peaks.threads},
          {"peaks",
           {{"instructions", peaks.instructions},
            {"f32_gflops_one", peaks.f32_gflops_one},
            {"f32_gflops_all", peaks.f32_gflops_all},
            {"gbytes_per_second_one", bandwidth_json(peaks.one)},
            {"gbytes_per_second_all", bandwidth_json(peaks.all)}}},
          {"kernel_cache", KernelCache::instance().folder().string()}};
}

// Words in lines of at most `width`, the second and later ones indented.
std::string wrapped(const std::vector<std::string>& words, size_t indent, size_t width) {
  std::string text;
  size_t column = indent;
  for (const std::string& word : words) {
    if (column > indent && column + 1 + word.size() > width) {
      text += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      text += ' ';
      ++column;
    }
    text += word;
    column += word.size();
  }
  return text;
}

void print_row(const std::string& label, const std::string& text) {
  std::cout << fmt::format("{:<14}{}\n", label, text);
}

std::string cache_text(int64_t bytes, int shared_by) {
  if (bytes == 0) return "unknown";
  return format_bytes(bytes) + (shared_by > 1 ? fmt::format(" (shared by {} cores)", shared_by) : "");
}

std::string bandwidth_text(const Bandwidth& bandwidth) {
  return fmt::format("read {:.1f}, copy {:.1f}, copy past the caches {:.1f}, triad {:.1f}", bandwidth.read,
                     bandwidth.copy, bandwidth.copy_streaming, bandwidth.triad);
}

void print_info(const CpuInfo& cpu, const Peaks& peaks) {
  const compile::Target& target = compile::host_target();
  print_row("DeepAccel", DEEP_ACCEL_VERSION);
  print_row("Processor", cpu.name);
  print_row("Architecture",
            fmt::format("{}, compiled for as {} ({}-bit vectors)", cpu.architecture, target.name, target.vector_bits));
  print_row("Cores", fmt::format("{} ({} processors for this process)", cpu.cores, cpu.processors));
  print_row("Memory", format_bytes(cpu.memory_bytes));
  print_row("Caches",
            fmt::format("L1 {} data, {} instructions; L2 {}; L3 {}; lines of {} bytes", cache_text(cpu.l1d_bytes, 1),
                        cache_text(cpu.l1i_bytes, 1), cache_text(cpu.l2_bytes, cpu.l2_shared_by),
                        cache_text(cpu.l3_bytes, cpu.l3_shared_by), cpu.line_bytes));
  print_row("Features", wrapped(cpu.features, 14, 110));
  std::cout << '\n';
  print_row("Peak f32", fmt::format("{:.1f} Gflop/s on one thread, {:.1f} on {} (measured with {} multiply-adds)",
                                    peaks.f32_gflops_one, peaks.f32_gflops_all, peaks.threads, peaks.instructions));
  print_row("Bandwidth", "one thread: " + bandwidth_text(peaks.one) + " GB/s");
  print_row(
      "", fmt::format("{} thread{}: {} GB/s", peaks.threads, peaks.threads == 1 ? "" : "s", bandwidth_text(peaks.all)));
  print_row("Balance", fmt::format("{:.1f} flop a byte: below it a kernel waits for memory, above it for arithmetic",
                                   peaks.f32_gflops_all / peaks.all.best()));
  std::cout << '\n';
  print_row("Kernel cache", KernelCache::instance().folder().string());
}

int info(const InfoOptions& options) {
  const Peaks peaks = cached_peaks(options.threads, options.fresh);
  if (options.json) {
    std::cout << info_json(host_cpu(), peaks).dump(2) << '\n';
  } else {
    print_info(host_cpu(), peaks);
  }
  return kSuccess;
}

}  // namespace

void add_info(CLI::App& parent, Action& action) {
  auto options = std::make_shared<InfoOptions>();
  CLI::App* app =
      parent.add_subcommand("info", "Show the chip, its features and caches, measured peaks and bandwidths");
  app->add_flag("--json", options->json, "Print JSON");
  app->add_flag("--fresh", options->fresh, "Measure again, rather than use what was measured before");
  app->add_option("--threads", options->threads, "Measure with so many threads (default: all)")
      ->check(CLI::Range(0, kMaxThreads).description(""))
      ->type_name("N");
  app->callback([&action, options] { action = [options] { return info(*options); }; });
}

}  // namespace deep_accel::cli
