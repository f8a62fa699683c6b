// Walking grids: each block once, in the order that was asked for, on several threads; failures, printing,
// interruption.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <random>
#include <thread>

#include "deep_accel/base/error.h"
#include "deep_accel/runtime/grid.h"
#include "deep_accel/runtime/kernel.h"
#include "deep_accel/runtime/memory.h"
#include "deep_accel/runtime/workers.h"
#include "deep_accel/trace/trace.h"
#include "tests/runtime/compile_c.h"

namespace deep_accel {
namespace {

// Writes for each block when it came, and who ran it. Sizes of the grid are those of the output.
constexpr const char* kRecord = R"(
SIGNATURE({'name': 'record', 'args': [
  {'name': 'order', 'kind': 'tensor', 'dtype': 'i64', 'role': 'out', 'dims': ['X', 'Y', 'Z']},
  {'name': 'worker', 'kind': 'tensor', 'dtype': 'i64', 'role': 'out', 'dims': ['X', 'Y', 'Z']},
  {'name': 'counter', 'kind': 'tensor', 'dtype': 'i64', 'role': 'inout', 'dims': [1]}],
  'phases': [{'axes': 3, 'order': 'rows'}], 'arena_bytes': 256})END
int64_t record_plan(const KernelContext* c, const int64_t* p, int64_t* g) { g[0] = p[1]; g[1] = p[2]; g[2] = p[3]; return 0; }
void record_phase0(const KernelContext* c, const int64_t* p, int64_t x, int64_t y, int64_t z) {
  int64_t at = (x * p[2] + y) * p[3] + z;
  ((int64_t*)p[0])[at] += 1 + __atomic_fetch_add((int64_t*)p[14], 1, __ATOMIC_SEQ_CST);
  ((int64_t*)p[7])[at] = c->worker;
  for (int i = 0; i < 256; ++i) c->arena[i] = (char)c->worker;
  for (int i = 0; i < 256; ++i) if (c->arena[i] != (char)c->worker) c->fail(c, "the arena is shared");
}
)";

// Finds the marks as the runtime sets them before a worker's first block of a phase, and as it left them later.
constexpr const char* kMarks = R"(
SIGNATURE({'name': 'marks', 'args': [
  {'name': 'fresh', 'kind': 'tensor', 'dtype': 'i64', 'role': 'out', 'dims': [2, 'N']}],
  'phases': [{'axes': 1, 'marks_bytes': 192}, {'axes': 1, 'marks_bytes': 192}], 'arena_bytes': 256})END
int64_t marks_plan(const KernelContext* c, const int64_t* p, int64_t* g) { g[0] = p[2]; g[3] = p[2]; return 0; }
static void look(const KernelContext* c, int64_t* fresh) {
  int count = 0;
  for (int i = 0; i < 192; ++i) count += (unsigned char)c->arena[i] == 0x80;
  if (count != 0 && count != 192) c->fail(c, "half of the marks are set");
  *fresh = count == 192 ? c->worker : -1;
  for (int i = 0; i < 256; ++i) c->arena[i] = 1;
}
void marks_phase0(const KernelContext* c, const int64_t* p, int64_t x, int64_t y, int64_t z) { look(c, (int64_t*)p[0] + x); }
void marks_phase1(const KernelContext* c, const int64_t* p, int64_t x, int64_t y, int64_t z) { look(c, (int64_t*)p[0] + p[2] + x); }
)";

TEST(Launch, MarksAreSetBeforeAWorkersFirstBlockOfAPhase) {
  const std::shared_ptr<const Kernel> kernel = kernel_from_c(kMarks);
  for (int threads : {1, 3}) {
    for (Partition partition : {Partition::dynamic, Partition::static_split}) {
      for (int launches = 0; launches < 2; ++launches) {
        const int64_t blocks = 12;
        Tensor fresh = Tensor::zeros(DType::i64, {2, blocks});
        launch(*kernel, {fresh}, {.threads = threads, .partition = partition});
        const std::vector<double> values = fresh.values();
        for (int64_t phase = 0; phase < 2; ++phase) {
          std::map<double, int> first_blocks;
          for (int64_t i = 0; i < blocks; ++i) ++first_blocks[values[static_cast<size_t>(phase * blocks + i)]];
          first_blocks.erase(-1);
          EXPECT_GE(first_blocks.size(), 1U);
          EXPECT_LE(first_blocks.size(), static_cast<size_t>(threads));
          for (const auto& [worker, count] : first_blocks) EXPECT_EQ(count, 1) << "worker " << worker;
        }
      }
    }
  }
}

