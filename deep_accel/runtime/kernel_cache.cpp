// The order of the search, and one compilation for all who ask at once.
#include "deep_accel/runtime/kernel_cache.h"

#include <unistd.h>

#include <condition_variable>
#include <exception>
#include <mutex>

#include "deep_accel/base/environment.h"
#include "deep_accel/base/error.h"
#include "deep_accel/base/files.h"
#include "deep_accel/trace/trace.h"

namespace deep_accel {

Sha256 KernelKey::digest() const {
  // Each part with its length, so that moving text from one part to the next changes the digest.
  std::string all = "deep_accel kernel 1\n";
  for (const std::string* part : {&ir, &options, &compiler, &features}) {
    all += std::to_string(part->size()) + "\n" + *part;
  }
  return sha256(all);
}

// A kernel that some thread is loading or compiling.
struct KernelCache::Pending {
  pid_t process = ::getpid();  // in a forked child the thread that would finish it does not exist
  std::mutex mutex;
  std::condition_variable finished;
  bool done = false;
  std::shared_ptr<const Kernel> kernel;
  std::exception_ptr failure;
};

KernelCache& KernelCache::instance() {
  static KernelCache& cache =
      *new KernelCache(cache_directory() / "kernels", environment_bytes("DEEP_ACCEL_CACHE_LIMIT", int64_t{1} << 30));
  return cache;
}

KernelCache::KernelCache(std::filesystem::path folder, int64_t limit_bytes) : store_(std::move(folder), limit_bytes) {}

std::shared_ptr<const Kernel> KernelCache::get(const KernelKey& key, const Compile& compile) {
  Sha256 digest = key.digest();
  std::shared_ptr<Pending> pending;
  bool ours = false;
  {
    std::lock_guard lock(mutex_);
    if (auto found = memory_.find(digest); found != memory_.end()) {
      ++counts_.memory_hits;
      trace::count("kernel_cache.memory_hit");
      return found->second;
    }
    std::shared_ptr<Pending>& slot = pending_[digest];
    if (!slot || slot->process != ::getpid()) {
      slot = std::make_shared<Pending>();
      ours = true;
    }
    pending = slot;
  }
  if (!ours) {
    std::unique_lock lock(pending->mutex);
    pending->finished.wait(lock, [&] { return pending->done; });
    if (pending->failure) std::rethrow_exception(pending->failure);
    return pending->kernel;
  }

  std::shared_ptr<const Kernel> kernel;
  std::exception_ptr failure;
  try {
    kernel = load_or_compile(digest, compile);
  } catch (...) {
    failure = std::current_exception();
  }
  {
    std::lock_guard lock(mutex_);
    pending_.erase(digest);  // after a failure the next one tries again
    if (kernel) memory_[digest] = kernel;
  }
  {
    std::lock_guard lock(pending->mutex);
    pending->kernel = kernel;
    pending->failure = failure;
    pending->done = true;
  }
  pending->finished.notify_all();
  if (failure) std::rethrow_exception(failure);
  return kernel;
}

std::shared_ptr<const Kernel> KernelCache::load_or_compile(const Sha256& key, const Compile& compile) {
  if (auto image = store_.read(key)) {
    trace::Scope scope("kernel_cache", "load");
    try {
      std::shared_ptr<const Kernel> kernel = Kernel::load(*image);
      std::lock_guard lock(mutex_);
      ++counts_.disk_hits;
      return kernel;
    } catch (const Error& error) {
      store_.remove_damaged(key, error.what());
    }
  }
  trace::Scope scope("kernel_cache", "compile");
  std::vector<std::byte> image = compile();
  std::shared_ptr<const Kernel> kernel = Kernel::load(image);
  store_.write(key, kernel->name(), image);
  std::lock_guard lock(mutex_);
  ++counts_.compiled;
  return kernel;
}

void KernelCache::clear_memory() {
  std::map<Sha256, std::shared_ptr<const Kernel>> dropped;  // unloaded outside the lock
  std::lock_guard lock(mutex_);
  dropped.swap(memory_);
}

int64_t KernelCache::clear() {
  clear_memory();
  return store_.clear();
}

KernelCacheStatistics KernelCache::statistics() const {
  KernelCacheStatistics result;
  {
    std::lock_guard lock(mutex_);
    result = counts_;
    result.in_memory = static_cast<int64_t>(memory_.size());
  }
  KernelStore::Counts disk = store_.counts();
  result.damaged = disk.damaged;
  result.evicted = disk.evicted;
  result.disk_limit = store_.limit();
  for (const StoredKernel& entry : store_.list()) {
    ++result.disk_entries;
    result.disk_bytes += entry.bytes;
  }
  return result;
}

}  // namespace deep_accel
