// 64-bit Arm, with vectors of 128 bits and with scalable ones.
#include <array>

#include "deep_accel/compile/target/target.h"

namespace deep_accel::compile {
namespace {

constexpr const char* kTriple = "aarch64-unknown-linux-gnu";
// By the models of Neoverse V1 and A64FX, LLVM 19 orders the product's inner loop such that accumulators move between
// registers.
constexpr const char* kScalable = "neoverse-n2";

}  // namespace

std::span<const Target> aarch64_targets() {
  static const std::array targets = {
      // The 8 x 12 tile of Arm's own libraries: 24 accumulators of 32 registers.
      Target{.name = "aarch64-neon",
             .triple = kTriple,
             .cpu = "generic",
             .features = "+v8.2a,+fullfp16,+dotprod",
             .vector_bits = 128,
             .vector_registers = 32,
             .fma = true,
             .fma_ports = 2,
             .fma_latency = 4,
             .fma_by_lane = true,
             .pack_left = true,
             .native_f16 = true,
             .vnni = true,
             .l1d = 64 << 10,
             .l2 = 1 << 20,
             .l3 = 32 << 20,
             .f32_register_tile = {8, 3}},
      // Code is written in vectors of 256 (512) bits, which are one register where registers have at least as many. Of
      // registers of 128 bits NEON makes as much.
      Target{.name = "aarch64-sve",
             .triple = kTriple,
             .cpu = "neoverse-v1",
             .features = "+sve,+bf16,+i8mm",
             .tune = kScalable,
             .vector_bits = 256,
             .vector_registers = 32,
             .fma = true,
             .fma_ports = 2,
             .fma_latency = 4,
             .pack_left = true,
             .native_f16 = true,
             .masks = true,
             .vnni = true,
             .l1d = 64 << 10,
             .l2 = 1 << 20,
             .l3 = 32 << 20,
             .f32_register_tile = {12, 2},
             .vscale = 2},
      Target{.name = "aarch64-sve512",
             .triple = kTriple,
             .cpu = "a64fx",
             .features = "+sve",
             .tune = kScalable,
             .vector_bits = 512,
             .vector_registers = 32,
             .fma = true,
             .fma_ports = 2,
             .fma_latency = 9,
             .pack_left = true,
             .native_f16 = true,
             .masks = true,
             .vnni = true,
             .l1d = 64 << 10,
             .l2 = 512 << 10,
             .line = 256,
             .f32_register_tile = {12, 2},
             .vscale = 4,
             .clock_ghz = 2.2,
             .memory_gbs = 200},
  };
  return targets;
}

}  // namespace deep_accel::compile
