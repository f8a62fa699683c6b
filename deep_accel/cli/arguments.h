// A kernel's arguments from the command line: sizes, files and numbers as asked, random values otherwise.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "deep_accel/runtime/kernel.h"

namespace deep_accel::cli {

struct ArgumentRequest {
  std::vector<std::string> dims;    // "M=64"
  std::vector<std::string> inputs;  // "A=a.npy", "alpha=0.5"
  int64_t default_size = 256;       // of dimensions that nothing says the size of
  uint64_t seed = 1;
};

struct PreparedArguments {
  std::vector<Argument> values;          // in the signature's order
  std::map<std::string, int64_t> sizes;  // of the named dimensions
};

// "NAME=VALUE" as a pair. Throws ValueError; `option` is for the message.
std::pair<std::string, std::string> split_assignment(const std::string& text, const std::string& option);

// The sizes of "M=64", "N=3". Throws ValueError.
std::map<std::string, int64_t> parse_sizes(const std::vector<std::string>& dims);

// Inputs that no file gives are filled with random values: floats in [-1, 1), integers in [-8, 8) (unsigned [0, 16)),
// booleans. Outputs are zero. Scalars that are not given are 1. Throws ValueError, TypeError, ShapeError, IoError where
// the request does not fit the signature.
PreparedArguments prepare_arguments(const KernelSignature& signature, const ArgumentRequest& request);

}  // namespace deep_accel::cli