struct Recorded {
  Dims grid;
  std::vector<double> order, worker;

  // (x, y, z) in the order of time.
  std::vector<std::array<int64_t, 3>> sequence() const {
    std::vector<std::array<int64_t, 3>> result(order.size());
    for (size_t at = 0; at < order.size(); ++at) {
      auto i = static_cast<int64_t>(at);
      result[static_cast<size_t>(order[at]) - 1] = {i / (grid[1] * grid[2]), i / grid[2] % grid[1], i % grid[2]};
    }
    return result;
  }
};

Recorded record(const Dims& grid, const LaunchOptions& options) {
  static std::shared_ptr<const Kernel> kernel = kernel_from_c(kRecord);
  Tensor order = Tensor::zeros(DType::i64, grid), worker = Tensor::zeros(DType::i64, grid);
  launch(*kernel, {order, worker, Tensor::zeros(DType::i64, {1})}, options);
  return {grid, order.values(), worker.values()};
}

void expect_each_once(const Recorded& recorded) {
  std::vector<double> sorted = recorded.order;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) ASSERT_EQ(sorted[i], static_cast<double>(i + 1));
}

TEST(Launch, EveryBlockRunsOnce) {
  for (Dims grid : {Dims{1, 1, 1}, Dims{7, 1, 1}, Dims{5, 3, 2}, Dims{13, 11, 1}, Dims{40, 50, 3}, Dims{0, 3, 3}}) {
    for (int threads : {1, 2, 3, 5}) {
      for (Partition partition : {Partition::dynamic, Partition::static_split}) {
        for (const char* order : {"rows", "columns", "swizzle:1", "swizzle:4", "swizzle:1000"}) {
          expect_each_once(
              record(grid, {.threads = threads, .partition = partition, .order = BlockOrder::parse(order)}));
        }
      }
    }
  }
}

TEST(Launch, OrdersOfBlocks) {
  using Blocks = std::vector<std::array<int64_t, 3>>;
  auto order = [](const Dims& grid, const char* name) {
    return record(grid, {.threads = 1, .order = BlockOrder::parse(name)}).sequence();
  };
  EXPECT_EQ(order({2, 2, 2}, "rows"),
            (Blocks{{0, 0, 0}, {0, 0, 1}, {0, 1, 0}, {0, 1, 1}, {1, 0, 0}, {1, 0, 1}, {1, 1, 0}, {1, 1, 1}}));
  EXPECT_EQ(order({2, 2, 2}, "columns"),
            (Blocks{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}}));
  // Groups of two along x, the last of one.
  EXPECT_EQ(order({3, 2, 1}, "swizzle:2"), (Blocks{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {2, 0, 0}, {2, 1, 0}}));
  EXPECT_EQ(order({1, 1, 3}, "swizzle:2"), (Blocks{{0, 0, 0}, {0, 0, 1}, {0, 0, 2}}));
}

