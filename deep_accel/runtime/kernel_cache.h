// KernelCache: a kernel from memory, else from the disk, else compiled now.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "deep_accel/base/fork.h"
#include "deep_accel/base/hash.h"
#include "deep_accel/runtime/kernel.h"
#include "deep_accel/runtime/kernel_store.h"

namespace deep_accel {

// All that decides what machine code comes out. Two keys that differ anywhere are two kernels.
struct KernelKey {
  std::string ir;        // the program's text
  std::string options;   // of the compiler
  std::string compiler;  // its name and version
  std::string features;  // of the processor that the code is for

  Sha256 digest() const;
};

struct KernelCacheStatistics {
  // Of this process.
  int64_t memory_hits = 0;
  int64_t disk_hits = 0;
  int64_t compiled = 0;
  int64_t damaged = 0;
  int64_t evicted = 0;
  int64_t in_memory = 0;
  // Of the folder.
  int64_t disk_entries = 0;
  int64_t disk_bytes = 0;
  int64_t disk_limit = 0;
};

// Safe for threads, for processes that share the folder, and across fork.
class KernelCache {
 public:
  // The process's own: in cache_directory() / "kernels" (DEEP_ACCEL_CACHE_DIR), of at most DEEP_ACCEL_CACHE_LIMIT bytes
  // ("1G" unless set; 0 for memory alone).
  static KernelCache& instance();

  // An empty folder: memory alone.
  KernelCache(std::filesystem::path folder, int64_t limit_bytes);

  // Returns a shared library image; what it throws reaches the caller of get(), and all who wait for the same kernel.
  using Compile = std::function<std::vector<std::byte>()>;

  // Threads that ask for one key at the same time wait for one compilation.
  std::shared_ptr<const Kernel> get(const KernelKey& key, const Compile& compile);

  const std::filesystem::path& folder() const { return store_.folder(); }
  // On disk, the most recently used first.
  std::vector<StoredKernel> list() const { return store_.list(); }
  // Forgets everything in memory and on disk; returns how many entries the disk had.
  int64_t clear();
  // Forgets what is in memory; kernels that are in use live on.
  void clear_memory();
  KernelCacheStatistics statistics() const;

 private:
  struct Pending;
  std::shared_ptr<const Kernel> load_or_compile(const Sha256& key, const Compile& compile);

  KernelStore store_;
  mutable ForkSafeMutex mutex_;
  std::map<Sha256, std::shared_ptr<const Kernel>> memory_;
  std::map<Sha256, std::shared_ptr<Pending>> pending_;
  KernelCacheStatistics counts_;
};

}  // namespace deep_accel
