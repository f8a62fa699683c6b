// Events and counters that every layer may record. Off (the default) a scope or count costs one relaxed load.
//
// DEEP_ACCEL_TRACE=file.json records the whole process and writes the file at its end; open it in
// https://ui.perfetto.dev or chrome://tracing.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace deep_accel::trace {

namespace detail {
extern std::atomic<bool> on;
void record(const char* category, std::string_view name, std::chrono::steady_clock::time_point start);
void count(const char* name, int64_t amount);
}  // namespace detail

inline bool enabled() { return detail::on.load(std::memory_order_relaxed); }

// Starts recording from nothing; stop() keeps what was recorded.
void start();
void stop();

// What was recorded, in Chrome's trace event format.
std::string to_json();
// Throws IoError.
void write(const std::filesystem::path& path);
std::map<std::string, int64_t> counters();

// Records how long it lived, on its thread. `category` is a literal; `name` must live as long as the scope.
class Scope {
 public:
  Scope(const char* category, std::string_view name) : active_(enabled()) {
    if (active_) {
      category_ = category;
      name_ = name;
      start_ = std::chrono::steady_clock::now();
    }
  }
  ~Scope() {
    if (active_) detail::record(category_, name_, start_);
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  bool active_;
  const char* category_ = nullptr;
  std::string_view name_;
  std::chrono::steady_clock::time_point start_;
};

// Adds to a counter. `name` is a literal such as "kernel_cache.hit".
inline void count(const char* name, int64_t amount = 1) {
  if (enabled()) detail::count(name, amount);
}

}  // namespace deep_accel::trace
