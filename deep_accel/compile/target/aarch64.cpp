// 64-bit Arm, with vectors of 128 bits and with scalable ones.
#include <array>

#include "deep_accel/compile/target/target.h"

namespace deep_accel::compile {
namespace {

constexpr const char* kTriple = "aarch64-unknown-linux-gnu";

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
             .native_f16 = true,
             .vnni = true,
             .l1d = 64 << 10,
             .l2 = 1 << 20,
             .l3 = 32 << 20,
             .f32_register_tile = {8, 3}},
      // Code is written in 256-bit vectors, which are one register where registers have at least 256 bits.
      Target{.name = "aarch64-sve",
             .triple = kTriple,
             .cpu = "neoverse-v1",
             .features = "+sve,+bf16,+i8mm",
             .vector_bits = 256,
             .vector_registers = 32,
             .fma = true,
             .fma_ports = 2,
             .fma_latency = 4,
             .native_f16 = true,
             .masks = true,
             .vnni = true,
             .bf16_dot = true,
             .l1d = 64 << 10,
             .l2 = 1 << 20,
             .l3 = 32 << 20,
             .f32_register_tile = {12, 2},
             .vscale = 2},
  };
  return targets;
}

}  // namespace deep_accel::compile
