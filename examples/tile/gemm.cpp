// The matrix product of the tutorial, in C++: the builder writes the kernel, the compiler makes machine code of it.
#include <cmath>
#include <cstdio>
#include <vector>

#include "deep_accel/compile/compiler.h"
#include "deep_accel/runtime/kernel.h"
#include "deep_accel/tile/builder.h"

using deep_accel::DType;
using deep_accel::Tensor;
using namespace deep_accel::tile;

// C = A B: M x K times K x N, tiles of m x n x k.
Program product(int64_t m, int64_t n, int64_t k) {
  Builder b("product");
  auto [M, N, K] = b.dims("M", "N", "K");
  auto A = b.input("A", DType::f32, {M, K}), B = b.input("B", DType::f32, {K, N});
  auto C = b.output("C", DType::f32, {M, N});
  b.grid({ceil_div(M, m), ceil_div(N, n)}, [&](Index bm, Index bn) {
    auto a_tile = b.shared(DType::f32, {m, k}, "a"), b_tile = b.shared(DType::f32, {k, n}, "b");
    auto acc = b.fragment(DType::f32, {m, n}, "acc");
    b.fill(acc, 0);
    b.pipelined(ceil_div(K, k), 2, [&](Index step) {
      b.load(A, {bm * m, step * k}, a_tile);
      b.load(B, {step * k, bn * n}, b_tile);
      b.gemm(a_tile, b_tile, acc);
    });
    b.store(acc, C, {bm * m, bn * n});
  });
  return b.finish();
}

int main() {
  auto kernel = deep_accel::compile::jit(product(256, 256, 256));
  const int64_t M = 300, N = 200, K = 100;
  // Small whole numbers: every sum is exact.
  Tensor A = Tensor::empty(DType::f32, {M, K}), B = Tensor::empty(DType::f32, {K, N}),
         C = Tensor::empty(DType::f32, {M, N});
  for (int64_t i = 0; i < M * K; ++i) A.data<float>()[i] = static_cast<float>(i % 7 - 3);
  for (int64_t i = 0; i < K * N; ++i) B.data<float>()[i] = static_cast<float>(i % 5 - 2);
  deep_accel::launch(*kernel, {A, B, C});
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      float expected = 0;
      for (int64_t l = 0; l < K; ++l) expected += A.data<float>()[i * K + l] * B.data<float>()[l * N + j];
      if (C.data<float>()[i * N + j] != expected) {
        std::printf("product: wrong at (%ld, %ld)\n", static_cast<long>(i), static_cast<long>(j));
        return 1;
      }
    }
  }
  std::printf("product: right\n");
  return 0;
}
