// Aligned memory from a pool that keeps what is given back for the next request of its size.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "deep_accel/base/fork.h"

namespace deep_accel {

struct MemoryStatistics {
  int64_t in_use = 0;    // bytes asked for and not given back
  int64_t peak = 0;      // the largest `in_use` so far, or since reset_peak()
  int64_t reserved = 0;  // bytes held from the system: in use, rounding, and cached
  int64_t cached = 0;    // of these, given back and waiting to be reused
  int64_t requests = 0;  // how many were served
  int64_t reused = 0;    // of these, from the cache
  int64_t limit = 0;     // the most that may be reserved
};

// Piece of memory from a MemoryPool. Aligned to 64 bytes; from 2 MiB on to 2 MiB, with huge pages asked for.
struct MemoryBlock {
  void* data = nullptr;
  int64_t size = 0;      // as asked for
  int64_t capacity = 0;  // as reserved
  bool zeroed = false;   // fresh from the system: known to be all zeros
};

// Safe for threads, and across fork.
class MemoryPool {
 public:
  // The one that tensors use. Limit: DEEP_ACCEL_MEMORY_LIMIT ("8G"), else the machine's memory or the control group's
  // limit, the lesser.
  static MemoryPool& instance();

  explicit MemoryPool(int64_t limit);
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  // Size 0 gives a block without memory. Before it throws OutOfMemoryError, which says what was asked for and what is
  // in use, everything cached is given back to the system and the request is tried again.
  MemoryBlock allocate(int64_t size);
  void release(const MemoryBlock& block) noexcept;

  MemoryStatistics statistics() const;
  void reset_peak();
  // Gives everything cached back to the system; returns the bytes.
  int64_t release_cached();
  // Counts what is reserved. What is in use already stays, even above.
  void set_limit(int64_t bytes);

 private:
  bool take_cached(MemoryBlock& block);
  bool take_fresh(MemoryBlock& block);
  int64_t release_cached_locked();

  mutable ForkSafeMutex mutex_;
  MemoryStatistics statistics_;
  // Free blocks by their exact capacity: rounding leaves few distinct ones.
  std::map<int64_t, std::vector<void*>> free_;
};

}  // namespace deep_accel
