// Products against sums in double. The bound is that of a sum of K rounded products in any order, K u sum |a| |b|, with
// u the unit roundoff of the sum's type (Higham, "Accuracy and stability of numerical algorithms", 3.1), and one
// rounding to the output's type.
#include "deep_accel/kernels/gemm/gemm.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "deep_accel/base/error.h"

namespace deep_accel {
namespace {

struct Sizes {
  int64_t m, n, k;
};

std::mt19937_64 generator(uint64_t seed) {
  ::testing::Test::RecordProperty("seed", std::to_string(seed));
  return std::mt19937_64(seed);
}

// Numbers that every type holds: small integers for integers, quarters for floats.
Tensor random(std::mt19937_64& g, DType dtype, const Dims& shape) {
  const int low = dtype == DType::u8   ? 0
                  : dtype == DType::i8 ? -128
                                       : -40,
            high = dtype == DType::u8   ? 255
                   : dtype == DType::i8 ? 127
                                        : 40;
  std::uniform_int_distribution<int> numbers(low, high);
  std::vector<double> values(static_cast<size_t>(element_count(shape)));
  for (double& v : values) v = is_integer(dtype) ? numbers(g) : numbers(g) / 37.0;
  return Tensor::from_values(dtype, shape, values);
}

double unit_roundoff(DType dtype) {
  return dtype == DType::f64 ? 0x1p-53 : dtype == DType::f16 ? 0x1p-11 : dtype == DType::bf16 ? 0x1p-8 : 0x1p-24;
}

// c[M, N] = a[M, K] b[K, N]
void expect_product(const Tensor& c, const Tensor& a, const Tensor& b) {
  const int64_t m = a.dim(0), k = a.dim(1), n = b.dim(1);
  const std::vector<double> left = a.values(), right = b.values(), got = c.values();
  const DType sum = a.dtype() == DType::f64 ? DType::f64 : DType::f32;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double exact = 0, size = 0;
      for (int64_t l = 0; l < k; ++l) {
        const double product = left[static_cast<size_t>(i * k + l)] * right[static_cast<size_t>(l * n + j)];
        exact += product, size += std::abs(product);
      }
      const double bound = is_integer(a.dtype()) ? 0
                                                 : static_cast<double>(k + 2) * unit_roundoff(sum) * size +
                                                       1.01 * unit_roundoff(c.dtype()) * std::abs(exact);
      ASSERT_LE(std::abs(got[static_cast<size_t>(i * n + j)] - exact), bound)
          << "at (" << i << ", " << j << ") of " << a.description() << " times " << b.description();
    }
  }
}

// An output full of what must not stay.
Tensor poisoned(DType dtype, const Dims& shape) { return Tensor::full(dtype, shape, is_integer(dtype) ? 77 : NAN); }

class GemmTypes : public ::testing::TestWithParam<DType> {};

TEST_P(GemmTypes, ShapesAroundTiles) {
  auto g = generator(11);
  const int64_t sizes[] = {1, 2, 7, 31, 32, 33, 63, 127, 129, 257};
  std::uniform_int_distribution<size_t> pick(0, std::size(sizes) - 1);
  for (int i = 0; i < 8; ++i) {
    const int64_t m = sizes[pick(g)], n = sizes[pick(g)], k = sizes[pick(g)];
    const Tensor a = random(g, GetParam(), {m, k}), b = random(g, GetParam(), {k, n});
    const Tensor out = poisoned(is_integer(GetParam()) ? DType::i32 : GetParam(), {m, n});
    gemm(a, b, {.out = out});
    expect_product(out, a, b);
  }
}

