// One pthreadpool for the process, made when first needed, and the rules around it.
#include "deep_accel/runtime/workers.h"

#include <pthreadpool.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "deep_accel/base/environment.h"
#include "deep_accel/base/error.h"
#include "deep_accel/base/fork.h"
#include "deep_accel/base/text.h"

namespace deep_accel {
namespace {

// The threads of one pool. Whoever runs work holds a share, so that a pool that was replaced ends after its last work.
struct Pool {
  explicit Pool(int threads) : size(threads), handle(pthreadpool_create(static_cast<size_t>(threads))) {
    if (!handle) throw Error("cannot start " + std::to_string(threads) + " worker threads");
  }
  ~Pool() { pthreadpool_destroy(handle); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int size;
  pthreadpool_t handle;
  std::mutex turn;  // held by the caller whose work is running
};

struct State {
  ForkSafeMutex mutex;
  std::shared_ptr<Pool> pool;
  std::atomic<int> threads{0};  // 0: not yet decided
};

State& state() {
  // Never destroyed: the threads wait in it until the process ends.
  static State& instance = *[] {
    auto* made = new State;
    after_fork_in_child(
        [](void* context) {
          // The child has none of the threads: destroying the pool would wait for them, so it is left alone.
          auto* forked = static_cast<State*>(context);
          if (forked->pool) new std::shared_ptr<Pool>(std::move(forked->pool));
        },
        made);
    return made;
  }();
  return instance;
}

std::shared_ptr<Pool> pool_for(int slots) {
  int wanted = std::max(slots, num_threads());
  std::shared_ptr<Pool> replaced;  // ends outside the lock
  State& shared = state();
  std::lock_guard lock(shared.mutex);
  if (!shared.pool || shared.pool->size < slots) {
    replaced = std::move(shared.pool);
    shared.pool = std::make_shared<Pool>(wanted);
  }
  return shared.pool;
}

thread_local bool at_work = false;

// Orders the caller's writes before the workers' reads. pthreadpool does that too, but in code that ThreadSanitizer
// does not see; a read-modify-write keeps the order of all callers before it.
std::atomic<uint64_t> published{0};

struct Job {
  const FunctionRef<void(int)>& body;
  int slots;
  const std::function<void()>& waiting;
  std::thread::id caller;
  std::atomic<int> done{0};
  std::mutex mutex;
  std::exception_ptr failure;

