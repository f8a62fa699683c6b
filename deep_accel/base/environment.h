// Settings from environment variables. A malformed value never stops the program: it is reported once in the log, and
// the default holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace deep_accel {

// Unset and empty are the same.
std::optional<std::string> environment(const char* variable);

// An integer of at least `minimum`, or the default.
int64_t environment_integer(const char* variable, int64_t fallback, int64_t minimum = INT64_MIN);

// A size such as "512M" (see parse_bytes), or the default.
int64_t environment_bytes(const char* variable, int64_t fallback);

// 1/true/yes/on and 0/false/no/off in any case, or the default.
bool environment_flag(const char* variable, bool fallback);

}  // namespace deep_accel
