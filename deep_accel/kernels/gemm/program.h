// Writes the tile program of a matrix product.
#pragma once

#include "deep_accel/kernels/gemm/config.h"
#include "deep_accel/tile/program.h"

namespace deep_accel::kernels {

// out[L, M, N] = activation(alpha * a[L, M, K] b[L, K, N] + beta * c[L, M, N] + bias), L being the batch.
//
// Arguments in order: a, b, c (where it is added and not the output), bias[N] or [M] (where there is one), out, alpha
// (where scaled), beta (where c is added). Matrices in Layout::columns are given transposed: a as [L, K, M].
tile::Program gemm_program(const GemmConfig& config);

}  // namespace deep_accel::kernels
