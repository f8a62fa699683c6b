// One registration with pthread_atfork serves all mutexes and hooks.
#include "deep_accel/base/fork.h"

#include <pthread.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace deep_accel {
namespace {

struct Registry {
  std::mutex mutex;
  std::vector<ForkSafeMutex*> mutexes;
  std::vector<std::pair<void (*)(void*), void*>> hooks;
};

Registry& registry() {
  // Never destroyed: a fork may come while static objects are destroyed.
  static Registry& instance = *[] {
    auto* made = new Registry;
    pthread_atfork(
        [] {
          registry().mutex.lock();
          for (ForkSafeMutex* mutex : registry().mutexes) mutex->lock();
        },
        [] {
          for (ForkSafeMutex* mutex : registry().mutexes) mutex->unlock();
          registry().mutex.unlock();
        },
        [] {
          for (ForkSafeMutex* mutex : registry().mutexes) mutex->unlock();
          registry().mutex.unlock();
          for (auto [hook, context] : registry().hooks) hook(context);
        });
    return made;
  }();
  return instance;
}

}  // namespace

ForkSafeMutex::ForkSafeMutex() {
  std::lock_guard lock(registry().mutex);
  registry().mutexes.push_back(this);
}

ForkSafeMutex::~ForkSafeMutex() {
  std::lock_guard lock(registry().mutex);
  std::erase(registry().mutexes, this);
}

void after_fork_in_child(void (*hook)(void*), void* context) {
  std::lock_guard lock(registry().mutex);
  registry().hooks.emplace_back(hook, context);
}

}  // namespace deep_accel
