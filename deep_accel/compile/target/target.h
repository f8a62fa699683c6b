// Target: what the compiler knows of a chip, as data. One table a chip family, in the file of its name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace deep_accel::compile {

// Rows and vectors of the accumulators that stay in registers through a matrix product's inner loop.
struct RegisterTile {
  int rows = 4;
  int vectors = 1;
  friend bool operator==(const RegisterTile&, const RegisterTile&) = default;
};

struct Target {
  std::string name;       // what users ask for
  std::string triple;     // LLVM's words, as the next two
  std::string cpu;        // sets the instructions' costs and order, and what they may be
  std::string features;   // "+a,-b", in addition
  std::string tune = {};  // the processor whose costs and latencies instructions are ordered by; empty: `cpu`

  int vector_bits = 128;      // of the vectors that code is written in
  int vector_registers = 16;  // architectural
  bool fma = false;           // multiply-add that rounds once
  int fma_ports = 1;          // vectors that can start each cycle
  int fma_latency = 4;        // cycles
  bool fma_by_lane = false;   // multiply-add by one lane of a register, so that nothing need be broadcast
  // Left factors of products are packed too, in panels of the register tile's rows: where immediate offsets reach less
  // far than a tile's rows lie apart.
  bool pack_left = false;
  // LLVM's intrinsic (address, immediate offset) that loads 32 bits into each lane of a register, where LLVM does not
  // make it of a load and a broadcast by itself.
  std::string load_broadcast = {};
  // Vectors of a loop's body that advance side by side where it has elementary functions
  // (MapEmitter::advances_together).
  int function_copies = 1;
  bool native_f16 = false;  // arithmetic on f16 in vectors
  bool masks = false;       // loads and stores under a mask cost what plain ones cost
  bool scalef = false;      // multiplies by powers of two that are given as floats
  bool vnni = false;        // dot products of four 8-bit integers into 32 bits (on Arm: sdot)
  bool bf16_dot = false;    // dot products of two bf16 into f32, each step rounded to nearest (Arm's is not)
  bool amx = false;         // tile registers for matrix products, which Linux gives to processes that ask

  int64_t l1d = 32 << 10;  // bytes that one core has
  int64_t l2 = 256 << 10;
  int64_t l3 = 0;  // bytes that all cores share; 0 where there is none
  int line = 64;   // bytes

  RegisterTile f32_register_tile;
  int vscale = 0;  // vectors are `vscale` x 128 bits (RISC-V: x 64) at least and may be longer; 0: of fixed length
  double clock_ghz = 3.0;  // nominal, for estimates where nothing was measured
  double memory_gbs = 20;  // nominal, in 10^9 bytes a second

  int lanes(int element_bits) const { return vector_bits / element_bits; }
};

// All targets that can be asked for, save "host".
std::vector<std::string> known_targets();

// By name; "host" is the machine that we run on. Throws UnsupportedError that lists the names.
const Target& find_target(const std::string& name);

// The machine that we run on: the nearest of the tables' entries whose instructions it has, with its own cache sizes
// and the name that LLVM has for the processor.
const Target& host_target();

// The tables, each from the least to the most capable.
std::span<const Target> x86_targets();
std::span<const Target> aarch64_targets();
std::span<const Target> riscv_targets();
std::span<const Target> loongarch_targets();

}  // namespace deep_accel::compile
