#include "deep_accel/cli/explain_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "deep_accel/base/error.h"
#include "deep_accel/base/text.h"

namespace deep_accel::cli {
namespace {

using nlohmann::json;

std::string scaled(double value, const char* unit) {
  for (const auto& [factor, prefix] : {std::pair{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}) {
    if (value >= factor) return fmt::format("{:.3g} {}{}", value / factor, prefix, unit);
  }
  return fmt::format("{:.3g} {}", value, unit);
}

std::string time_text(double seconds) {
  if (seconds < 1e-6) return fmt::format("{:.3g} ns", seconds * 1e9);
  if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} s", seconds);
}

// "memref<64x32xf32, #tile.space<shared>>" -> "64x32xf32"
std::string short_type(const std::string& type) {
  const size_t begin = type.find('<'), end = type.find_first_of(",>", begin);
  return begin == std::string::npos || end == std::string::npos ? type : type.substr(begin + 1, end - begin - 1);
}

bool has(const json& object, const char* key) { return object.contains(key) && !object[key].is_null(); }

struct Placed {
  std::string name;
  int64_t begin = 0;
  int64_t end = 0;
};

// The buffers that have a place in the arena.
std::vector<Placed> placed_buffers(const json& buffers) {
  std::vector<Placed> placed;
  for (const json& buffer : buffers) {
    if (!has(buffer, "offset")) continue;
    const int64_t offset = buffer["offset"];
    placed.push_back({buffer.value("name", ""), offset, offset + buffer.value("bytes", int64_t{0})});
  }
  return placed;
}

std::string sharers(const json& buffer, const std::vector<Placed>& placed) {
  if (!has(buffer, "offset")) return "";
  const int64_t begin = buffer["offset"], end = begin + buffer.value("bytes", int64_t{0});
  std::vector<std::string> names;
  for (const Placed& other : placed) {
    const bool itself = other.begin == begin && other.end == end && other.name == buffer.value("name", "");
    if (!itself && other.begin < end && begin < other.end) names.push_back(other.name);
  }
  return names.empty() ? "" : ", shares memory with " + join(names);
}

void buffers_text(const json& phase, std::string& text) {
  const json& buffers = phase["buffers"];
  if (buffers.empty()) return;
  const std::vector<Placed> placed = placed_buffers(buffers);
  text += "    buffers of a block\n";
  for (const json& buffer : buffers) {
    std::string line =
        fmt::format("      {:<12} {:<16} {:<9} {:>10}", buffer.value("name", ""), short_type(buffer.value("type", "")),
                    buffer.value("space", ""), format_bytes(buffer.value("bytes", int64_t{0})));
    if (has(buffer, "offset")) line += fmt::format(" at {}", buffer["offset"].get<int64_t>());
    if (has(buffer, "panels")) {
      line += fmt::format(", packed in panels of {} along axis {}", buffer["panels"][1].get<int64_t>(),
                          buffer["panels"][0].get<int64_t>());
    }
    if (has(buffer, "storage")) line += ", kept as " + buffer["storage"].get<std::string>();
    if (has(buffer, "kept")) line += ", kept for the blocks that follow";
    text += line + sharers(buffer, placed) + "\n";
  }
  if (has(phase, "arena_bytes") && has(phase, "buffer_bytes")) {
    const int64_t arena = phase["arena_bytes"], sum = phase["buffer_bytes"];
    text += fmt::format("      arena of {} for buffers of {}", format_bytes(arena), format_bytes(sum));
    if (sum > arena)
      text += fmt::format(": {:.0f} % saved by sharing",
                          100.0 * static_cast<double>(sum - arena) / static_cast<double>(sum));
    if (has(phase, "kept_bytes")) {
      text += fmt::format(", behind {} that outlive the block", format_bytes(phase["kept_bytes"].get<int64_t>()));
    }
    text += "\n";
  }
}

void products_text(const json& phase, std::string& text) {
  if (phase["gemms"].empty()) return;
  text += "    products\n";
  for (const json& gemm : phase["gemms"]) {
    text += fmt::format("      {}x{}x{}", gemm["m"].get<int64_t>(), gemm["n"].get<int64_t>(), gemm["k"].get<int64_t>());
    if (has(gemm, "register_tile")) {
      const int64_t rows = gemm["register_tile"][0], columns = gemm["register_tile"][1], lanes = gemm["lanes"];
      text += fmt::format(" in register tiles of {}x{}: {} accumulators of {} lanes", rows, columns,
                          rows * ((columns + lanes - 1) / lanes), std::min(lanes, columns));
    }
    text += fmt::format(", {:.0f} % of the multipliers' work counts", 100 * gemm["efficiency"].get<double>());
    if (!gemm.value("where", "").empty()) text += "  (" + gemm["where"].get<std::string>() + ")";
    text += "\n";
  }
}

// {"product.mlir:22", "product.mlir:23"} -> "product.mlir:22, 23"
std::string lines_text(const json& lines) {
  std::string text, file;
  for (const json& line : lines) {
    const std::string place = line;
    const size_t colon = place.rfind(':');
    const bool same = colon != std::string::npos && place.substr(0, colon) == file;
    text += (text.empty() ? "" : ", ") + (same ? place.substr(colon + 1) : place);
    file = place.substr(0, colon);
  }
  return text;
}

void loops_text(const json& phase, std::string& text) {
  if (phase["loops"].empty()) return;
  text += "    loops\n";
  for (const json& loop : phase["loops"]) {
    std::vector<std::string> sizes;
    for (const json& size : loop["sizes"]) {
      sizes.push_back(size.is_null() ? "?" : std::to_string(size.get<int64_t>()));
    }
    text += "      " + join(sizes, "x");
    if (has(loop, "lanes")) {
      text += fmt::format(" in vectors of {} along axis {}", loop["lanes"].get<int64_t>(), loop["axis"].get<int64_t>());
      if (has(loop, "accumulators")) {
        text += fmt::format(", {} at a time into registers", loop["accumulators"].get<int64_t>());
      }
      if (has(loop, "past_caches")) text += ", past the caches where the output is large";
    } else {
      text += " one by one";
    }
    if (loop["count"] > 1) text += fmt::format(", in {} versions", loop["count"].get<int64_t>());
    if (!loop["lines"].empty()) text += "  (" + lines_text(loop["lines"]) + ")";
    text += "\n";
  }
}

// Of the kernel's whole launch, where sizes were given.
std::string launch_text(const json& launch) {
  std::vector<std::string> sizes;
  for (const auto& [name, size] : launch["sizes"].items()) {
    sizes.push_back(fmt::format("{} = {}", name, size.get<int64_t>()));
  }
  const double flops = launch["flops"], bytes = launch["tensor_bytes"];
  std::string text = fmt::format("  a launch{}: {}, tensors of {}", sizes.empty() ? "" : " with " + join(sizes),
                                 scaled(flops, "flop"), scaled(bytes, "B"));
  if (bytes > 0) text += fmt::format(", {:.3g} flop a byte", flops / bytes);
  return text + fmt::format("\n  estimated {} on one thread, beside {} at the roofline: bound by {}\n",
                            time_text(launch["estimated_seconds"]), time_text(launch["roofline_seconds"]),
                            launch["bound"] == "memory" ? "memory" : "arithmetic");
}

void phase_text(const json& phase, size_t index, std::string& text) {
  const int64_t axes = phase["axes"];
  text += fmt::format("  phase {}: a grid of {} {}\n", index, axes, axes == 1 ? "axis" : "axes");
  products_text(phase, text);
  buffers_text(phase, text);
  loops_text(phase, text);
  std::string decisions;
  for (const json& decision : phase["decisions"]) {
    // Which buffers share memory is already told beside them.
    const std::string line = decision;
    if (line.find(" shares bytes ") == std::string::npos) decisions += "      - " + line + "\n";
  }
  if (!decisions.empty()) text += "    decisions\n" + decisions;
  const json& cost = phase["cost"];
  const double flops = cost["flops"], bytes = cost["bytes"];
  const bool known = cost.value("loops_known", true);
  text += fmt::format("    a block{}: {}, {} moved", known ? "" : " (loops of unknown length counted once)",
                      scaled(flops, "flop"), scaled(bytes, "B"));
  if (bytes > 0) text += fmt::format(", {:.3g} flop a byte", flops / bytes);
  text += fmt::format("\n    estimated {} on one thread, beside {} at the roofline: bound by {}\n",
                      time_text(phase["estimated_seconds"]), time_text(phase["roofline_seconds"]),
                      phase["bound"] == "memory" ? "memory" : "arithmetic");
}

std::string report_text(const json& report) {
  const json& target = report["target"];
  std::string text =
      fmt::format("target {}: {}-bit vectors, {} registers; L1 {}, L2 {}, L3 {}\n", target["name"].get<std::string>(),
                  target["vector_bits"].get<int64_t>(), target["vector_registers"].get<int64_t>(),
                  format_bytes(target["l1d"]), format_bytes(target["l2"]), format_bytes(target["l3"]));
  text += fmt::format("roofline of one thread, {}: {}, {}\n", target["peaks"].get<std::string>(),
                      scaled(target["peak_flops"], "flop/s"), scaled(target["bandwidth"], "B/s"));
  for (const json& kernel : report["kernels"]) {
    text += fmt::format("\nkernel {}", kernel["name"].get<std::string>());
    if (!kernel.value("where", "").empty()) text += " (" + kernel["where"].get<std::string>() + ")";
    text += "\n";
    size_t index = 0;
    for (const json& phase : kernel["phases"]) phase_text(phase, index++, text);
    if (has(kernel, "launch")) text += launch_text(kernel["launch"]);
  }
  return text;
}

}  // namespace

std::string explain_text(const std::string& report) {
  try {
    return report_text(json::parse(report));
  } catch (const json::exception& error) {
    throw ValueError(std::string("the compiler's report is malformed: ") + error.what());
  }
}

}  // namespace deep_accel::cli
