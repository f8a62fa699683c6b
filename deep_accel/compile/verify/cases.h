// What kernels are verified on: sets of sizes, data for their arguments, and what the interpreter makes of them.
#pragma once

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "deep_accel/compile/verify/verify.h"
#include "deep_accel/runtime/kernel.h"
#include "deep_accel/tile/interpreter/interpreter.h"

namespace deep_accel::compile {

using Sizes = std::map<std::string, int64_t>;

// What is known of a kernel's sizes and of its integer arguments.
struct KernelFacts {
  KernelSignature signature;
  std::set<int64_t> tiles;  // sizes of its tiles, at which its code has edges
  struct Bounds {
    int64_t least = 0, most = INT64_MAX, multiple = 1;
  };
  std::map<std::string, Bounds> bounds;  // the kernel's `tile.sizes`: {M = [1, 4096], K = [16, 512, 16]}
  // Integer arguments whose elements are indices: the argument and dimension that they count in, where that is known.
  struct Target {
    size_t argument = 0;
    int dimension = 0;
  };
  std::map<size_t, std::vector<Target>> index_arguments;
};

KernelFacts facts_of(const tile::Program& program, const std::string& kernel);

// Named dimensions and integer scalars for case number `number`: ordinary sizes first, then ones, zeros, and sizes next
// to the tiles'. Throws ValueError for a held size that the kernel has not.
Sizes draw_sizes(const KernelFacts& facts, const VerifyOptions& options, int number, std::mt19937_64& random);
// Makes the largest size that is not held about half as large; false where none can be.
bool shrink(const KernelFacts& facts, const VerifyOptions& options, Sizes& sizes);

// Arguments of these sizes: inputs random, outputs full of junk.
std::vector<Argument> draw_arguments(const KernelFacts& facts, const Sizes& sizes, int number, std::mt19937_64& random);
// The same with memory of their own for what the kernel writes.
std::vector<Argument> copy_outputs(const KernelFacts& facts, const std::vector<Argument>& arguments);

// What the interpreter makes of a kernel's arguments: copies of those that it writes, and how right they are.
struct Interpreted {
  std::vector<Argument> arguments;
  tile::InterpreterResult result;
};
Interpreted interpret_case(const tile::Program& program, const KernelFacts& facts,
                           const std::vector<Argument>& arguments, int64_t max_steps,
                           tile::Order order = tile::Order::forward);

// How far two elements are apart: nothing where both are no numbers, infinitely where one is.
double apart(double a, double b);

}  // namespace deep_accel::compile
