// Holds compiled kernels against the interpreter, on random arguments of ordinary and awkward sizes.
//
// The interpreter gives each output element in double precision together with a bound on what rounding may have done to
// it in the kernel's own precision, so that the tolerance follows from the arithmetic. Elements whose bound is infinite
// (they hang on a comparison that rounding decides, or on the order of blocks) are counted, not compared. Outputs are
// filled with junk before each launch; results of 1, 2 and 4 threads must agree bit for bit unless floats are summed
// atomically.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "deep_accel/runtime/kernel.h"
#include "deep_accel/tile/program.h"

namespace deep_accel::compile {

struct VerifyOptions {
  uint64_t seed = 1;
  int cases = 12;                        // sets of sizes; each is run on its own data
  std::map<std::string, int64_t> sizes;  // named dimensions that are held, {"M", 100}; scalars of the kernel too
  std::string target = "host";           // a name of target_names(); must be able to run here
  int optimisation = 3;
  std::vector<int> threads = {1, 2, 4};
  int64_t max_steps = 20'000'000;  // of the interpreter for a case; larger cases are made smaller
  // Runs the compiled kernel in place of a launch on this machine: under an emulator, say. `target` and `optimisation`
  // only name what it was compiled with then. ValueError says that the kernel failed.
  std::function<void(std::span<const Argument>)> launch = nullptr;
};

// One set of sizes and data.
struct VerifyCase {
  std::map<std::string, int64_t> sizes;  // named dimensions and integer scalars
  uint64_t seed = 0;                     // of its data
  bool passed = false;
  std::string message;   // why it did not pass, with the first element that differs
  int64_t compared = 0;  // output elements
  int64_t incomparable = 0;
  double worst = 0;  // largest |got - wanted| / bound; at most 2 passes
};

struct VerifyReport {
  std::string kernel;
  std::string target;
  std::vector<VerifyCase> cases;

  bool passed() const;
  // A line a case, and what differs.
  std::string text() const;
  std::string json() const;
};

// Verifies one kernel; `kernel` may be empty where the program has one. A kernel that breaks its own rules (reads
// outside a buffer, races, values read before they are written) throws what the interpreter throws, with the source
// line first; ValueError for a size that no dimension has; what compile::jit throws.
VerifyReport verify(const tile::Program& program, const std::string& kernel = "", const VerifyOptions& options = {});

}  // namespace deep_accel::compile
