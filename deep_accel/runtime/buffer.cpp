// Who gives the memory back.
#include "deep_accel/runtime/buffer.h"

#include <utility>

namespace deep_accel {

std::shared_ptr<Buffer> Buffer::allocate(int64_t size, MemoryPool& pool) {
  std::shared_ptr<Buffer> buffer(new Buffer);
  buffer->block_ = pool.allocate(size);
  buffer->pool_ = &pool;
  return buffer;
}

std::shared_ptr<Buffer> Buffer::wrap(void* data, int64_t size, std::function<void()> release, bool writable) {
  std::shared_ptr<Buffer> buffer(new Buffer);
  buffer->block_.data = data;
  buffer->block_.size = size;
  buffer->release_ = std::move(release);
  buffer->writable_ = writable;
  return buffer;
}

Buffer::~Buffer() {
  if (pool_) pool_->release(block_);
  if (release_) release_();
}

}  // namespace deep_accel
