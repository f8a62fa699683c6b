#include "watched.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <stdexcept>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define DEEP_ACCEL_TEST_SANITIZED 1
#endif
#endif

namespace deep_accel::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kNone = UINT64_MAX;
constexpr size_t kMessage = 4000;

// What a child and its parent share.
struct Desk {
  std::atomic<uint64_t> input{kNone};  // that the child is at
  std::atomic<uint64_t> done{0};
  std::atomic<bool> complains{false};
  char message[kMessage] = {};
};

class SharedDesk {
 public:
  SharedDesk() {
    void* memory = ::mmap(nullptr, sizeof(Desk), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no shared memory");
    desk_ = new (memory) Desk;
  }
  ~SharedDesk() { ::munmap(desk_, sizeof(Desk)); }
  SharedDesk(const SharedDesk&) = delete;
  SharedDesk& operator=(const SharedDesk&) = delete;
  Desk* operator->() const { return desk_; }

 private:
  Desk* desk_;
};

// One child after the other goes through every `step`-th input.
struct Lane {
  SharedDesk desk;
  pid_t child = -1;
  uint64_t next = 0;
};

// The timer counts what the process computes, so that a machine that is busy elsewhere is no failure.
void start_timer(int seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = seconds;
  ::setitimer(ITIMER_PROF, &timer, nullptr);
}

[[noreturn]] void run_child(Lane& lane, uint64_t end, uint64_t step, const Limits& limits,
                            const std::function<std::string(uint64_t)>& check) {
#ifndef DEEP_ACCEL_TEST_SANITIZED
  const rlimit memory{static_cast<rlim_t>(limits.bytes), static_cast<rlim_t>(limits.bytes)};
  ::setrlimit(RLIMIT_AS, &memory);
#endif
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::signal(SIGPROF, SIG_DFL);
  // What programs print is of no interest here, and nobody has anything to tell them.
  const int nowhere = ::open("/dev/null", O_RDWR);
  ::dup2(nowhere, STDIN_FILENO);
  ::dup2(nowhere, STDOUT_FILENO);
  for (uint64_t input = lane.next; input < end; input += step) {
    lane.desk->input = input;
#ifdef DEEP_ACCEL_TEST_SANITIZED
    start_timer(5 * limits.seconds);
#else
    start_timer(limits.seconds);
#endif
    std::string message;
    try {
      message = check(input);
    } catch (const std::exception& error) {
      message = std::string("threw: ") + error.what();
    }
    start_timer(0);
    lane.desk->done++;
    if (message.empty()) continue;
    const size_t length = std::min(message.size(), kMessage - 1);
    std::memcpy(lane.desk->message, message.data(), length);
    lane.desk->message[length] = '\0';
    lane.desk->complains = true;
    ::_exit(0);  // the parent reads the message and goes on behind it
  }
  lane.desk->input = kNone;
  ::_exit(0);
}

std::string end_of(int status, const Limits& limits) {
  if (!WIFSIGNALED(status)) return "exit with status " + std::to_string(WEXITSTATUS(status));
  if (WTERMSIG(status) == SIGPROF) return "more than " + std::to_string(limits.seconds) + " seconds";
  return "signal " + std::to_string(WTERMSIG(status)) + " (" + ::strsignal(WTERMSIG(status)) + ")";
}

}  // namespace

WatchedRun run_watched(uint64_t first, uint64_t count, const Limits& limits,
                       const std::function<std::string(uint64_t)>& check) {
  const Clock::time_point start = Clock::now();
  auto over = [&] { return std::chrono::duration<double>(Clock::now() - start).count() > limits.total_seconds; };
  const uint64_t end = first + count, step = static_cast<uint64_t>(limits.processes);
  WatchedRun run;
  std::vector<Lane> lanes(step);
  for (uint64_t i = 0; i < step; ++i) lanes[i].next = first + i;
  auto begin = [&](Lane& lane) {
    std::fflush(nullptr);
    lane.desk->input = kNone;
    lane.desk->complains = false;
    lane.child = ::fork();
    if (lane.child < 0) throw std::runtime_error("no child process");
    if (lane.child == 0) run_child(lane, end, step, limits, check);
  };
  for (Lane& lane : lanes) begin(lane);
  size_t running = lanes.size();
  bool stopped = false;
  while (running > 0) {
    if (!stopped && over()) {
      for (Lane& lane : lanes) {
        if (lane.child > 0) ::kill(lane.child, SIGKILL);
      }
      stopped = true;
    }
    ::usleep(2000);
    for (Lane& lane : lanes) {
      int status = 0;
      if (lane.child <= 0 || ::waitpid(lane.child, &status, WNOHANG) != lane.child) continue;
      lane.child = -1;
      const uint64_t at = lane.desk->input;
      if (stopped || (at == kNone && WIFEXITED(status) && WEXITSTATUS(status) == 0)) {
        --running;
        continue;
      }
      run.failures.push_back({at, lane.desk->complains ? std::string(lane.desk->message) : end_of(status, limits)});
      lane.next = at == kNone ? end : at + step;
      begin(lane);
    }
  }
  for (Lane& lane : lanes) run.done += lane.desk->done;
  std::sort(run.failures.begin(), run.failures.end(),
            [](const Failure& one, const Failure& other) { return one.input < other.input; });
  return run;
}

}  // namespace deep_accel::test
