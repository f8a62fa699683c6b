// Products of 8-bit integers and of bf16, which some chips multiply several at a time, against the interpreter: every
// combination of signs and transposes, tiles with tails in all dimensions, shared and sliced factors.
#include <gtest/gtest.h>

#include <string>

#include "deep_accel/compile/compiler.h"
#include "deep_accel/compile/verify/verify.h"
#include "tests/replaced.h"

namespace deep_accel {
namespace {

using test::replaced;

std::string filled(std::string text, const std::vector<std::pair<std::string, std::string>>& words) {
  for (const auto& [word, value] : words) text = replaced(text, "{" + word + "}", value);
  return text;
}

void expect_right(const std::string& text) {
  compile::VerifyOptions options;
  options.cases = 3;
  options.threads = {1, 2};
  options.max_steps = 200'000;
  const compile::VerifyReport report = compile::verify(tile::Program::parse(text), "", options);
  EXPECT_TRUE(report.passed()) << report.text();
}

constexpr const char* kProduct = R"(
tile.kernel @product(%A: memref<?x?x{A}, #tile.space<global>> {tile.name = "A", tile.dims = [{da}], tile.role = "in"},
                     %B: memref<?x?x{B}, #tile.space<global>> {tile.name = "B", tile.dims = [{db}], tile.role = "in"},
                     %C: memref<?x?x{C}, #tile.space<global>> {tile.name = "C", tile.dims = ["M", "N"], tile.role = "inout"}) {
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = tile.dim "K"
  %c0 = arith.constant 0 : index
  %cm = arith.constant {m} : index
  %cn = arith.constant {n} : index
  %ck = arith.constant {k} : index
  %bm = arith.ceildivsi %M, %cm : index
  %bn = arith.ceildivsi %N, %cn : index
  tile.grid (%x, %y) = (%bm, %bn) {
    %i = arith.muli %x, %cm : index
    %j = arith.muli %y, %cn : index
    %a = tile.alloc "a" : memref<{sa}x{A}, #tile.space<shared>>
    %b = tile.alloc "b" : memref<{sb}x{B}, #tile.space<shared>>
    %acc = tile.alloc "acc" : memref<{m}x{n}x{C}, #tile.space<fragment>>
    tile.load %C[%i, %j] into %acc : memref<?x?x{C}, #tile.space<global>>, memref<{m}x{n}x{C}, #tile.space<fragment>>
    tile.pipeline %at = %c0 to %K step %ck stages(2) {
      tile.load %A[{ia}] into %a : memref<?x?x{A}, #tile.space<global>>, memref<{sa}x{A}, #tile.space<shared>>
      tile.load %B[{ib}] into %b : memref<?x?x{B}, #tile.space<global>>, memref<{sb}x{B}, #tile.space<shared>>
      tile.gemm %a, %b, %acc {flags} : memref<{sa}x{A}, #tile.space<shared>>, memref<{sb}x{B}, #tile.space<shared>>, memref<{m}x{n}x{C}, #tile.space<fragment>>
    }
    tile.store %acc into %C[%i, %j] : memref<{m}x{n}x{C}, #tile.space<fragment>>, memref<?x?x{C}, #tile.space<global>>
  }
})";

std::string product(const std::string& a, const std::string& b, const std::string& c, int m, int n, int k,
                    bool transpose_a, bool transpose_b) {
  const std::string ms = std::to_string(m), ns = std::to_string(n), ks = std::to_string(k);
  return filled(kProduct,
                {{"da", transpose_a ? "\"K\", \"M\"" : "\"M\", \"K\""},
                 {"db", transpose_b ? "\"N\", \"K\"" : "\"K\", \"N\""},
                 {"sa", transpose_a ? ks + "x" + ms : ms + "x" + ks},
                 {"sb", transpose_b ? ns + "x" + ks : ks + "x" + ns},
                 {"ia", transpose_a ? "%at, %i" : "%i, %at"},
                 {"ib", transpose_b ? "%j, %at" : "%at, %j"},
                 {"flags", std::string(transpose_a ? "transpose_a" : "") + (transpose_b ? " transpose_b" : "")},
                 {"m", ms},
                 {"n", ns},
                 {"k", ks},
                 {"A", a},
                 {"B", b},
                 {"C", c}});
}

class Dot : public testing::TestWithParam<std::tuple<std::pair<const char*, const char*>, bool, bool>> {};

TEST_P(Dot, MatchesTheInterpreter) {
  const auto& [types, transpose_a, transpose_b] = GetParam();
  const auto [a, b] = types;
  const std::string c = std::string(a) == "bf16" ? "f32" : "i32";
  // Whole words of 16 along K and single ones; tails of rows, columns and vectors; a K that no group divides; a column
  // alone.
  expect_right(product(a, b, c, 37, 53, 24, transpose_a, transpose_b));
  expect_right(product(a, b, c, 16, 64, 128, transpose_a, transpose_b));
  expect_right(product(a, b, c, 5, 7, 10, transpose_a, transpose_b));
  expect_right(product(a, b, c, 9, 1, 8, transpose_a, transpose_b));
}

INSTANTIATE_TEST_SUITE_P(Types, Dot,
                         testing::Combine(testing::Values(std::pair("i8", "i8"), std::pair("ui8", "i8"),
                                                          std::pair("i8", "ui8"), std::pair("ui8", "ui8"),
                                                          std::pair("bf16", "bf16")),
                                          testing::Bool(), testing::Bool()));

// Sums of another class than the factors: these lie in memory as the sums do, and maps see them as what they are.
TEST(DotLayouts, ClassesMix) {
  for (const auto& [a, b, c] :
       {std::tuple{"i8", "ui8", "f32"}, std::tuple{"bf16", "f32", "f64"}, std::tuple{"f16", "i8", "f32"},
        std::tuple{"i4", "i4", "i32"}, std::tuple{"i4", "f16", "f32"}, std::tuple{"f64", "i8", "f64"}}) {
    SCOPED_TRACE(std::string(a) + " x " + b + " -> " + c);
    expect_right(product(a, b, c, 7, 22, 12, false, false));
  }
}

// The right factor serves sums of two types, the left one is seen whole, as a slice, and by a map; what one product
// reads in words the other reads decoded.
TEST(DotLayouts, FactorsAreSharedAndSliced) {
  expect_right(R"(
tile.kernel @shared(%A: memref<16x32xbf16, #tile.space<global>> {tile.name = "A", tile.dims = ["", ""], tile.role = "in"},
                    %B: memref<16x24xbf16, #tile.space<global>> {tile.name = "B", tile.dims = ["", ""], tile.role = "in"},
                    %C: memref<16x24xf32, #tile.space<global>> {tile.name = "C", tile.dims = ["", ""], tile.role = "out"},
                    %D: memref<16x24xf64, #tile.space<global>> {tile.name = "D", tile.dims = ["", ""], tile.role = "out"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  tile.grid (%x) = (%c1) {
    %a = tile.alloc "a" : memref<16x32xbf16, #tile.space<shared>>
    %b = tile.alloc "b" : memref<16x24xbf16, #tile.space<shared>>
    %c = tile.alloc "c" : memref<16x24xf32, #tile.space<fragment>>
    %d = tile.alloc "d" : memref<16x24xf64, #tile.space<fragment>>
    tile.load %A[%c0, %c0] into %a : memref<16x32xbf16, #tile.space<global>>, memref<16x32xbf16, #tile.space<shared>>
    tile.load %B[%c0, %c0] into %b : memref<16x24xbf16, #tile.space<global>>, memref<16x24xbf16, #tile.space<shared>>
    %left = tile.slice %a[%c0, %c0] : memref<16x32xbf16, #tile.space<shared>> to memref<16x16xbf16, strided<[32, 1], offset: ?>, #tile.space<shared>>
    %right = tile.slice %a[%c0, %c16] : memref<16x32xbf16, #tile.space<shared>> to memref<16x16xbf16, strided<[32, 1], offset: ?>, #tile.space<shared>>
    tile.gemm %left, %b, %c clear : memref<16x16xbf16, strided<[32, 1], offset: ?>, #tile.space<shared>>, memref<16x24xbf16, #tile.space<shared>>, memref<16x24xf32, #tile.space<fragment>>
    tile.gemm %right, %b, %d clear : memref<16x16xbf16, strided<[32, 1], offset: ?>, #tile.space<shared>>, memref<16x24xbf16, #tile.space<shared>>, memref<16x24xf64, #tile.space<fragment>>
    tile.gemm %right, %b, %c : memref<16x16xbf16, strided<[32, 1], offset: ?>, #tile.space<shared>>, memref<16x24xbf16, #tile.space<shared>>, memref<16x24xf32, #tile.space<fragment>>
    tile.map (%i, %j) in [16, 24] {
      %v = tile.read %c[%i, %j] : memref<16x24xf32, #tile.space<fragment>> -> f32
      %w = tile.read %a[%i, %j] : memref<16x32xbf16, #tile.space<shared>> -> f32
      %s = arith.addf %v, %w : f32
      tile.write %s, %c[%i, %j] : f32, memref<16x24xf32, #tile.space<fragment>>
    }
    tile.store %c into %C[%c0, %c0] : memref<16x24xf32, #tile.space<fragment>>, memref<16x24xf32, #tile.space<global>>
    tile.store %d into %D[%c0, %c0] : memref<16x24xf64, #tile.space<fragment>>, memref<16x24xf64, #tile.space<global>>
  }
})");
}

// Instructions that multiply bf16 take denormals for zero; the bounds say that they may.
TEST(DotLayouts, DenormalsMayCountAsZero) {
  const std::string text = product("bf16", "bf16", "f32", 4, 16, 4, false, false);
  const tile::Program program = tile::Program::parse(text);
  const double denormal = 0x1p-130;
  const Tensor a = Tensor::full(DType::bf16, {4, 4}, denormal), b = Tensor::full(DType::bf16, {4, 16}, 0x1p100);
  const Tensor c = Tensor::zeros(DType::f32, {4, 16});
  launch(*compile::jit(program), {a, b, c});
  const double exact = 4 * 0x1p-30, got = c.at({1, 3});
  EXPECT_TRUE(got == exact || got == 0) << got;
}

}  // namespace
}  // namespace deep_accel
