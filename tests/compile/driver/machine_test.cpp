// From hand-written lowered functions to machine code: for every target an object, for this one a library that runs.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>

#include "deep_accel/base/error.h"
#include "deep_accel/compile/target/target.h"
#include "deep_accel/runtime/device.h"
#include "deep_accel/runtime/kernel.h"
#include "lowered.h"

namespace deep_accel {
namespace {

using compile::Target;

// Each block copies 128 elements; the last one what is left.
constexpr const char* kCopy = R"mlir(
func.func @copy_phase0(%ctx: !llvm.ptr, %params: !llvm.ptr, %x: i64, %y: i64, %z: i64) {
  %source = llvm.load %params : !llvm.ptr -> !llvm.ptr
  %size_at = llvm.getelementptr %params[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %size = llvm.load %size_at : !llvm.ptr -> i64
  %dest_at = llvm.getelementptr %params[3] : (!llvm.ptr) -> !llvm.ptr, i64
  %dest = llvm.load %dest_at : !llvm.ptr -> !llvm.ptr
  %c1 = arith.constant 1 : i64
  %c8 = arith.constant 8 : i64
  %c128 = arith.constant 128 : i64
  %first = arith.muli %x, %c128 : i64
  %full = arith.addi %first, %c128 : i64
  %last = arith.minsi %full, %size : i64
  %count = arith.subi %last, %first : i64
  %tail = arith.remsi %count, %c8 : i64
  %vectors = arith.subi %last, %tail : i64
  scf.for %i = %first to %vectors step %c8 : i64 {
    %from = llvm.getelementptr %source[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %to = llvm.getelementptr %dest[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %from {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
    llvm.store %v, %to {alignment = 4 : i64} : vector<8xf32>, !llvm.ptr
  }
  scf.for %i = %vectors to %last step %c1 : i64 {
    %from = llvm.getelementptr %source[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %to = llvm.getelementptr %dest[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %from : !llvm.ptr -> f32
    llvm.store %v, %to : f32, !llvm.ptr
  }
  func.return
}
func.func @copy_plan(%ctx: !llvm.ptr, %params: !llvm.ptr, %grids: !llvm.ptr) -> i64 {
  %size_at = llvm.getelementptr %params[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %size = llvm.load %size_at : !llvm.ptr -> i64
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c128 = arith.constant 128 : i64
  %blocks = arith.ceildivsi %size, %c128 : i64
  llvm.store %blocks, %grids : i64, !llvm.ptr
  %y = llvm.getelementptr %grids[1] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %c1, %y : i64, !llvm.ptr
  %z = llvm.getelementptr %grids[2] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %c1, %z : i64, !llvm.ptr
  func.return %c0 : i64
}
)mlir";

constexpr const char* kCopySignature = R"({"name": "copy", "args": [
  {"name": "A", "kind": "tensor", "dtype": "f32", "role": "in", "dims": ["N"], "strides": null},
  {"name": "B", "kind": "tensor", "dtype": "f32", "role": "out", "dims": ["N"], "strides": null}],
  "phases": [{"axes": 1, "order": "rows"}], "arena_bytes": 0, "target": "host", "imports": []})";

// What code of kernels is made of: elementary functions, transposes, shapes of vectors, calls of helpers.
constexpr const char* kMixed = R"mlir(
func.func private @helper(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp %x : vector<16xf32>
  func.return %y : vector<16xf32>
}
func.func @mixed_phase0(%ctx: !llvm.ptr, %params: !llvm.ptr, %x: i64, %y: i64, %z: i64) {
  %data = llvm.load %params : !llvm.ptr -> !llvm.ptr
  %v = llvm.load %data {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
  %e = func.call @helper(%v) : (vector<16xf32>) -> vector<16xf32>
  %m = vector.shape_cast %e : vector<16xf32> to vector<4x4xf32>
  %t = vector.transpose %m, [1, 0] : vector<4x4xf32> to vector<4x4xf32>
  %f = vector.shape_cast %t : vector<4x4xf32> to vector<16xf32>
  %s = vector.reduction <maximumf>, %f : vector<16xf32> into f32
  %b = vector.broadcast %s : f32 to vector<16xf32>
  %r = arith.divf %f, %b : vector<16xf32>
  llvm.store %r, %data {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
  func.return
}
func.func @mixed_plan(%ctx: !llvm.ptr, %params: !llvm.ptr, %grids: !llvm.ptr) -> i64 {
  %c1 = arith.constant 1 : i64
  llvm.store %c1, %grids : i64, !llvm.ptr
  %y = llvm.getelementptr %grids[1] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %c1, %y : i64, !llvm.ptr
  %z = llvm.getelementptr %grids[2] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %c1, %z : i64, !llvm.ptr
  %c0 = arith.constant 0 : i64
  func.return %c0 : i64
}
)mlir";

constexpr const char* kMixedSignature = R"({"name": "mixed", "args": [
  {"name": "A", "kind": "tensor", "dtype": "f32", "role": "inout", "dims": [16], "strides": null}],
  "phases": [{"axes": 1}], "imports": []})";

void check_copy(const Kernel& kernel, int64_t n) {
  Tensor a = Tensor::empty(DType::f32, {n}), b = Tensor::empty(DType::f32, {n});
  float* source = static_cast<float*>(a.data());
  std::iota(source, source + n, 1.0f);
  std::memset(b.data(), 0xff, static_cast<size_t>(n) * sizeof(float));
  launch(kernel, {a, b});
  EXPECT_EQ(std::memcmp(a.data(), b.data(), static_cast<size_t>(n) * sizeof(float)), 0) << "n = " << n;
}

TEST(Machine, CopyRuns) {
  auto kernel = Kernel::load(test::library_of_lowered(kCopy, kCopySignature));
  EXPECT_EQ(kernel->name(), "copy");
  for (int64_t n : {1, 7, 127, 128, 129, 1009, 4096}) check_copy(*kernel, n);
}

TEST(Machine, LinksAgainAndAgain) {
  auto start = std::chrono::steady_clock::now();
  constexpr int kTimes = 100;
  for (int i = 0; i < kTimes; ++i) {
    auto kernel = Kernel::load(test::library_of_lowered(kCopy, kCopySignature));
    if (i % 25 == 0) check_copy(*kernel, 300);
  }
  std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  std::printf("compile, link and load: %.2f ms each\n", taken.count() / kTimes);
}

// Softmax-like: exp, transposed, over its maximum; the right values from the C library in double precision.
TEST(Machine, MixedCodeIsRight) {
  auto kernel = Kernel::load(test::library_of_lowered(kMixed, kMixedSignature));
  Tensor a = Tensor::empty(DType::f32, {16});
  float* data = static_cast<float*>(a.data());
  for (int i = 0; i < 16; ++i) data[i] = 0.25f * static_cast<float>(i) - 1.5f;
  launch(*kernel, {a});
  for (int i = 0; i < 16; ++i) {
    int from = i % 4 * 4 + i / 4;
    double right = std::exp(0.25 * from - 1.5) / std::exp(0.25 * 15 - 1.5);
    EXPECT_NEAR(data[i], right, right * 4e-7) << i;  // 2 ulp of each exp, one of the division
  }
}

// ELF's numbers of machines, from the System V ABI and its supplements.
int elf_machine(const std::string& triple) {
  if (triple.starts_with("x86_64")) return 62;
  if (triple.starts_with("aarch64")) return 183;
  if (triple.starts_with("riscv64")) return 243;
  return 258;
}

TEST(Machine, EveryTargetGetsAnObject) {
  for (const std::string& name : compile::known_targets()) {
    const Target& target = compile::find_target(name);
    for (const char* code : {kCopy, kMixed}) {
      std::vector<std::byte> object = test::object_of_lowered(code, name);
      ASSERT_GT(object.size(), 64u) << name;
      EXPECT_EQ(std::memcmp(object.data(), "\177ELF", 4), 0) << name;
      uint16_t machine = 0;
      std::memcpy(&machine, object.data() + 18, sizeof machine);
      EXPECT_EQ(machine, elf_machine(target.triple)) << name;
    }
  }
}

// The copy's vectors of 256 bits are what the target has, not pieces of it.
TEST(Machine, VectorsAreTheTargets) {
  auto assembly = [](const char* target) { return test::assembly_of_lowered(kCopy, target); };
  EXPECT_NE(assembly("x86-64-avx2").find("ymm"), std::string::npos);
  EXPECT_NE(assembly("x86-64").find("xmm"), std::string::npos);
  EXPECT_EQ(assembly("x86-64").find("ymm"), std::string::npos);
  EXPECT_NE(assembly("aarch64-sve").find("z0"), std::string::npos);
  EXPECT_NE(assembly("aarch64-neon").find("q0"), std::string::npos);
  EXPECT_NE(assembly("riscv64-v").find("vse32.v"), std::string::npos);
  EXPECT_NE(assembly("loongarch64-lsx").find("vst"), std::string::npos);
  EXPECT_NE(assembly("loongarch64-lasx").find("xvst"), std::string::npos);
}

TEST(Target, NamesAreFound) {
  for (const std::string& name : compile::known_targets()) {
    const Target& target = compile::find_target(name);
    EXPECT_EQ(target.name, name);
    const compile::RegisterTile tile = target.f32_register_tile;
    EXPECT_LE(tile.rows * tile.vectors + tile.vectors + 1, target.vector_registers) << name;
  }
  try {
    compile::find_target("x86-64-avx513");
    FAIL();
  } catch (const UnsupportedError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'x86-64-avx512'"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("riscv64-v"), std::string::npos) << error.what();
  }
}

TEST(Target, HostIsThisMachine) {
  const Target& host = compile::find_target("host");
  const CpuInfo& cpu = host_cpu();
  EXPECT_FALSE(host.triple.empty());
  if (cpu.l1d_bytes) EXPECT_EQ(host.l1d, cpu.l1d_bytes);
  if (cpu.architecture == "x86-64") {
    EXPECT_EQ(host.vector_bits >= 256, cpu.has("avx2") && cpu.has("fma"));
    EXPECT_EQ(host.vector_bits == 512,
              cpu.has("avx512f") && cpu.has("avx512vl") && cpu.has("avx512bw") && cpu.has("avx512dq"));
  }
}

}  // namespace
}  // namespace deep_accel