TEST(Launch, StaticPartsAreContiguousAndTheSameEachTime) {
  LaunchOptions options{.threads = 3, .partition = Partition::static_split};
  Recorded first = record({10, 1, 1}, options), second = record({10, 1, 1}, options);
  EXPECT_EQ(first.worker, (std::vector<double>{0, 0, 0, 0, 1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(second.worker, first.worker);
}

TEST(Launch, ImpossibleGrids) {
  int64_t negative[3] = {1, -1, 1}, large[3] = {INT64_MAX, 2, 2}, empty[3] = {INT64_MAX, INT64_MAX, 0};
  EXPECT_THROW(Grid("k", negative, {}), Error);
  EXPECT_THROW(Grid("k", large, {}), Error);
  EXPECT_EQ(Grid("k", empty, {}).blocks(), 0);
  EXPECT_THROW(record({1, 1, 1}, {.threads = -1}), ValueError);
  EXPECT_THROW(record({1, 1, 1}, {.threads = kMaxThreads + 1}), ValueError);
}

// Two phases: parts are summed into the workspace, then the parts' sums. Right only if all of the first comes before
// the second.
constexpr const char* kSum = R"(
SIGNATURE({'name': 'sum', 'args': [
  {'name': 'x', 'kind': 'tensor', 'dtype': 'f64', 'role': 'in', 'dims': ['N']},
  {'name': 'y', 'kind': 'tensor', 'dtype': 'f64', 'role': 'out', 'dims': [1]}],
  'phases': [{'axes': 1}, {'axes': 1}]})END
int64_t sum_plan(const KernelContext* c, const int64_t* p, int64_t* g) {
  int64_t parts = (p[1] + 99) / 100;
  g[0] = parts; g[3] = 1;
  return parts * 8;
}
void sum_phase0(const KernelContext* c, const int64_t* p, int64_t x, int64_t y, int64_t z) {
  double s = 0;
  for (int64_t i = x * 100; i < (x + 1) * 100 && i < p[1]; ++i) s += ((double*)p[0])[i];
  ((double*)c->workspace)[x] = s;
}
void sum_phase1(const KernelContext* c, const int64_t* p, int64_t x, int64_t y, int64_t z) {
  double s = 0;
  for (int64_t i = 0; i < (p[1] + 99) / 100; ++i) s += ((double*)c->workspace)[i];
  *(double*)p[3] = s;
}
)";

TEST(Launch, PhasesFollowEachOther) {
  auto kernel = kernel_from_c(kSum);
  int64_t before = MemoryPool::instance().statistics().in_use;
  for (int64_t n : {0, 1, 99, 100, 101, 12345}) {
    for (int threads : {1, 3}) {
      Tensor y = Tensor::full(DType::f64, {1}, -1);
      launch(*kernel, {Tensor::full(DType::f64, {n}, 1), y}, {.threads = threads});
      EXPECT_EQ(y.at({0}), static_cast<double>(n));
    }
  }
  EXPECT_EQ(MemoryPool::instance().statistics().in_use, before);  // workspaces were given back
}

TEST(Launch, ManyCallersAtOnce) {
  auto kernel = kernel_from_c(kSum);
  std::vector<std::thread> callers;
  for (int c = 0; c < 8; ++c) {
    callers.emplace_back([&, c] {
      Tensor x = Tensor::full(DType::f64, {1000 + c}, 1), y = Tensor::zeros(DType::f64, {1});
      for (int i = 0; i < 50; ++i) {
        y.fill(0);
        launch(*kernel, {x, y}, {.threads = 1 + i % 3});
        ASSERT_EQ(y.at({0}), 1000 + c);
      }
    });
  }
  for (auto& caller : callers) caller.join();
}

constexpr const char* kTalk = R"(
SIGNATURE({'name': 'talk', 'args': [
  {'name': 'n', 'kind': 'scalar', 'dtype': 'i64'},
  {'name': 'bad', 'kind': 'scalar', 'dtype': 'i64'},
  {'name': 'ran', 'kind': 'tensor', 'dtype': 'i64', 'role': 'inout', 'dims': [1]},
  {'name': 'sleep', 'kind': 'scalar', 'dtype': 'i64'}],
  'phases': [{'axes': 1}], 'arena_bytes': 0})END
int usleep(unsigned);
int64_t talk_plan(const KernelContext* c, const int64_t* p, int64_t* g) {
  if (p[0] < 0) c->fail(c, "talk.py:3: n must not be negative");
  g[0] = p[0];
  return p[0] == 77 ? INT64_MAX : p[0] == 78 ? -1 : 0;
}
void talk_phase0(const KernelContext* c, const int64_t* p, int64_t x, int64_t y, int64_t z) {
  __atomic_fetch_add((int64_t*)p[2], 1, __ATOMIC_SEQ_CST);
  if (p[5]) usleep((unsigned)p[5]);
  double v[3] = {(double)x, 0.5, 1e300};
  if (p[1] == -2) c->print(c, "block {} has {{}", 3, v);
  if (x == p[1]) c->fail(c, "talk.py:7: index 9 is out of bounds");
}
)";

const Kernel& talk() {
  static std::shared_ptr<const Kernel> kernel = kernel_from_c(kTalk);
  return *kernel;
}

TEST(Launch, AFailureStopsTheLaunchAndIsThrown) {
  for (int threads : {1, 3}) {
    Tensor ran = Tensor::zeros(DType::i64, {1});
    try {
      launch(talk(), {10000, 20, ran, 0}, {.threads = threads});
      FAIL();
    } catch (const ValueError& error) {
      EXPECT_STREQ(error.what(), "kernel 'talk': talk.py:7: index 9 is out of bounds");
    }
    EXPECT_LT(ran.at({0}), 10000);
  }
  EXPECT_THROW(launch(talk(), {-1, -1, Tensor::zeros(DType::i64, {1}), 0}), ValueError);
  EXPECT_THROW(launch(talk(), {77, -1, Tensor::zeros(DType::i64, {1}), 0}), OutOfMemoryError);
  EXPECT_THROW(launch(talk(), {78, -1, Tensor::zeros(DType::i64, {1}), 0}), Error);
  launch(talk(), {10, -1, Tensor::zeros(DType::i64, {1}), 0});  // and the process goes on
}

TEST(Launch, Prints) {
  std::vector<std::string> lines;
  LaunchOptions options{.threads = 2, .print = [&](std::string_view line) { lines.emplace_back(line); }};
  launch(talk(), {3, -2, Tensor::zeros(DType::i64, {1}), 0}, options);
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(lines, (std::vector<std::string>{"block 0 has {0.5 1e+300", "block 1 has {0.5 1e+300",
                                             "block 2 has {0.5 1e+300"}));
  testing::internal::CaptureStdout();
  launch(talk(), {1, -2, Tensor::zeros(DType::i64, {1}), 0});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "block 0 has {0.5 1e+300\n");
  options.print = [](std::string_view) { throw std::runtime_error("no paper"); };
  EXPECT_THROW(launch(talk(), {3, -2, Tensor::zeros(DType::i64, {1}), 0}, options), std::runtime_error);
}

