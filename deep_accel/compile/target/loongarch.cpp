// 64-bit LoongArch with 128-bit (LSX) and 256-bit (LASX) vectors.
#include <array>

#include "deep_accel/compile/target/target.h"

namespace deep_accel::compile {
namespace {

constexpr const char* kTriple = "loongarch64-unknown-linux-gnu";

}  // namespace

std::span<const Target> loongarch_targets() {
  static const std::array targets = {
      Target{.name = "loongarch64-lsx",
             .triple = kTriple,
             .cpu = "la464",
             .features = "-lasx,+lsx",
             .vector_bits = 128,
             .vector_registers = 32,
             .fma = true,
             .fma_ports = 2,
             .fma_latency = 5,
             .pack_left = true,
             .load_broadcast = "llvm.loongarch.lsx.vldrepl.w",
             .l1d = 64 << 10,
             .l2 = 256 << 10,
             .l3 = 16 << 20,
             .f32_register_tile = {8, 3},
             .clock_ghz = 2.5},
      Target{.name = "loongarch64-lasx",
             .triple = kTriple,
             .cpu = "la464",
             .features = "+lsx,+lasx",
             .vector_bits = 256,
             .vector_registers = 32,
             .fma = true,
             .fma_ports = 2,
             .fma_latency = 5,
             .pack_left = true,
             .load_broadcast = "llvm.loongarch.lasx.xvldrepl.w",
             .l1d = 64 << 10,
             .l2 = 256 << 10,
             .l3 = 16 << 20,
             .f32_register_tile = {12, 2},
             .clock_ghz = 2.5},
  };
  return targets;
}

}  // namespace deep_accel::compile
