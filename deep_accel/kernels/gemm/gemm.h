// Matrix products: out = activation(alpha * a b + beta * c + bias).
//
//   Tensor y = gemm(x, w, {.bias = b, .activation = Activation::gelu});
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "deep_accel/kernels/gemm/config.h"
#include "deep_accel/runtime/tensor.h"

namespace deep_accel {

using kernels::Activation;

// "relu", "gelu" (with erf), "gelu_tanh", "silu", "none". Throws ValueError that lists them.
Activation parse_activation(std::string_view text);

struct GemmOptions {
  std::optional<Tensor> c = std::nullopt;     // broadcasts to the output; read only where beta is not 0
  std::optional<Tensor> out = std::nullopt;   // where the result goes; absent: a new tensor
  std::optional<Tensor> bias = std::nullopt;  // [N]
  double alpha = 1, beta = 0;
  Activation activation = Activation::none;
  bool trans_a = false, trans_b = false;          // swap the last two axes
  std::optional<DType> precision = std::nullopt;  // what operands are rounded to before they are multiplied
  std::optional<DType> out_dtype = std::nullopt;  // absent: out's, else the operands' (of 8-bit integers: i32)
  int64_t tile_size = 0;                          // rows and columns of a block, as a hint; 0: the model's choice
  int threads = 0;                                // 0: num_threads()
  std::function<bool()> interrupted = nullptr;    // as in LaunchOptions
};

// a[..., M, K] times b[..., K, N], as NumPy's matmul: axes in front broadcast; a[K] is a row that vanishes from the
// result, b[K] a column. Any strides, read in place. f64, f32, f16 and bf16 (summed in f32), 8-bit integers (summed
// exactly modulo 2^32). Without elements along K the product is 0. The result is the same for any number of threads.
//
// Throws ShapeError, TypeError (dtypes), ValueError (options; an output that is read-only, or shares memory with an
// operand: c alone may be the output itself), Interrupted.
Tensor gemm(const Tensor& a, const Tensor& b, const GemmOptions& options = {});

}  // namespace deep_accel