// Factors that lie along K, which few rows (or few columns) read in place; longer than a step along K.
TEST_P(GemmTypes, FewRowsAndColumns) {
  auto g = generator(14);
  for (const auto& [m, n, k] : {Sizes{1, 37, 2100}, Sizes{3, 18, 2047}, Sizes{8, 15, 300}, Sizes{50, 1, 2049}}) {
    const Tensor a = random(g, GetParam(), {m, k}), b = random(g, GetParam(), {n, k}).transpose();
    const Tensor out = poisoned(is_integer(GetParam()) ? DType::i32 : GetParam(), {m, n});
    gemm(a, b, {.out = out, .threads = 1});
    expect_product(out, a, b);
    const Tensor more = gemm(a, b, {.threads = 3});
    ASSERT_EQ(std::memcmp(out.data(), more.data(), static_cast<size_t>(out.bytes())), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(All, GemmTypes,
                         ::testing::Values(DType::f64, DType::f32, DType::f16, DType::bf16, DType::i8, DType::u8),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST(Gemm, TransposedOperandsAndStrides) {
  auto g = generator(12);
  const Tensor a = random(g, DType::f32, {70, 45}), b = random(g, DType::f32, {45, 83});
  const Tensor a_turned = a.transpose().contiguous(), b_turned = b.transpose().contiguous();
  expect_product(gemm(a_turned, b, {.trans_a = true}), a, b);
  expect_product(gemm(a, b_turned, {.trans_b = true}), a, b);
  expect_product(gemm(a_turned.transpose(), b_turned.transpose()), a, b);
  // Every second element of a larger tensor, backwards, and an output in column order.
  const Tensor wide = random(g, DType::f32, {140, 90}),
               part = wide.slice(0, std::nullopt, std::nullopt, -2).slice(1, std::nullopt, std::nullopt, 2);
  expect_product(gemm(part, b), part, b);
  const Tensor columns = poisoned(DType::f32, {83, 70}).transpose();
  gemm(a, b, {.out = columns});
  expect_product(columns, a, b);
  const Tensor gaps = poisoned(DType::f32, {70, 166}), every_second = gaps.slice(1, 0, std::nullopt, 2);
  gemm(a, b, {.out = every_second});
  expect_product(every_second, a, b);
  for (int64_t i = 0; i < 70; ++i) ASSERT_TRUE(std::isnan(gaps.at({i, 1})));
}

TEST(Gemm, NothingToAddUp) {
  const Tensor a = Tensor::empty(DType::f32, {3, 0}), b = Tensor::empty(DType::f32, {0, 4});
  const Tensor c = Tensor::full(DType::f32, {3, 4}, 2), bias = Tensor::full(DType::f32, {4}, -7);
  for (double v : gemm(a, b, {.out = poisoned(DType::f32, {3, 4})}).values()) EXPECT_EQ(v, 0);
  for (double v : gemm(a, b, {.c = c, .bias = bias, .beta = 3}).values()) EXPECT_EQ(v, -1);
  EXPECT_EQ(gemm(Tensor::empty(DType::f32, {0, 5}), Tensor::zeros(DType::f32, {5, 4})).shape(), Dims({0, 4}));
  EXPECT_EQ(gemm(Tensor::zeros(DType::f32, {2, 5}), Tensor::empty(DType::f32, {5, 0})).shape(), Dims({2, 0}));
}

TEST(Gemm, SameBitsForAnyNumberOfThreads) {
  auto g = generator(13);
  for (const Sizes& c : {Sizes{300, 270, 700}, Sizes{1, 3000, 900}, Sizes{5, 33, 4000}}) {
    const Tensor a = random(g, DType::f32, {c.m, c.k}), b = random(g, DType::f32, {c.k, c.n});
    const Tensor one = gemm(a, b, {.threads = 1});
    for (int threads : {2, 3, 8}) {
      const Tensor more = gemm(a, b, {.threads = threads});
      ASSERT_EQ(std::memcmp(one.data(), more.data(), static_cast<size_t>(one.bytes())), 0);
    }
  }
}

TEST(Gemm, RefusesWhatDoesNotFit) {
  const Tensor a = Tensor::zeros(DType::f32, {3, 4}), b = Tensor::zeros(DType::f32, {4, 5});
  EXPECT_THROW(gemm(a, a), ShapeError);
  EXPECT_THROW(gemm(a, b.to(DType::f64)), TypeError);
  EXPECT_THROW(gemm(a.to(DType::i64), b.to(DType::i64)), TypeError);
  EXPECT_THROW(gemm(a, b, {.out = Tensor::zeros(DType::f32, {3, 4})}), ShapeError);
  EXPECT_THROW(gemm(a, b, {.bias = Tensor::zeros(DType::f32, {3})}), ShapeError);
  EXPECT_THROW(gemm(a, b, {.beta = 1}), ValueError);
  EXPECT_THROW(gemm(a, b, {.c = Tensor::zeros(DType::f32, {2, 5}), .beta = 1}), ShapeError);
  const Tensor square = Tensor::zeros(DType::f32, {4, 4});
  EXPECT_THROW(gemm(square, b.slice(1, 0, 4), {.out = square}), ValueError);
  EXPECT_THROW(gemm(a.to(DType::i8), b.to(DType::i8), {.alpha = 0.5}), ValueError);
  EXPECT_THROW(gemm(a, b, {.threads = -1}), ValueError);
  EXPECT_THROW(parse_activation("gleu"), ValueError);
}

}  // namespace
}  // namespace deep_accel
