// Kernels compiled just in time give the right values, for every size, and come from the cache the second time.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>

#include "deep_accel/base/error.h"
#include "deep_accel/compile/compiler.h"
#include "deep_accel/runtime/kernel.h"
#include "deep_accel/runtime/kernel_cache.h"
#include "programs.h"
#include "tests/temporary_folder.h"

namespace deep_accel {
namespace {

using tile::Program;

// The cache of the user who runs the tests is left alone.
class OwnCache : public ::testing::Environment {
  void SetUp() override { ::setenv("DEEP_ACCEL_CACHE_DIR", folder_.path().c_str(), 1); }
  TemporaryFolder folder_;
};
[[maybe_unused]] const ::testing::Environment* own_cache = ::testing::AddGlobalTestEnvironment(new OwnCache);

// Small integers, so that every sum is exact.
Tensor small_integers(DType dtype, const Dims& shape, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> number(-8, 8);
  Tensor tensor = Tensor::empty(dtype, shape);
  std::vector<double> values(static_cast<size_t>(tensor.size()));
  for (double& value : values) value = number(random);
  return Tensor::from_values(dtype, shape, values);
}

TEST(Jit, CopiesEverySize) {
  auto kernel = compile::jit(Program::parse(test::kCopyProgram));
  for (int64_t n : {1, 2, 63, 64, 127, 128, 129, 257, 1009}) {
    Tensor a = small_integers(DType::f32, {n}, 1), b = Tensor::full(DType::f32, {n}, 99);
    launch(*kernel, {a, b});
    EXPECT_EQ(a.values(), b.values()) << "n = " << n;
  }
}

TEST(Jit, ProductIsExact) {
  auto kernel = compile::jit(Program::parse(test::kProductProgram));
  for (int64_t m : {1, 7, 8, 9, 61}) {
    Tensor a = small_integers(DType::f16, {m, 32}, 2), b = small_integers(DType::f32, {32, 16}, 3);
    Tensor c = Tensor::zeros(DType::f32, {m, 16});
    launch(*kernel, {a, b, c, 0.5f});
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < 16; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < 32; ++k) sum += a.at({i, k}) * b.at({k, j});
        ASSERT_EQ(c.at({i, j}), 0.5 * sum) << "M = " << m << " at " << i << ", " << j;
      }
    }
  }
}

TEST(Jit, ComesFromTheCacheTheSecondTime) {
  Program program = Program::parse(test::kCopyProgram);
  auto milliseconds = [&] {
    auto start = std::chrono::steady_clock::now();
    compile::jit(program);
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  };
  KernelCache::instance().clear();
  const double fresh = milliseconds();
  const int64_t hits = KernelCache::instance().statistics().memory_hits;
  const double cached = milliseconds();
  EXPECT_EQ(KernelCache::instance().statistics().memory_hits, hits + 1);
  EXPECT_EQ(compile::jit(program), compile::jit(program));
  std::printf("compiled in %.1f ms, from memory in %.3f ms\n", fresh, cached);
}

// What the program calls.
int64_t calls = 0;
void count_call(int64_t by) { __atomic_fetch_add(&calls, by, __ATOMIC_RELAXED); }

TEST(Jit, CallsTheHostAndReportsAssertions) {
  register_extern("test_count_call", reinterpret_cast<void*>(&count_call));
  auto kernel = compile::jit(Program::parse(test::kExternProgram));
  EXPECT_EQ(kernel->signature().imports, std::vector<std::string>{"test_count_call"});
  calls = 0;
  launch(*kernel, {int64_t{5}});
  EXPECT_EQ(calls, 5 * 3);
  try {
    launch(*kernel, {int64_t{6}});
    FAIL() << "the assertion was not reported";
  } catch (const ValueError& error) {
    EXPECT_NE(std::string(error.what()).find("at most five"), std::string::npos) << error.what();
  }
}

TEST(Jit, OptionsAreDifferentKernels) {
  Program program = Program::parse(test::kCopyProgram);
  EXPECT_NE(compile::jit(program), compile::jit(program, "", {.optimisation = 1}));
}

TEST(Jit, EveryTargetGetsAnObject) {
  for (const char* text : {test::kCopyProgram, test::kProductProgram, test::kExternProgram}) {
    for (const std::string& name : compile::target_names()) {
      EXPECT_GT(compile::object(Program::parse(text), {.target = name}).size(), 64u) << name;
    }
  }
}

}  // namespace
}  // namespace deep_accel
