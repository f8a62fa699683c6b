// The memory pool: alignment, reuse, figures, limits.
#include "deep_accel/runtime/memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>

#include "deep_accel/base/error.h"

namespace deep_accel {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

TEST(Memory, Alignment) {
  MemoryPool pool(1024 * kMiB);
  for (int64_t size : {int64_t{1}, int64_t{64}, int64_t{65}, int64_t{1000}, kMiB, 2 * kMiB, 5 * kMiB + 1}) {
    MemoryBlock block = pool.allocate(size);
    auto address = reinterpret_cast<uintptr_t>(block.data);
    EXPECT_EQ(address % (size >= 2 * kMiB ? 2 * kMiB : 64), 0u) << size;
    EXPECT_GE(block.capacity, size);
    std::memset(block.data, 1, static_cast<size_t>(size));
    pool.release(block);
  }
  EXPECT_EQ(pool.allocate(0).data, nullptr);
  EXPECT_THROW(pool.allocate(-1), ValueError);
}

TEST(Memory, ReusesAndCounts) {
  MemoryPool pool(64 * kMiB);
  MemoryBlock a = pool.allocate(1000), b = pool.allocate(3 * kMiB);
  MemoryStatistics now = pool.statistics();
  EXPECT_EQ(now.in_use, 1000 + 3 * kMiB);
  EXPECT_EQ(now.peak, now.in_use);
  EXPECT_EQ(now.requests, 2);
  EXPECT_EQ(now.reused, 0);
  void* address = a.data;
  pool.release(a);
  pool.release(b);
  now = pool.statistics();
  EXPECT_EQ(now.in_use, 0);
  EXPECT_EQ(now.cached, now.reserved);
  a = pool.allocate(990);  // of the same class
  EXPECT_EQ(a.data, address);
  EXPECT_EQ(pool.statistics().reused, 1);
  pool.release(a);
  pool.reset_peak();
  EXPECT_EQ(pool.statistics().peak, 0);
  int64_t reserved = pool.statistics().reserved;
  EXPECT_EQ(pool.release_cached(), reserved);
  EXPECT_EQ(pool.statistics().reserved, 0);
}

TEST(Memory, OutOfMemorySaysHowMuch) {
  MemoryPool pool(16 * kMiB);
  MemoryBlock kept = pool.allocate(8 * kMiB);
  try {
    pool.allocate(12 * kMiB);
    FAIL();
  } catch (const OutOfMemoryError& error) {
    EXPECT_STREQ(
        error.what(),
        "cannot allocate 12 MiB: 8 MiB are in use of a limit of 16 MiB; free tensors, use smaller ones, or raise "
        "DEEP_ACCEL_MEMORY_LIMIT");
  }
  EXPECT_THROW(pool.allocate(INT64_MAX), OutOfMemoryError);
  EXPECT_EQ(pool.statistics().in_use, 8 * kMiB);
  pool.release(kept);
  // What is cached makes way for another size.
  pool.release(pool.allocate(16 * kMiB));
  MemoryBlock other = pool.allocate(6 * kMiB);
  EXPECT_EQ(pool.statistics().reserved, other.capacity);
  pool.release(other);
  pool.set_limit(INT64_MAX);
  EXPECT_THROW(pool.allocate(INT64_MAX), OutOfMemoryError);
  EXPECT_THROW(pool.set_limit(-1), ValueError);
}

TEST(Memory, ManyThreads) {
  MemoryPool pool(1024 * kMiB);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 8; ++t) {
    threads.emplace_back([&pool, t] {
      std::mt19937 random(40 + t);
      std::vector<MemoryBlock> blocks;
      for (int i = 0; i < 2000; ++i) {
        if (blocks.size() < 20 && random() % 2) {
          MemoryBlock block = pool.allocate(1 + static_cast<int64_t>(random() % 5000));
          std::memset(block.data, static_cast<int>(t), static_cast<size_t>(block.size));
          blocks.push_back(block);
        } else if (!blocks.empty()) {
          MemoryBlock block = blocks.back();
          blocks.pop_back();
          ASSERT_EQ(static_cast<unsigned char*>(block.data)[block.size - 1], t);
          pool.release(block);
        }
      }
      for (const MemoryBlock& block : blocks) pool.release(block);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(pool.statistics().in_use, 0);
  EXPECT_EQ(pool.statistics().cached, pool.statistics().reserved);
}

}  // namespace
}  // namespace deep_accel
