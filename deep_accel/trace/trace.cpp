// Events are kept in one list under a lock: recording is for finding out, and the lock is short beside what is
// measured.
#include "deep_accel/trace/trace.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <nlohmann/json.hpp>
#include <vector>

#include "deep_accel/base/environment.h"
#include "deep_accel/base/files.h"
#include "deep_accel/base/fork.h"
#include "deep_accel/base/log.h"

namespace deep_accel::trace {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostEvents = size_t{1} << 22;  // then events are dropped, and counted

struct Event {
  const char* category;
  std::string name;
  int64_t thread;
  Clock::time_point start;
  Clock::duration length;
};

struct Recording {
  ForkSafeMutex mutex;
  Clock::time_point start;
  std::vector<Event> events;
  std::map<std::string, int64_t> counters;
  int64_t dropped = 0;
};

Recording& recording() {
  static Recording& instance = *new Recording;
  return instance;
}

double microseconds(Clock::duration duration) { return std::chrono::duration<double, std::micro>(duration).count(); }

// Reads DEEP_ACCEL_TRACE when the program starts.
[[maybe_unused]] const bool started = [] {
  if (!environment("DEEP_ACCEL_TRACE")) return false;
  recording();
  start();
  std::atexit([] {
    try {
      stop();
      write(*environment("DEEP_ACCEL_TRACE"));
    } catch (const std::exception& error) {
      log_warning(std::string("the trace was not written: ") + error.what());
    }
  });
  return true;
}();

}  // namespace

namespace detail {

std::atomic<bool> on{false};

void record(const char* category, std::string_view name, Clock::time_point start) {
  Clock::time_point end = Clock::now();
  thread_local const int64_t thread = ::syscall(SYS_gettid);
  Recording& to = recording();
  std::lock_guard lock(to.mutex);
  if (to.events.size() >= kMostEvents) {
    ++to.dropped;
    return;
  }
  to.events.push_back({category, std::string(name), thread, start, end - start});
}

void count(const char* name, int64_t amount) {
  Recording& to = recording();
  std::lock_guard lock(to.mutex);
  to.counters[name] += amount;
}

}  // namespace detail

void start() {
  Recording& to = recording();
  std::lock_guard lock(to.mutex);
  to.events.clear();
  to.counters.clear();
  to.dropped = 0;
  to.start = Clock::now();
  detail::on.store(true, std::memory_order_relaxed);
}

void stop() { detail::on.store(false, std::memory_order_relaxed); }

std::map<std::string, int64_t> counters() {
  Recording& from = recording();
  std::lock_guard lock(from.mutex);
  return from.counters;
}

std::string to_json() {
  Recording& from = recording();
  std::lock_guard lock(from.mutex);
  nlohmann::json events = nlohmann::json::array();
  for (const Event& event : from.events) {
    events.push_back({{"ph", "X"},
                      {"cat", event.category},
                      {"name", event.name},
                      {"pid", ::getpid()},
                      {"tid", event.thread},
                      {"ts", microseconds(event.start - from.start)},
                      {"dur", microseconds(event.length)}});
  }
  double end = microseconds(Clock::now() - from.start);
  for (const auto& [name, value] : from.counters) {
    events.push_back({{"ph", "C"}, {"name", name}, {"pid", ::getpid()}, {"ts", end}, {"args", {{"value", value}}}});
  }
  nlohmann::json root = {{"displayTimeUnit", "ms"}, {"traceEvents", events}, {"droppedEvents", from.dropped}};
  // Names may come from users: what is not UTF-8 is replaced, not thrown.
  return root.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void write(const std::filesystem::path& path) { write_file_atomically(path, to_json()); }

}  // namespace deep_accel::trace
