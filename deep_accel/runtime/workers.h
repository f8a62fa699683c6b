// The worker threads, on pthreadpool, and the arena of each.
//
// Any number of threads may call at the same time: their work is done one call after another. Work that is started from
// within a worker runs on that worker alone. After fork() the child makes new threads when it first needs them.
#pragma once

#include <cstdint>
#include <functional>

#include "deep_accel/base/function_ref.h"

namespace deep_accel {

// How many threads work by default: set_num_threads(), else DEEP_ACCEL_NUM_THREADS, else the processors that this
// process may use (affinity and control group).
int num_threads();
// Throws ValueError below 1 or above kMaxThreads. Running work is not disturbed.
void set_num_threads(int count);
// The processors that this process may use.
int available_processors();

inline constexpr int kMaxThreads = 1024;

// Calls body(slot) once for each slot in [0, slots), at the same time as far as there are threads; returns when all are
// done. Slot 0 runs on the calling thread; one slot alone wakes nobody. The first exception of a body is thrown to the
// caller, after all have ended. `give_up`, where given, is called by the calling thread every few milliseconds at most
// while it waits, and must not throw: true before the work has begun leaves it undone, and the function returns false;
// work that has begun is waited for.
bool run_on_workers(int slots, FunctionRef<void(int)> body, const std::function<bool()>& give_up = {});

// body(begin, end) over parts of [0, count) of at least `grain`, on up to num_threads() threads.
void parallel_for(int64_t count, int64_t grain, FunctionRef<void(int64_t, int64_t)> body);

// Whether this thread is at work for run_on_workers.
bool in_worker();

// Memory of the calling thread alone while the object lives: 64-byte aligned, contents undefined. Kept by the thread
// for the next time, grows, and comes from the system, so that the thread is the first to touch it. Objects of one
// thread nest.
class ThreadArena {
 public:
  // Throws OutOfMemoryError.
  explicit ThreadArena(int64_t bytes);
  ~ThreadArena();
  ThreadArena(const ThreadArena&) = delete;
  ThreadArena& operator=(const ThreadArena&) = delete;
  char* data() const { return data_; }

 private:
  char* data_ = nullptr;
};

// Bytes that the arenas of all threads hold.
int64_t arena_bytes_held();

}  // namespace deep_accel
