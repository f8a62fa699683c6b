// The log: lines on standard error, warnings and worse unless DEEP_ACCEL_LOG says otherwise
// (off, error, warning, info, debug, trace). The header is light on purpose: spdlog is seen by log.cpp alone.
#pragma once

#include <string>
#include <string_view>

namespace deep_accel {

enum class LogLevel { off, error, warning, info, debug, trace };

// Throws ValueError that lists the levels.
LogLevel parse_log_level(std::string_view text);
void set_log_level(LogLevel level);
LogLevel log_level();
// Whether a message of this level would be written: guards messages that are dear to build.
bool log_enabled(LogLevel level);

void log_message(LogLevel level, const std::string& text);
inline void log_error(const std::string& text) { log_message(LogLevel::error, text); }
inline void log_warning(const std::string& text) { log_message(LogLevel::warning, text); }
inline void log_info(const std::string& text) { log_message(LogLevel::info, text); }
inline void log_debug(const std::string& text) { log_message(LogLevel::debug, text); }

}  // namespace deep_accel