TEST(Launch, CanBeInterrupted) {
  using Clock = std::chrono::steady_clock;
  for (int threads : {1, 2, 3}) {
    for (Partition partition : {Partition::dynamic, Partition::static_split}) {
      Clock::time_point start = Clock::now();
      auto caller = std::this_thread::get_id();
      LaunchOptions options{.threads = threads, .partition = partition, .interrupted = [&] {
                              EXPECT_EQ(std::this_thread::get_id(), caller);
                              return Clock::now() - start > std::chrono::milliseconds(60);
                            }};
      // Ten thousand blocks of a millisecond.
      EXPECT_THROW(launch(talk(), {10000, -1, Tensor::zeros(DType::i64, {1}), 1000}, options), Interrupted);
      EXPECT_LT(Clock::now() - start, std::chrono::seconds(2));
    }
  }
  LaunchOptions throwing{.threads = 2, .interrupted = []() -> bool { throw std::runtime_error("signal"); }};
  EXPECT_THROW(launch(talk(), {10000, -1, Tensor::zeros(DType::i64, {1}), 1000}, throwing), std::runtime_error);
  LaunchOptions never{.threads = 2, .interrupted = [] { return false; }};
  launch(talk(), {40, -1, Tensor::zeros(DType::i64, {1}), 1000}, never);
}

TEST(Launch, WaitingForOthersCanBeInterrupted) {
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    LaunchOptions options{.threads = 2, .interrupted = [&] { return stop.load(); }};
    EXPECT_THROW(launch(talk(), {100000, -1, Tensor::zeros(DType::i64, {1}), 1000}, options), Interrupted);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  // The workers are taken, possibly; either way this returns soon.
  LaunchOptions options{.threads = 2, .interrupted = [] { return true; }};
  EXPECT_THROW(launch(talk(), {100000, -1, Tensor::zeros(DType::i64, {1}), 1000}, options), Interrupted);
  stop = true;
  busy.join();
}

TEST(Launch, WorksAfterFork) {
  record({50, 1, 1}, {.threads = 3});
  pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(20);
    Recorded recorded = record({50, 1, 1}, {.threads = 3});
    std::sort(recorded.order.begin(), recorded.order.end());
    ::_exit(recorded.order.front() == 1 && recorded.order.back() == 50 ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Launch, IsTraced) {
  trace::start();
  record({2, 1, 1}, {.threads = 1});
  trace::stop();
  EXPECT_NE(trace::to_json().find("\"name\":\"record\""), std::string::npos);
}

// Meant to be under 3 microseconds; here with room for a busy machine and for sanitizers. The figure is in the test's
// report.
TEST(Launch, IsCheap) {
  auto kernel = kernel_from_c(kSum);
  Tensor x = Tensor::full(DType::f64, {10}, 1), y = Tensor::zeros(DType::f64, {1});
  std::vector<Argument> arguments{x, y};
  std::vector<double> microseconds;
  for (int round = 0; round < 50; ++round) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 200; ++i) launch(*kernel, arguments);
    microseconds.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() /
                           200);
  }
  std::sort(microseconds.begin(), microseconds.end());
  RecordProperty("microseconds", std::to_string(microseconds[25]));
  std::printf("a launch of two phases takes %.2f microseconds\n", microseconds[25]);
  EXPECT_LT(microseconds[25], 100);
}

}  // namespace
}  // namespace deep_accel
