// 64-bit RISC-V, without and with the vector extension.
#include <array>

#include "deep_accel/compile/target/target.h"

namespace deep_accel::compile {

namespace {

constexpr const char* kTriple = "riscv64-unknown-linux-gnu";

}  // namespace

std::span<const Target> riscv_targets() {
  static const std::array targets = {
      // No vectors: code is written in groups of four numbers, which take four of the 32 registers.
      Target{.name = "riscv64",
             .triple = kTriple,
             .cpu = "generic-rv64",
             .features = "+m,+a,+f,+d,+c",
             .vector_bits = 128,
             .vector_registers = 8,
             .fma = true,
             .fma_ports = 1,
             .fma_latency = 5,
             .pack_left = true,
             .l1d = 32 << 10,
             .l2 = 512 << 10,
             .l3 = 0,
             .f32_register_tile = {4, 1},
             .clock_ghz = 1.4,
             .memory_gbs = 4},
      // zvl128b: registers of at least 128 bits, which is a vscale of 2 blocks of 64.
      Target{.name = "riscv64-v",
             .triple = kTriple,
             .cpu = "generic-rv64",
             .features = "+m,+a,+f,+d,+c,+v,+zvl128b",
             .vector_bits = 128,
             .vector_registers = 32,
             .fma = true,
             .fma_ports = 1,
             .fma_latency = 5,
             .pack_left = true,
             .masks = true,
             .l1d = 32 << 10,
             .l2 = 512 << 10,
             .l3 = 0,
             .f32_register_tile = {8, 3},
             .vscale = 2,
             .clock_ghz = 1.6,
             .memory_gbs = 8},
  };
  return targets;
}

}  // namespace deep_accel::compile
