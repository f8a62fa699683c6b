// What the machine code of a matrix product depends on: types, layouts and epilogue (GemmKind), and tiles (GemmConfig).
// Sizes and strides are no part of it: one kernel serves every shape that its configuration is chosen for.
#pragma once

#include <cstdint>
#include <type_traits>

#include "deep_accel/base/dtype.h"

namespace deep_accel::kernels {

// Which of a matrix's strides is 1: that along its rows, that along its columns, or neither for sure.
enum class Layout : uint8_t { rows, columns, any };
// Whether beta * c is added, and whether c is the output itself.
enum class Addend : uint8_t { none, separate, in_place };
enum class BiasAxis : uint8_t { none, columns, rows };  // one number for each column (row) of the output
// panels: factors are packed and multiplied in register tiles. dots: a sum along K for each element of the output, of
// few rows of a and the columns of b where they lie.
enum class Method : uint8_t { panels, dots };
enum class Activation : uint8_t { none, relu, gelu, gelu_tanh, silu };

struct GemmKind {
  DType a = DType::f32, b = DType::f32, c = DType::f32, bias = DType::f32, out = DType::f32;
  DType multiply_a = DType::f32, multiply_b = DType::f32;  // what operands are rounded to before they are multiplied
  DType sum = DType::f32;                                  // what products are added up in
  Layout a_layout = Layout::rows, b_layout = Layout::rows, c_layout = Layout::rows, out_layout = Layout::rows;
  Addend addend = Addend::none;
  BiasAxis bias_axis = BiasAxis::none;
  Activation activation = Activation::none;
  uint8_t scaled = 0;  // 1: times alpha

  friend bool operator==(const GemmKind&, const GemmKind&) = default;
};

struct GemmConfig {
  GemmKind kind;
  int16_t tile_m = 0, tile_n = 0, tile_k = 0;  // of one block's step
  int8_t stages = 2;                           // loads under way
  Method method = Method::panels;

  friend bool operator==(const GemmConfig&, const GemmConfig&) = default;
};

// Kernels are found by these bytes.
static_assert(std::has_unique_object_representations_v<GemmConfig>);

}  // namespace deep_accel::kernels
