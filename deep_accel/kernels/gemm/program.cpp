#include "deep_accel/kernels/gemm/program.h"

#include <cmath>
#include <numbers>

#include "deep_accel/tile/builder.h"

namespace deep_accel::kernels {
namespace {

using tile::ArgumentRole;
using tile::Builder;
using tile::Index;
using tile::Scalar;
using tile::Scalars;
using tile::ScalarType;
using tile::TileBuffer;

// A matrix of the batch, as it lies in memory.
TileBuffer matrix(Builder& k, const char* name, DType dtype, Layout layout, const Scalar& batch, const Scalar& rows,
                  const Scalar& columns, ArgumentRole role) {
  const Scalars shape = layout == Layout::columns ? Scalars{batch, columns, rows} : Scalars{batch, rows, columns};
  const std::optional<int64_t> last = layout == Layout::any ? std::nullopt : std::optional<int64_t>(1);
  return k.strided(name, dtype, shape, {std::nullopt, std::nullopt, last}, role);
}

Scalars at(Layout layout, const Index& batch, const Index& row, const Index& column) {
  return layout == Layout::columns ? Scalars{batch, column, row} : Scalars{batch, row, column};
}

std::vector<int64_t> shape(Layout layout, int64_t rows, int64_t columns) {
  return layout == Layout::columns ? std::vector<int64_t>{columns, rows} : std::vector<int64_t>{rows, columns};
}

Scalar activated(Activation activation, const Scalar& x) {
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::relu:
      return select(x < 0, 0, x);  // NaN stays NaN
    case Activation::gelu:         // x Phi(x): Hendrycks and Gimpel, "Gaussian error linear units"
      return 0.5 * x * (1 + erf(x * (1 / std::numbers::sqrt2)));
    case Activation::gelu_tanh: {  // the same paper's approximation
      const double scale = std::sqrt(2 * std::numbers::inv_pi);
      return 0.5 * x * (1 + tanh(scale * (x + 0.044715 * x * x * x)));
    }
    case Activation::silu:
      return x * sigmoid(x);
  }
  return x;
}

// What the epilogue computes in: the sum's type, save that sums of integers become f32 where the output is no integer.
ScalarType epilogue_type(const GemmKind& kind) {
  if (!is_integer(kind.sum)) return tile::compute_type(kind.sum);
  return is_integer(kind.out) ? ScalarType::i32 : ScalarType::f32;
}

}  // namespace

tile::Program gemm_program(const GemmConfig& config) {
  const GemmKind& kind = config.kind;
  const int64_t m = config.tile_m, n = config.tile_n, depth = config.tile_k;
  Builder k("gemm");
  const auto [L, M, N, K] = k.dims("L", "M", "N", "K");
  const TileBuffer A = matrix(k, "a", kind.a, kind.a_layout, L, M, K, ArgumentRole::in);
  const TileBuffer B = matrix(k, "b", kind.b, kind.b_layout, L, K, N, ArgumentRole::in);
  std::optional<TileBuffer> C, bias;
  if (kind.addend == Addend::separate) C = matrix(k, "c", kind.c, kind.c_layout, L, M, N, ArgumentRole::in);
  if (kind.bias_axis != BiasAxis::none) {
    bias = k.strided("bias", kind.bias, {kind.bias_axis == BiasAxis::rows ? M : N}, {std::nullopt}, ArgumentRole::in);
  }
  const bool in_place = kind.addend == Addend::in_place;
  const TileBuffer out =
      matrix(k, "out", kind.out, kind.out_layout, L, M, N, in_place ? ArgumentRole::inout : ArgumentRole::out);
  if (in_place) C = out;
  const ScalarType type = epilogue_type(kind);
  std::optional<Scalar> alpha, beta;
  if (kind.scaled) alpha = k.scalar("alpha", type);
  if (C) beta = k.scalar("beta", type);
  const Layout c_layout = in_place ? kind.out_layout : kind.c_layout;

  k.grid({ceil_div(M, m), ceil_div(N, n), L},
         [&](Index bm, Index bn, Index batch) {
           const Index row = bm * m, column = bn * n;
           const TileBuffer a = k.shared(kind.multiply_a, shape(kind.a_layout, m, depth), "a_tile");
           const TileBuffer b = k.shared(kind.multiply_b, shape(kind.b_layout, depth, n), "b_tile");
           const TileBuffer sum = k.fragment(kind.sum, {m, n}, "sum");
           k.fill(sum, 0);
           k.pipelined(ceil_div(K, depth), config.stages, [&](Index step) {
             k.load(A, at(kind.a_layout, batch, row, step * depth), a);
             k.load(B, at(kind.b_layout, batch, step * depth, column), b);
             const bool turned_a = kind.a_layout == Layout::columns, turned_b = kind.b_layout == Layout::columns;
             if (config.method == Method::panels) {
               k.gemm(a, b, sum, {.transpose_a = turned_a, .transpose_b = turned_b});
               return;
             }
             const ScalarType sum_type = tile::compute_type(kind.sum);
             k.map({m, n, depth}, [&](Index i, Index j, Index l) {
               const Scalar left = turned_a ? a(l, i) : a(i, l), right = turned_b ? b(j, l) : b(l, j);
               k.combine(tile::Combination::add, cast(left, sum_type) * cast(right, sum_type), sum, {i, j});
             });
           });
           const bool plain = !alpha && !C && !bias && kind.activation == Activation::none;
           if (plain) {
             k.store(sum, out, {batch, row, column});
             return;
           }
           std::optional<TileBuffer> added, offsets;
           if (C) {
             added = k.fragment(in_place ? kind.out : kind.c, shape(c_layout, m, n), "c_tile");
             k.load(*C, at(c_layout, batch, row, column), *added);
           }
           if (bias) {
             const bool by_rows = kind.bias_axis == BiasAxis::rows;
             offsets = k.fragment(kind.bias, {by_rows ? m : n}, "bias_tile");
             k.load(*bias, {by_rows ? row : column}, *offsets);
           }
           const TileBuffer result = k.fragment(kind.out, {m, n}, "result");
           k.map({m, n}, [&](Index i, Index j) {
             Scalar value = cast(sum(i, j), type);
             if (alpha) value = value * *alpha;
             if (added)
               value = value + *beta * cast(c_layout == Layout::columns ? (*added)(j, i) : (*added)(i, j), type);
             if (offsets) value = value + cast((*offsets)(kind.bias_axis == BiasAxis::rows ? i : j), type);
             result(i, j) = activated(kind.activation, value);
           });
           k.store(result, out, {batch, row, column});
         },
         {.walk = tile::BlockWalk::swizzle, .panel = 4});
  return k.finish();
}

}  // namespace deep_accel::kernels
