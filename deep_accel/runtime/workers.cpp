// One pthreadpool for the process, made when first needed, and the rules around it.
#include "deep_accel/runtime/workers.h"

#include <pthreadpool.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
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

namespace deep_accel {
namespace {

using Clock = std::chrono::steady_clock;

// How threads wait for their next work: spinning wakes them in 2 microseconds, sleeping in 20. But a thread that spins
// on a machine that others use too has used up its time slice when the work comes, and a slice is milliseconds. So we
// spin only while it works: where a thread came late, we sleep for a while, each time longer.
class Waiting {
 public:
  explicit Waiting(int threads) : crowded_(threads > available_processors()) {}

  bool spins(Clock::time_point now) const { return !crowded_ && now >= spin_again_; }

  void spun(Clock::time_point now, bool late) {
    if (late) {
      spin_again_ = now + pause_;
      pause_ = std::min(2 * pause_, kLongestPause);
    } else {
      pause_ = std::max(pause_ / 2, kShortestPause);
    }
  }

  static constexpr Clock::duration kLate = std::chrono::microseconds(500);

 private:
  static constexpr Clock::duration kShortestPause = std::chrono::milliseconds(100);
  static constexpr Clock::duration kLongestPause = std::chrono::seconds(10);

  bool crowded_;
  Clock::time_point spin_again_{};
  Clock::duration pause_ = kShortestPause;
};

// The threads of one pool. Whoever runs work holds a share, so that a pool that was replaced ends after its last work.
struct Pool {
  explicit Pool(int threads)
      : size(threads), handle(pthreadpool_create(static_cast<size_t>(threads))), waiting(threads) {
    if (!handle) throw Error("cannot start " + std::to_string(threads) + " worker threads");
  }
  ~Pool() { pthreadpool_destroy(handle); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int size;
  pthreadpool_t handle;
  std::mutex turn;  // held by the caller whose work is running
  Waiting waiting;  // under `turn`
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

// One call of run_on_workers. pthreadpool is given as many items as it has threads; each execution of an item runs one
// slot, or none. Slot 0 is the caller's, so that it stays in our hands for as long as the others work and can ask
// whether to stop. For that it must get one of the items, and pthreadpool lets quick threads steal those of slow ones:
// so until the caller has arrived, every other thread stays in its first item.
class Job {
 public:
  Job(FunctionRef<void(int)> body, int slots, int items, const std::function<bool()>& give_up)
      : body_(body), slots_(slots), items_(items), give_up_(give_up), caller_(std::this_thread::get_id()) {}

  void run_item(int item) {
    if (Clock::now() - start_ > Waiting::kLate) late_.store(true, std::memory_order_relaxed);
    if (std::this_thread::get_id() == caller_ && !arrived_.load(std::memory_order_relaxed)) {
      arrived_.store(true, std::memory_order_release);
      run_slot(0);
      if (give_up_) wait_for_others();
    } else {
      if (int slot = claim(item)) run_slot(slot);
      for (int spin = 0; !arrived_.load(std::memory_order_acquire); ++spin) {
        if (spin > 200) std::this_thread::yield();
      }
    }
    left_.fetch_add(1, std::memory_order_acq_rel);  // a worker touches nothing of the job after this
  }

  bool late() const { return late_.load(std::memory_order_relaxed); }
  Clock::time_point start() const { return start_; }

  // After pthreadpool's own waiting; orders the workers' writes before the caller's reads (see `published`).
  void finish() {
    while (left_.load(std::memory_order_acquire) < items_) std::this_thread::yield();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  // A slot that nobody has, or 0. The item's own number where possible: then the same thread mostly gets the same slot.
  int claim(int item) {
    auto take = [&](int slot) {
      uint64_t bit = uint64_t{1} << (slot % 64);
      return !(claimed_[static_cast<size_t>(slot / 64)].fetch_or(bit, std::memory_order_relaxed) & bit);
    };
    if (item > 0 && item < slots_ && take(item)) return item;
    for (int slot = 1; slot < slots_; ++slot) {
      if (take(slot)) return slot;
    }
    return 0;
  }

  void run_slot(int slot) {
    at_work = true;
    try {
      body_(slot);
    } catch (...) {
      std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
    at_work = false;
    done_.fetch_add(1, std::memory_order_acq_rel);
  }

  void wait_for_others() {
    for (int spin = 0; done_.load(std::memory_order_acquire) < slots_; ++spin) {
      if (spin < 2000) continue;
      give_up_();
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }

  FunctionRef<void(int)> body_;
  int slots_, items_;
  const std::function<bool()>& give_up_;
  std::thread::id caller_;
  Clock::time_point start_ = Clock::now();
  std::atomic<bool> late_{false};  // some thread came late
  std::array<std::atomic<uint64_t>, kMaxThreads / 64> claimed_{};
  std::atomic<bool> arrived_{false};
  std::atomic<int> done_{0};  // slots
  std::atomic<int> left_{0};  // items
  std::mutex mutex_;
  std::exception_ptr failure_;
};

void run_item(void* job, size_t item) {
  published.load(std::memory_order_acquire);
  static_cast<Job*>(job)->run_item(static_cast<int>(item));
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

bool run_on_workers(int slots, FunctionRef<void(int)> body, const std::function<bool()>& give_up) {
  if (slots <= 1 || at_work) {
    for (int slot = 0; slot < slots; ++slot) body(slot);
    return true;
  }
  std::shared_ptr<Pool> pool = pool_for(slots);
  std::unique_lock turn(pool->turn, std::defer_lock);
  if (give_up) {
    while (!turn.try_lock()) {
      if (give_up()) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  } else {
    turn.lock();
  }
  Job job(body, slots, pool->size, give_up);
  published.fetch_add(1, std::memory_order_release);
  bool spin = pool->waiting.spins(job.start());
  uint32_t flags = spin ? 0 : PTHREADPOOL_FLAG_YIELD_WORKERS;
  pthreadpool_parallelize_1d(pool->handle, run_item, &job, static_cast<size_t>(pool->size), flags);
  if (spin) pool->waiting.spun(Clock::now(), job.late());
  turn.unlock();
  job.finish();
  return true;
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

}  // namespace deep_accel
