// Short ways to write the kernels of these tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "deep_accel/base/error.h"
#include "deep_accel/runtime/kernel.h"
#include "deep_accel/tile/interpreter/interpreter.h"
#include "deep_accel/tile/program.h"

namespace deep_accel::tile::test {

inline std::string global(const std::string& shape) { return "memref<" + shape + ", #tile.space<global>>"; }
inline std::string shared(const std::string& shape) { return "memref<" + shape + ", #tile.space<shared>>"; }
inline std::string local(const std::string& shape) { return "memref<" + shape + ", #tile.space<local>>"; }

// "%A: memref<...> {...}" of an argument of static shape.
inline std::string argument(const std::string& name, const std::string& shape, const std::string& role) {
  std::string dims;
  for (char c : shape) {
    if (c == 'x') dims += dims.empty() ? "\"\"" : ", \"\"";
  }
  return "%" + name + ": " + global(shape) + " {tile.name = \"" + name + "\", tile.dims = [" + dims +
         "], tile.role = \"" + role + "\"}";
}

// Statements ----------------------------------------------------------------------------------------------------------

inline std::string alloc(const std::string& tile, const std::string& shape) {
  return "%" + tile + " = tile.alloc \"" + tile + "\" : " + shared(shape) + "\n";
}

// "[%c0, %c0]", as many as the shape has dimensions.
inline std::string origin(const std::string& shape) {
  const auto rank = std::count(shape.begin(), shape.end(), 'x');
  std::string zeros;
  for (int dim = 0; dim < rank; ++dim) zeros += dim ? ", %c0" : "%c0";
  return "[" + zeros + "]";
}

// A new tile that holds all of a tensor of its shape; a tile stored to all of one.
inline std::string load(const std::string& tensor, const std::string& tile, const std::string& shape) {
  return alloc(tile, shape) + "tile.load %" + tensor + origin(shape) + " into %" + tile + " : " + global(shape) + ", " +
         shared(shape) + "\n";
}
inline std::string store(const std::string& tile, const std::string& tensor, const std::string& shape) {
  return "tile.store %" + tile + " into %" + tensor + origin(shape) + " : " + shared(shape) + ", " + global(shape) +
         "\n";
}

// Programs ------------------------------------------------------------------------------------------------------------

// A kernel @k; each line of the text that stands alone is easy to count: the body begins in line 2.
inline std::string kernel(const std::vector<std::string>& arguments, const std::string& body) {
  std::string text = "tile.kernel @k(";
  for (size_t i = 0; i < arguments.size(); ++i) text += (i ? ", " : "") + arguments[i];
  return text + ") {\n" + body + "}\n";
}

// A kernel with one block.
inline std::string block(const std::vector<std::string>& arguments, const std::string& body) {
  return kernel(
      arguments,
      "%c1 = arith.constant 1 : index\n%c0 = arith.constant 0 : index\ntile.grid (%block) = (%c1) {\n" + body + "}\n");
}

inline InterpreterResult run(const std::string& text, std::initializer_list<Argument> arguments,
                             const InterpreterOptions& options = {}) {
  return interpret(Program::parse(text, "k.mlir"), "k", arguments, options);
}

inline Tensor tensor(DType dtype, const Dims& shape, const std::vector<double>& values) {
  return Tensor::from_values(dtype, shape, values);
}

// The message of the error of type ErrorType that running throws, "" where it throws none.
template <typename ErrorType>
std::string error_of(const std::string& text, std::initializer_list<Argument> arguments,
                     const InterpreterOptions& options = {}) {
  try {
    run(text, arguments, options);
  } catch (const ErrorType& error) {
    return error.what();
  }
  return "";
}

}  // namespace deep_accel::tile::test
