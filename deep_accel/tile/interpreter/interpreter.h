// The reference interpreter: what every operation of the tile dialect means. Slow and obviously right; generated code
// is checked against it.
//
// Floats are computed in double precision: f64 and f32 tiles hold doubles, unrounded; narrower types are rounded when
// they are written, and so is everything that goes to global memory. Integers are exact and wrap at the width of their
// type. Beside each value runs a bound on its distance from what the same program gives in its own precision, with sums
// in any order (forward error analysis; see interpreter/value.h).
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deep_accel/base/error.h"
#include "deep_accel/runtime/kernel.h"
#include "deep_accel/tile/program.h"

namespace deep_accel::tile {

// In which order blocks, iterations of a map and threads between barriers run. A right program does not show it.
enum class Order { forward, reversed, shuffled };

struct InterpreterOptions {
  bool check_races = true;
  int64_t max_steps = 0;  // of scalar operations and elements touched; 0: no limit. Above it: StepLimitError
  Order order = Order::forward;
  uint64_t seed = 1;     // of the shuffled order
  double math_ulps = 2;  // what the bounds allow elementary functions
  // Receives a kernel's print instead of standard output.
  std::function<void(std::string_view line)> print = nullptr;
  // Asked about every 20 ms; true stops the kernel, which throws Interrupted. Outputs are as before.
  std::function<bool()> interrupted = nullptr;
};

struct InterpreterResult {
  // For each argument that the kernel writes, an entry for each element in row-major order (empty for the others): how
  // far compiled code may be from the element. Infinite where the element hangs on a comparison or conversion that
  // rounding decides, or on the order of blocks.
  std::vector<std::vector<double>> bounds;
  // Where control flow or an address first hung on such a comparison, "file:line:col: what"; all bounds are infinite
  // then.
  std::string unstable;
  bool atomic_floats = false;  // floats were summed atomically: their rounding depends on the order of blocks
  int64_t steps = 0;
};

// Too many steps; the contents of outputs are as before.
class StepLimitError : public Error {
 public:
  using Error::Error;
  ~StepLimitError() override;
};

// An assumption (tile.assume) does not hold for these arguments: compiled code may do anything with them.
class AssumptionError : public ValueError {
 public:
  using ValueError::ValueError;
  ~AssumptionError() override;
};

// An assertion (tile.assert) does not hold: the launch of compiled code fails as well.
class AssertionError : public ValueError {
 public:
  using ValueError::ValueError;
  ~AssertionError() override;
};

// Runs a kernel; `kernel` may be empty where the program has one. Arguments are checked as launch() does, and it throws
// as launch() says. Every other error begins with "file:line:col: ": IndexError for an element outside a buffer;
// ValueError for a race between blocks, iterations or threads, for a value that was never written and reaches a
// result, for an assertion or assumption that does not hold, a barrier that not all threads reach, a division by zero;
// UnsupportedError for an operation that it does not know. Outputs are written when the kernel has come to its end.
InterpreterResult interpret(const Program& program, const std::string& kernel, std::span<const Argument> arguments,
                            const InterpreterOptions& options = {});
inline InterpreterResult interpret(const Program& program, const std::string& kernel,
                                   std::initializer_list<Argument> arguments, const InterpreterOptions& options = {}) {
  return interpret(program, kernel, std::span<const Argument>(arguments.begin(), arguments.size()), options);
}

}  // namespace deep_accel::tile