  void run(int slot) {
    at_work = true;
    try {
      body(slot);
    } catch (...) {
      std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
    at_work = false;
    // A worker touches nothing of the job after this.
    bool wait = waiting && std::this_thread::get_id() == caller;
    done.fetch_add(1, std::memory_order_acq_rel);
    if (wait) wait_for_others();
  }

  // In place of pthreadpool's own waiting, which nobody can interrupt. Each thread has one slot of its own, so the
  // others come to their end without this one.
  void wait_for_others() {
    for (int spin = 0; done.load(std::memory_order_acquire) < slots; ++spin) {
      if (spin < 2000) continue;
      waiting();
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }
};

void run_slot(void* job, size_t slot) {
  published.load(std::memory_order_acquire);
  static_cast<Job*>(job)->run(static_cast<int>(slot));
}

int quota_of_control_group(const std::string& folder) {
  std::ifstream file(folder + "/cpu.max");
  int64_t quota = 0, period = 0;
  if (file >> quota >> period && quota > 0 && period > 0) {  // "max 100000" is no number
    return static_cast<int>(std::min<int64_t>((quota + period - 1) / period, kMaxThreads));
  }
  return kMaxThreads;
}

}  // namespace

int available_processors() {
  static const int count = [] {
    int processors = static_cast<int>(std::thread::hardware_concurrency());
    cpu_set_t* set = CPU_ALLOC(8192);
    size_t bytes = CPU_ALLOC_SIZE(8192);
    if (set && sched_getaffinity(0, bytes, set) == 0) processors = CPU_COUNT_S(bytes, set);
    CPU_FREE(set);
    processors = std::min(processors, quota_of_control_group("/sys/fs/cgroup"));
    std::ifstream own("/proc/self/cgroup");
    for (std::string line; std::getline(own, line);) {
      if (line.starts_with("0::/"))
        processors = std::min(processors, quota_of_control_group("/sys/fs/cgroup" + line.substr(3)));
    }
    return std::clamp(processors, 1, kMaxThreads);
  }();
  return count;
}

int num_threads() {
  std::atomic<int>& threads = state().threads;
  int count = threads.load(std::memory_order_relaxed);
  if (count == 0) {
    int64_t wanted = environment_integer("DEEP_ACCEL_NUM_THREADS", available_processors(), 1);
    int decided = static_cast<int>(std::min<int64_t>(wanted, kMaxThreads));
    count = threads.compare_exchange_strong(count, decided) ? decided : count;
  }
  return count;
}

void set_num_threads(int count) {
  if (count < 1 || count > kMaxThreads) {
    throw ValueError("the number of threads must be 1 to " + std::to_string(kMaxThreads) + "; got " +
                     std::to_string(count));
  }
  std::shared_ptr<Pool> replaced;
  State& shared = state();
  std::lock_guard lock(shared.mutex);
  shared.threads.store(count);
  if (shared.pool && shared.pool->size > count) replaced = std::move(shared.pool);
}

bool in_worker() { return at_work; }

void run_on_workers(int slots, FunctionRef<void(int)> body, const std::function<void()>& waiting) {
  if (slots <= 1 || at_work) {
    for (int slot = 0; slot < slots; ++slot) body(slot);
    return;
  }
  std::shared_ptr<Pool> pool = pool_for(slots);
  std::unique_lock turn(pool->turn, std::defer_lock);
  if (waiting) {
    while (!turn.try_lock()) {
      waiting();
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  } else {
    turn.lock();
  }
  Job job{.body = body,
          .slots = slots,
          .waiting = waiting,
          .caller = std::this_thread::get_id(),
          .mutex = {},
          .failure = {}};
  published.fetch_add(1, std::memory_order_release);
  // Between two pieces of work the threads spin for a while, which wakes them fast. With more threads than processors
  // that only keeps those from running that have something to do.
  uint32_t flags = pool->size > available_processors() ? PTHREADPOOL_FLAG_YIELD_WORKERS : 0;
  pthreadpool_parallelize_1d(pool->handle, run_slot, &job, static_cast<size_t>(slots), flags);
  // Has happened; this orders the workers' writes before our reads for those who look (see `published`).
  while (job.done.load(std::memory_order_acquire) < slots) std::this_thread::yield();
  turn.unlock();
  if (job.failure) std::rethrow_exception(job.failure);
}

void parallel_for(int64_t count, int64_t grain, FunctionRef<void(int64_t, int64_t)> body) {
  if (count <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  int slots = static_cast<int>(std::min<int64_t>(num_threads(), (count - 1) / grain + 1));
  if (slots <= 1 || at_work) return body(0, count);
  // A few parts for each thread even out their speeds.
  int64_t part = std::max(grain, (count - 1) / (int64_t{4} * slots) + 1);
  std::atomic<int64_t> next{0};
  run_on_workers(slots, [&](int) {
    for (;;) {
      int64_t begin = next.fetch_add(part, std::memory_order_relaxed);
      if (begin >= count) return;
      body(begin, std::min(begin + part, count));
    }
  });
}

namespace {

std::atomic<int64_t> arena_bytes{0};

// The arenas of one thread: one for each depth of nesting.
struct Arenas {
  struct Arena {
    char* data = nullptr;
    int64_t size = 0;
  };
  std::vector<Arena> stack;
  size_t depth = 0;

  ~Arenas() {
    for (Arena& arena : stack) free(arena);
  }

  static void free(Arena& arena) {
    std::free(arena.data);
    arena_bytes.fetch_sub(arena.size, std::memory_order_relaxed);
    arena = {};
  }

  char* enter(int64_t bytes) {
    if (depth == stack.size()) stack.emplace_back();
    Arena& arena = stack[depth];
    if (arena.size < bytes) {
      free(arena);
      constexpr int64_t kHugePage = int64_t{2} << 20;
      int64_t alignment = bytes >= kHugePage ? kHugePage : 4096;
      if (bytes > INT64_MAX / 2) throw OutOfMemoryError("an arena of " + format_bytes(bytes) + " is too large");
      int64_t size = (bytes + alignment - 1) / alignment * alignment;
      arena.data = static_cast<char*>(std::aligned_alloc(static_cast<size_t>(alignment), static_cast<size_t>(size)));
      if (!arena.data) {
        throw OutOfMemoryError("cannot allocate an arena of " + format_bytes(bytes) +
                               " for a worker thread; use smaller tiles");
      }
      arena.size = size;
      arena_bytes.fetch_add(size, std::memory_order_relaxed);
    }
    ++depth;
    return arena.data;
  }
};

thread_local Arenas arenas;

}  // namespace

ThreadArena::ThreadArena(int64_t bytes) : data_(arenas.enter(bytes)) {}
ThreadArena::~ThreadArena() { --arenas.depth; }

int64_t arena_bytes_held() { return arena_bytes.load(std::memory_order_relaxed); }

}  // namespace deep_accel
