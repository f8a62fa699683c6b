// Requests are rounded up to size classes (four between powers of two), so that a freed block fits the next request of
// about its size; large ones come from mmap, small ones from the C library.
#include "deep_accel/runtime/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <fstream>
#include <new>
#include <string>

#include "deep_accel/base/environment.h"
#include "deep_accel/base/error.h"
#include "deep_accel/base/round_up.h"
#include "deep_accel/base/text.h"

#if defined(__SANITIZE_ADDRESS__)
#define DEEP_ACCEL_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DEEP_ACCEL_ASAN 1
#endif
#endif
#ifdef DEEP_ACCEL_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

namespace deep_accel {
namespace {

constexpr int64_t kAlignment = 64;
constexpr int64_t kHugePage = int64_t{2} << 20;
constexpr int64_t kLargestLimit = int64_t{1} << 60;  // so that rounding up cannot overflow

// At most a quarter more than asked for, above 256 bytes; from 2 MiB on whole huge pages, which costs addresses rather
// than memory: pages that nobody touches are not there.
int64_t size_class(int64_t size) {
  if (size <= 4 * kAlignment) return round_up(size, kAlignment);
  int64_t step = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(size))) / 4;
  return round_up(size, size >= kHugePage ? std::max(step, kHugePage) : std::max(step, kAlignment));
}

void* map_huge(int64_t capacity) {
  // mmap aligns to pages alone: take a huge page more, and cut off both ends.
  size_t whole = static_cast<size_t>(capacity + kHugePage);
  void* mapped = ::mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto start = reinterpret_cast<uintptr_t>(mapped);
  uintptr_t aligned = (start + kHugePage - 1) / kHugePage * kHugePage;
  if (aligned != start) ::munmap(mapped, aligned - start);
  uintptr_t end = aligned + static_cast<uintptr_t>(capacity);
  if (end != start + whole) ::munmap(reinterpret_cast<void*>(end), start + whole - end);
  auto* data = reinterpret_cast<void*>(aligned);
#ifdef MADV_HUGEPAGE
  ::madvise(data, static_cast<size_t>(capacity), MADV_HUGEPAGE);  // a wish: kernels without huge pages refuse it
#endif
  return data;
}

void give_to_system(void* data, int64_t capacity) {
  ASAN_UNPOISON_MEMORY_REGION(data, static_cast<size_t>(capacity));
  if (capacity >= kHugePage) {
    ::munmap(data, static_cast<size_t>(capacity));
  } else {
    std::free(data);
  }
}

int64_t system_memory() {
  int64_t memory = static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    int64_t limit = 0;
    if (std::ifstream(path) >> limit && limit > 0) memory = std::min(memory, limit);  // "max" is no number
  }
  return memory;
}

}  // namespace

MemoryPool& MemoryPool::instance() {
  // Never destroyed: tensors in static objects may outlive any order of destruction.
  static MemoryPool& pool = *new MemoryPool(environment_bytes("DEEP_ACCEL_MEMORY_LIMIT", system_memory()));
  return pool;
}

MemoryPool::MemoryPool(int64_t limit) { set_limit(limit); }

MemoryPool::~MemoryPool() { release_cached(); }

bool MemoryPool::take_cached(MemoryBlock& block) {
  auto found = free_.find(block.capacity);
  if (found == free_.end() || found->second.empty()) return false;
  block.data = found->second.back();
  found->second.pop_back();
  statistics_.cached -= block.capacity;
  ++statistics_.reused;
  return true;
}

bool MemoryPool::take_fresh(MemoryBlock& block) {
  if (block.capacity > statistics_.limit - statistics_.reserved) return false;
  if (block.capacity >= kHugePage) {
    block.data = map_huge(block.capacity);
    block.zeroed = true;
  } else {
    block.data = std::aligned_alloc(kAlignment, static_cast<size_t>(block.capacity));
  }
  if (!block.data) return false;
  statistics_.reserved += block.capacity;
  return true;
}

MemoryBlock MemoryPool::allocate(int64_t size) {
  if (size < 0) throw ValueError("cannot allocate " + std::to_string(size) + " bytes");
  if (size == 0) return {};
  MemoryBlock block{.size = size};
  MemoryStatistics at_failure;
  {
    std::lock_guard lock(mutex_);
    bool possible = size <= statistics_.limit;
    if (possible) block.capacity = size_class(size);
    if (possible && !take_cached(block) && !take_fresh(block)) {
      release_cached_locked();
      possible = take_fresh(block);
    }
    if (possible) {
      statistics_.in_use += size;
      statistics_.peak = std::max(statistics_.peak, statistics_.in_use);
      ++statistics_.requests;
    }
    at_failure = statistics_;
  }
  if (!block.data) {
    throw OutOfMemoryError("cannot allocate " + format_bytes(size) + ": " + format_bytes(at_failure.in_use) +
                           " are in use of a limit of " + format_bytes(at_failure.limit) +
                           "; free tensors, use smaller ones, or raise DEEP_ACCEL_MEMORY_LIMIT");
  }
  ASAN_UNPOISON_MEMORY_REGION(block.data, static_cast<size_t>(size));
  ASAN_POISON_MEMORY_REGION(static_cast<char*>(block.data) + size, static_cast<size_t>(block.capacity - size));
  return block;
}

void MemoryPool::release(const MemoryBlock& block) noexcept {
  if (!block.data) return;
  ASAN_POISON_MEMORY_REGION(block.data, static_cast<size_t>(block.capacity));
  std::lock_guard lock(mutex_);
  statistics_.in_use -= block.size;
  try {
    free_[block.capacity].push_back(block.data);
    statistics_.cached += block.capacity;
  } catch (const std::bad_alloc&) {
    give_to_system(block.data, block.capacity);
    statistics_.reserved -= block.capacity;
  }
}

MemoryStatistics MemoryPool::statistics() const {
  std::lock_guard lock(mutex_);
  return statistics_;
}

void MemoryPool::reset_peak() {
  std::lock_guard lock(mutex_);
  statistics_.peak = statistics_.in_use;
}

int64_t MemoryPool::release_cached_locked() {
  int64_t released = statistics_.cached;
  for (auto& [capacity, blocks] : free_) {
    for (void* data : blocks) give_to_system(data, capacity);
  }
  free_.clear();
  statistics_.reserved -= released;
  statistics_.cached = 0;
  return released;
}

int64_t MemoryPool::release_cached() {
  std::lock_guard lock(mutex_);
  return release_cached_locked();
}

void MemoryPool::set_limit(int64_t bytes) {
  if (bytes < 0) throw ValueError("a memory limit cannot be negative; got " + std::to_string(bytes));
  std::lock_guard lock(mutex_);
  statistics_.limit = std::min(bytes, kLargestLimit);
}

}  // namespace deep_accel
