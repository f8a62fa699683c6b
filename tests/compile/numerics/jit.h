// Compiles one emitted function for the tests: a loop that applies it to arrays, lowered by the upstream passes, for
// the host or for a lesser processor. Shows no MLIR, so that the tests are ordinary files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace deep_accel::test {

struct JitRequest {
  /// exp, exp2, ..., sigmoid, pow; or widen, narrow, saturating_to_int, unpack_nibbles, pack_nibbles.
  std::string function;
  /// The element type of math functions (f32, f64), the narrow type: e4m3, e5m2, e2m1, int4, bf16, f16; or
  /// the integer type and its source, as "u8_f32".
  std::string type = "f32";
  int lanes = 16;  // 0: scalars
  /// Of the processor, as LLVM names it ("x86-64": no FMA, no AVX); empty: this machine.
  std::string cpu = {};
  bool fma = true;
  bool scalef = false;
  bool native_f16 = false;
};

/// A function of the arrays a, b (pow alone has it), out, and the number of elements, a multiple of the lanes.
class JitFunction {
 public:
  explicit JitFunction(const JitRequest& request);
  ~JitFunction();
  JitFunction(const JitFunction&) = delete;
  JitFunction& operator=(const JitFunction&) = delete;

  void operator()(const void* a, const void* b, void* out, int64_t count) const { entry_(a, b, out, count); }

 private:
  struct Engine;
  std::unique_ptr<Engine> engine_;
  void (*entry_)(const void*, const void*, void*, int64_t) = nullptr;
};

/// The assembly of the same loop.
std::string assembly_of(const JitRequest& request);

}  // namespace deep_accel::test
