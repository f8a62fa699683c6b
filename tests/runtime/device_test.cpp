// Facts about the machine, and measured peaks: plausible, consistent, kept.
#include "deep_accel/runtime/device.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "deep_accel/base/files.h"
#include "deep_accel/runtime/peaks.h"
#include "deep_accel/runtime/workers.h"
#include "tests/temporary_folder.h"

namespace deep_accel {
namespace {

TEST(Device, Facts) {
  const CpuInfo& cpu = host_cpu();
  EXPECT_FALSE(cpu.name.empty());
  EXPECT_FALSE(cpu.features.empty());
  EXPECT_EQ(cpu.processors, available_processors());
  EXPECT_GE(cpu.cores, 1);
  EXPECT_LE(cpu.cores, cpu.processors);
  EXPECT_GT(cpu.memory_bytes, 64 << 20);
  EXPECT_TRUE(cpu.line_bytes == 32 || cpu.line_bytes == 64 || cpu.line_bytes == 128 || cpu.line_bytes == 256);
  if (cpu.l1d_bytes && cpu.l2_bytes) EXPECT_LE(cpu.l1d_bytes, cpu.l2_bytes);
  EXPECT_EQ(cpu.fingerprint().size(), 16u);
  EXPECT_FALSE(cpu.has("no such feature"));
#if defined(__x86_64__)
  EXPECT_EQ(cpu.has("avx2"), __builtin_cpu_supports("avx2") != 0);
  EXPECT_EQ(cpu.has("avx512f"), __builtin_cpu_supports("avx512f") != 0);
#endif
}

TEST(Peaks, ArePlausible) {
  Peaks peaks = measure_peaks(2, /*quick=*/true);
  EXPECT_EQ(peaks.threads, 2);
  // No processor that we know does more than 64 lanes x 2 operations x 8 GHz on a core, nor moves more than 10 TB/s.
  EXPECT_GT(peaks.f32_gflops_one, 0.05);
  EXPECT_LT(peaks.f32_gflops_one, 1024);
  EXPECT_LT(peaks.f32_gflops_all, 2 * 1024);
  for (const Bandwidth& b : {peaks.one, peaks.all}) {
    for (double value : {b.read, b.copy, b.copy_streaming, b.triad}) {
      EXPECT_GT(value, 0.01);
      EXPECT_LT(value, 10000);
      EXPECT_LE(value, b.best());
    }
  }
  std::printf("%s: %.1f and %.1f GFLOP/s; read %.1f %.1f, copy %.1f %.1f, streaming %.1f %.1f, triad %.1f %.1f GB/s\n",
              peaks.instructions.c_str(), peaks.f32_gflops_one, peaks.f32_gflops_all, peaks.one.read, peaks.all.read,
              peaks.one.copy, peaks.all.copy, peaks.one.copy_streaming, peaks.all.copy_streaming, peaks.one.triad,
              peaks.all.triad);
}

TEST(Peaks, ShowThatOthersUsedTheProcessors) {
  const Bandwidth bandwidth{.read = 12, .copy = 9, .copy_streaming = 13, .triad = 10};
  Peaks peaks{.threads = 2,
              .instructions = "avx2",
              .f32_gflops_one = 40,
              .f32_gflops_all = 79,
              .one = bandwidth,
              .all = bandwidth};
  EXPECT_FALSE(disturbed(peaks));
  peaks.f32_gflops_all = 38;  // two threads of one core
  EXPECT_FALSE(disturbed(peaks));
  peaks.f32_gflops_all = 0.6;  // seen on a machine with two processors and ten builders
  EXPECT_TRUE(disturbed(peaks));
  peaks.f32_gflops_all = 79;
  peaks.all = {.read = 4, .copy = 3, .copy_streaming = 5, .triad = 3};
  EXPECT_TRUE(disturbed(peaks));
}

TEST(Peaks, AreKept) {
  TemporaryFolder folder;
  ::setenv("DEEP_ACCEL_CACHE_DIR", folder.path().c_str(), 1);
  Peaks first = cached_peaks(1);
  ASSERT_EQ(folder.count(), 1);
  Peaks second = cached_peaks(1);
  EXPECT_EQ(first.f32_gflops_one, second.f32_gflops_one);
  EXPECT_EQ(first.one.triad, second.one.triad);
  EXPECT_EQ(first.instructions, second.instructions);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    std::ofstream(entry.path()) << "{\"threads\": 1";
  testing::internal::CaptureStderr();
  Peaks again = cached_peaks(1);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("is damaged"), std::string::npos);
  EXPECT_GT(again.f32_gflops_one, 0);
  EXPECT_EQ(cached_peaks(1).f32_gflops_one, again.f32_gflops_one) << "the damaged file was replaced";
  Peaks fresh = cached_peaks(1, /*fresh=*/true);
  EXPECT_NE(fresh.one.triad, again.one.triad) << "two measurements agree in all digits";
  EXPECT_EQ(cached_peaks(1).one.triad, fresh.one.triad);
  ::unsetenv("DEEP_ACCEL_CACHE_DIR");
}

}  // namespace
}  // namespace deep_accel
