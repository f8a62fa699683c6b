// Worker threads: many callers, exceptions, nesting, fork.
#include "deep_accel/runtime/workers.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "deep_accel/base/error.h"
#include "deep_accel/runtime/memory.h"

namespace deep_accel {
namespace {

TEST(Workers, EachSlotRunsOnce) {
  for (int slots : {0, 1, 2, 3, 7, 16}) {
    std::vector<std::atomic<int>> seen(static_cast<size_t>(slots));
    run_on_workers(slots, [&](int slot) { ++seen[static_cast<size_t>(slot)]; });
    for (auto& count : seen) EXPECT_EQ(count, 1) << slots;
  }
}

TEST(Workers, SlotsRunAtTheSameTime) {
  // Each waits for all others: ends only if each has a thread.
  std::atomic<int> arrived{0};
  run_on_workers(4, [&](int) {
    ++arrived;
    while (arrived < 4) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 4);
}

TEST(Workers, PlainWritesAreSeenByTheCaller) {
  std::vector<int> results(8);
  for (int round = 1; round < 300; ++round) {
    run_on_workers(8, [&](int slot) { results[static_cast<size_t>(slot)] += round; });
    for (int& value : results) ASSERT_EQ(value, round * (round + 1) / 2);
  }
}

TEST(Workers, ManyCallers) {
  std::vector<std::thread> callers;
  std::atomic<int> total{0};
  for (int c = 0; c < 8; ++c) {
    callers.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        int mine[3] = {};
        run_on_workers(3, [&](int slot) { mine[slot] = slot + 1; });
        total += mine[0] + mine[1] + mine[2];
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(total, 8 * 100 * 6);
}

TEST(Workers, ExceptionsReachTheCallerAndThePoolGoesOn) {
  for (int thrower : {0, 1, 2}) {
    std::atomic<int> ended{0};
    try {
      run_on_workers(3, [&](int slot) {
        ++ended;
        if (slot == thrower) throw std::runtime_error("slot " + std::to_string(slot));
      });
      FAIL();
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), "slot " + std::to_string(thrower));
    }
    EXPECT_EQ(ended, 3);
    EXPECT_FALSE(in_worker());
  }
}

TEST(Workers, NestedWorkStaysOnItsThread) {
  std::atomic<int> inner{0};
  run_on_workers(2, [&](int) {
    EXPECT_TRUE(in_worker());
    auto self = std::this_thread::get_id();
    run_on_workers(4, [&](int) {
      EXPECT_EQ(std::this_thread::get_id(), self);
      ++inner;
    });
    parallel_for(10, 1, [&](int64_t begin, int64_t end) { inner += static_cast<int>(end - begin); });
  });
  EXPECT_EQ(inner, 2 * (4 + 10));
}

TEST(Workers, ParallelForCoversTheRange) {
  for (int64_t count : {0, 1, 2, 99, 1000}) {
    std::vector<std::atomic<int>> seen(static_cast<size_t>(count));
    parallel_for(count, 7, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
    });
    for (auto& times : seen) ASSERT_EQ(times, 1);
  }
}

TEST(Workers, NumberOfThreads) {
  int before = num_threads();
  EXPECT_GE(available_processors(), 1);
  set_num_threads(3);
  EXPECT_EQ(num_threads(), 3);
  EXPECT_THROW(set_num_threads(0), ValueError);
  EXPECT_THROW(set_num_threads(kMaxThreads + 1), ValueError);
  // While others work.
  std::atomic<bool> stop{false};
  std::thread caller([&] {
    while (!stop) run_on_workers(2, [](int) {});
  });
  for (int i = 0; i < 20; ++i) set_num_threads(1 + i % 4);
  stop = true;
  caller.join();
  set_num_threads(before);
}

TEST(Workers, TheCallerIsHeardWhileItWaits) {
  std::atomic<int> asked{0};
  auto caller = std::this_thread::get_id();
  run_on_workers(
      2,
      [&](int) {
        if (std::this_thread::get_id() != caller) {
          while (asked < 3) std::this_thread::yield();
        }
      },
      [&] {
        ++asked;
        return false;
      });
  EXPECT_GE(asked, 3);
}

TEST(Workers, AWaitingCallerCanGiveUp) {
  std::atomic<bool> working{false}, stop{false};
  std::thread busy([&] {
    run_on_workers(2, [&](int) {
      working = true;
      while (!stop) std::this_thread::yield();
    });
  });
  while (!working) std::this_thread::yield();
  int asked = 0;
  EXPECT_FALSE(run_on_workers(2, [](int) { ADD_FAILURE() << "the workers are taken"; }, [&] { return ++asked == 3; }));
  EXPECT_EQ(asked, 3);
  stop = true;
  busy.join();
  EXPECT_TRUE(run_on_workers(2, [](int) {}, [] { return true; }));
}

TEST(Workers, ArenasAreOfOneThreadAndNest) {
  std::mutex mutex;
  std::set<char*> seen;
  std::atomic<int> arrived{0};
  run_on_workers(4, [&](int slot) {
    ThreadArena arena(10000);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(arena.data()) % 64, 0u);
    std::memset(arena.data(), slot, 10000);
    ++arrived;
    while (arrived < 4) std::this_thread::yield();
    EXPECT_EQ(arena.data()[9999], slot);
    std::lock_guard lock(mutex);
    seen.insert(arena.data());
  });
  EXPECT_EQ(seen.size(), 4u);
  char* first;
  {
    ThreadArena outer(100);
    ThreadArena inner(100);
    EXPECT_NE(outer.data(), inner.data());
    first = outer.data();
  }
  ThreadArena again(50);
  EXPECT_EQ(again.data(), first);
  EXPECT_GE(arena_bytes_held(), 4 * 10000);
  EXPECT_THROW(ThreadArena(INT64_MAX), OutOfMemoryError);
  EXPECT_THROW(ThreadArena(INT64_MAX / 4), OutOfMemoryError);
}

// The child has no threads of its parent's; it makes new ones. Others fork while work is going on.
TEST(Workers, Fork) {
  run_on_workers(3, [](int) {});
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) {
      run_on_workers(2, [](int) { MemoryPool::instance().release(MemoryPool::instance().allocate(100)); });
    }
  });
  for (int i = 0; i < 5; ++i) {
    pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::alarm(20);  // a child that hangs fails
      std::atomic<int> count{0};
      for (int round = 0; round < 20; ++round) run_on_workers(3, [&](int slot) { count += slot; });
      MemoryPool::instance().release(MemoryPool::instance().allocate(100));
      ::_exit(count == 60 ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  busy.join();
  int total = 0;
  run_on_workers(1, [&](int) { ++total; });
  EXPECT_EQ(total, 1);
}

}  // namespace
}  // namespace deep_accel
