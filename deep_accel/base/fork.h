// What keeps a process whole across fork(): a mutex that no fork can leave locked in the child, and a hook that runs
// there.
//
// fork() copies the calling thread alone. A mutex that another thread held at that moment stays locked in the child for
// ever, and worker threads are gone. ForkSafeMutex is taken before each fork and released after it on both sides.
#pragma once

#include <mutex>

namespace deep_accel {

// A leaf lock: while holding one, take no other lock, and do not call fork(). Meets BasicLockable and Lockable.
class ForkSafeMutex {
 public:
  ForkSafeMutex();
  ~ForkSafeMutex();
  ForkSafeMutex(const ForkSafeMutex&) = delete;
  ForkSafeMutex& operator=(const ForkSafeMutex&) = delete;

  void lock() { mutex_.lock(); }
  bool try_lock() { return mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

// `hook(context)` runs in the child right after each fork, in the one thread that is left, after the mutexes were
// released. For the life of the process: `context` must outlive it.
void after_fork_in_child(void (*hook)(void*), void* context);

}  // namespace deep_accel
