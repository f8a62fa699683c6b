// Reading environment variables, with a warning where one cannot be understood.
#include "deep_accel/base/environment.h"

#include <cctype>
#include <charconv>
#include <cstdlib>

#include "deep_accel/base/error.h"
#include "deep_accel/base/log.h"
#include "deep_accel/base/text.h"

namespace deep_accel {
namespace {

void warn(const char* variable, const std::string& value, const std::string& expected, const std::string& used) {
  log_warning(std::string(variable) + "='" + value + "' is ignored: expected " + expected + "; using " + used);
}

}  // namespace

std::optional<std::string> environment(const char* variable) {
  const char* value = std::getenv(variable);
  if (!value || !*value) return std::nullopt;
  return std::string(value);
}

int64_t environment_integer(const char* variable, int64_t fallback, int64_t minimum) {
  std::optional<std::string> text = environment(variable);
  if (!text) return fallback;
  int64_t value = 0;
  auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error == std::errc() && end == text->data() + text->size() && value >= minimum) return value;
  std::string expected = minimum == INT64_MIN ? "an integer" : "an integer of at least " + std::to_string(minimum);
  warn(variable, *text, expected, std::to_string(fallback));
  return fallback;
}

int64_t environment_bytes(const char* variable, int64_t fallback) {
  std::optional<std::string> text = environment(variable);
  if (!text) return fallback;
  try {
    return parse_bytes(*text);
  } catch (const ValueError&) {
    warn(variable, *text, "a size such as 1048576, 512K, 64M or 2G", format_bytes(fallback));
    return fallback;
  }
}

bool environment_flag(const char* variable, bool fallback) {
  std::optional<std::string> text = environment(variable);
  if (!text) return fallback;
  std::string lower;
  for (char c : *text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (lower == "1" || lower == "true" || lower == "yes" || lower == "on") return true;
  if (lower == "0" || lower == "false" || lower == "no" || lower == "off") return false;
  warn(variable, *text, "1 or 0", fallback ? "1" : "0");
  return fallback;
}

}  // namespace deep_accel
