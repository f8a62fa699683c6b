// A matrix product after its arguments were checked: matrices as views of three dimensions and the axes of batches.
#pragma once

#include <optional>

#include "deep_accel/kernels/gemm/choose.h"
#include "deep_accel/kernels/gemm/gemm.h"

namespace deep_accel::kernels {

// A matrix of the problem, or a stack of them: where it lies, without a share in the memory.
struct Matrix {
  Tensor tensor;       // what it is a view of
  Dims batch_strides;  // one for each axis of GemmProblem::batch; 0 where it repeats
  int64_t row_stride = 0, column_stride = 0;
};

struct GemmProblem {
  GemmKind kind;
  GemmSizes sizes;  // of one launch
  Dims batch;       // the axes around it; the last is the launch's own where there is one
  Matrix a, b, out;
  std::optional<Matrix> c;
  std::optional<Tensor> bias;
  Tensor result;  // what the caller gets
};

// Checks everything and throws what gemm() throws. Axes of the batch are merged as far as strides allow, and become
// rows where the right factor is the same for all; an output in column order, or of few columns, makes of it the
// transposed product.
GemmProblem describe_gemm(const Tensor& a, const Tensor& b, const GemmOptions& options);

}  // namespace deep_accel::kernels
