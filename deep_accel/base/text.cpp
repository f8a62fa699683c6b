// Edit distance (Damerau's optimal string alignment), and sizes for people to read.
#include "deep_accel/base/text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "deep_accel/base/error.h"

namespace deep_accel {

int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::string did_you_mean(std::string_view text, const std::vector<std::string>& known) {
  const std::string* best = nullptr;
  // A third of the letters may be wrong: farther than that, a guess annoys more than it helps.
  int best_distance = static_cast<int>(std::max<size_t>(1, text.size() / 3)) + 1;
  for (const std::string& candidate : known) {
    int distance = edit_distance(text, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = &candidate;
    }
  }
  return best ? "; did you mean '" + *best + "'?" : "";
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i) text += separator;
    text += parts[i];
  }
  return text;
}

std::string fill_placeholders(std::string_view text, size_t count, FunctionRef<std::string(size_t)> value) {
  std::string line;
  size_t used = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (used < count && text.substr(at, 2) == "{}") {
      line += value(used++);
      ++at;
    } else {
      line += text[at];
    }
  }
  while (used < count) line += " " + value(used++);
  return line;
}

std::string printed_number(double value) {
  // The sign of a NaN is not the kernel's doing.
  if (std::isnan(value)) return "nan";
  char text[40];
  const bool is_whole = std::abs(value) < 0x1p53 && std::trunc(value) == value;
  std::snprintf(text, sizeof text, is_whole ? "%.0f" : "%.9g", value);
  return text;
}

std::string format_bytes(int64_t bytes) {
  if (bytes > -1024 && bytes < 1024) return std::to_string(bytes) + " bytes";
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while ((value >= 1024 || value <= -1024) && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.4g %s", value, kUnits[unit]);
  return text;
}

int64_t parse_bytes(std::string_view text) {
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string unit;
  for (const char* c = end; c != text.data() + text.size(); ++c) {
    if (*c != ' ') unit += static_cast<char>(std::toupper(static_cast<unsigned char>(*c)));
  }
  if (!unit.empty() && unit.back() == 'B') unit.pop_back();
  if (unit.size() == 2 && unit.back() == 'I') unit.pop_back();
  static constexpr std::string_view kUnits = "KMGTP";
  size_t power = unit.empty() ? 0 : unit.size() == 1 ? kUnits.find(unit) + 1 : 0;
  bool known = unit.empty() || (unit.size() == 1 && power != 0);
  for (size_t i = 0; known && i < power; ++i) known = !__builtin_mul_overflow(number, int64_t{1024}, &number);
  if (error != std::errc() || number < 0 || !known) {
    throw ValueError("'" + std::string(text) + "' is not a size; write for example 1048576, 512K, 64M or 2G");
  }
  return number;
}

}  // namespace deep_accel
