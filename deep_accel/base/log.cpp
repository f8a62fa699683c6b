// A single spdlog logger on standard error.
#include "deep_accel/base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <iterator>
#include <memory>

#include "deep_accel/base/error.h"

namespace deep_accel {
namespace {

constexpr std::string_view kNames[] = {"off", "error", "warning", "info", "debug", "trace"};

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::off:
      return spdlog::level::off;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::trace:
      return spdlog::level::trace;
  }
  return spdlog::level::off;
}

spdlog::logger& logger() {
  // Never destroyed: static destructors of others may still log. Not registered with spdlog: the host program may have
  // loggers of its own.
  static spdlog::logger& instance = []() -> spdlog::logger& {
    auto* made = new spdlog::logger("deep_accel", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("[%H:%M:%S.%e] deep_accel %l: %v");
    made->set_level(spdlog::level::warn);
    if (const char* wanted = std::getenv("DEEP_ACCEL_LOG"); wanted && *wanted) {
      try {
        made->set_level(to_spdlog(parse_log_level(wanted)));
      } catch (const ValueError& error) {
        made->warn("DEEP_ACCEL_LOG: {}; using warning", error.what());
      }
    }
    return *made;
  }();
  return instance;
}

}  // namespace

LogLevel parse_log_level(std::string_view text) {
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (kNames[i] == text) return static_cast<LogLevel>(i);
  }
  if (text == "warn") return LogLevel::warning;
  throw ValueError("log level '" + std::string(text) +
                   "' is not known; levels are off, error, warning, info, debug, trace");
}

void set_log_level(LogLevel level) { logger().set_level(to_spdlog(level)); }

LogLevel log_level() {
  for (int i = 0; i < static_cast<int>(std::size(kNames)); ++i) {
    if (to_spdlog(static_cast<LogLevel>(i)) == logger().level()) return static_cast<LogLevel>(i);
  }
  return LogLevel::off;
}

bool log_enabled(LogLevel level) { return level != LogLevel::off && logger().should_log(to_spdlog(level)); }

void log_message(LogLevel level, const std::string& text) {
  // The text goes in as an argument: braces in it are not a format.
  if (level != LogLevel::off) logger().log(to_spdlog(level), "{}", text);
}

}  // namespace deep_accel
