// Memory that several tensors may share: from the pool, or somebody else's with a function that gives it back.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "deep_accel/runtime/memory.h"

namespace deep_accel {

class Buffer {
 public:
  // From the pool; throws OutOfMemoryError.
  static std::shared_ptr<Buffer> allocate(int64_t size, MemoryPool& pool = MemoryPool::instance());
  // Somebody else's. `release` (may be empty) runs once, when the last user is gone, on whatever thread that is.
  static std::shared_ptr<Buffer> wrap(void* data, int64_t size, std::function<void()> release, bool writable = true);

  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* data() const { return block_.data; }
  int64_t size() const { return block_.size; }
  // False for memory that must not be written (a read-only NumPy array, a mapped file).
  bool writable() const { return writable_; }
  bool zeroed() const { return block_.zeroed; }

 private:
  Buffer() = default;

  MemoryBlock block_;
  MemoryPool* pool_ = nullptr;
  std::function<void()> release_;
  bool writable_ = true;
};

}  // namespace deep_accel
