// Compiled kernels against the interpreter: right ones pass, and the report says so.
#include "deep_accel/compile/verify/verify.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "deep_accel/base/error.h"

namespace deep_accel::compile {
namespace {

constexpr const char* kProduct = R"mlir(
tile.kernel @product(
    %A: memref<?x?xf32, #tile.space<global>> {tile.name = "A", tile.dims = ["M", "K"], tile.role = "in"},
    %B: memref<?x?xbf16, #tile.space<global>> {tile.name = "B", tile.dims = ["K", "N"], tile.role = "in"},
    %C: memref<?x?xf32, #tile.space<global>> {tile.name = "C", tile.dims = ["M", "N"], tile.role = "out"}) {
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = tile.dim "K"
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %bm = arith.ceildivsi %M, %c16 : index
  %bn = arith.ceildivsi %N, %c32 : index
  %bk = arith.ceildivsi %K, %c16 : index
  tile.grid (%m, %n) = (%bm, %bn) {
    %i = arith.muli %m, %c16 : index
    %j = arith.muli %n, %c32 : index
    %a = tile.alloc "a" : memref<16x16xf32, #tile.space<shared>>
    %b = tile.alloc "b" : memref<16x32xbf16, #tile.space<shared>>
    %acc = tile.alloc "acc" : memref<16x32xf32, #tile.space<fragment>>
    %zero = arith.constant 0.0 : f32
    tile.fill %acc, %zero : memref<16x32xf32, #tile.space<fragment>>, f32
    tile.pipeline %kb = %c0 to %bk step %c1 stages(2) {
      %k = arith.muli %kb, %c16 : index
      tile.load %A[%i, %k] into %a : memref<?x?xf32, #tile.space<global>>, memref<16x16xf32, #tile.space<shared>>
      tile.load %B[%k, %j] into %b : memref<?x?xbf16, #tile.space<global>>, memref<16x32xbf16, #tile.space<shared>>
      tile.gemm %a, %b, %acc : memref<16x16xf32, #tile.space<shared>>, memref<16x32xbf16, #tile.space<shared>>, memref<16x32xf32, #tile.space<fragment>>
    }
    tile.store %acc into %C[%i, %j] : memref<16x32xf32, #tile.space<fragment>>, memref<?x?xf32, #tile.space<global>>
  }
}
)mlir";

// Each row: exp(x - max) / sum.
constexpr const char* kSoftmax = R"mlir(
tile.kernel @softmax(
    %X: memref<?x64xf32, #tile.space<global>> {tile.name = "X", tile.dims = ["M", ""], tile.role = "in"},
    %Y: memref<?x64xf32, #tile.space<global>> {tile.name = "Y", tile.dims = ["M", ""], tile.role = "out"}) {
  %M = tile.dim "M"
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %blocks = arith.ceildivsi %M, %c8 : index
  tile.grid (%m) = (%blocks) {
    %i = arith.muli %m, %c8 : index
    %x = tile.alloc "x" : memref<8x64xf32, #tile.space<shared>>
    %top = tile.alloc "top" : memref<8xf32, #tile.space<fragment>>
    %sum = tile.alloc "sum" : memref<8xf32, #tile.space<fragment>>
    tile.load %X[%i, %c0] into %x : memref<?x64xf32, #tile.space<global>>, memref<8x64xf32, #tile.space<shared>>
    tile.reduce max %x into %top dim 1 clear : memref<8x64xf32, #tile.space<shared>>, memref<8xf32, #tile.space<fragment>>
    tile.map (%r, %c) in [8, 64] {
      %v = tile.read %x[%r, %c] : memref<8x64xf32, #tile.space<shared>> -> f32
      %t = tile.read %top[%r] : memref<8xf32, #tile.space<fragment>> -> f32
      %d = arith.subf %v, %t : f32
      %e = math.exp %d : f32
      tile.write %e, %x[%r, %c] : f32, memref<8x64xf32, #tile.space<shared>>
    }
    tile.reduce add %x into %sum dim 1 clear : memref<8x64xf32, #tile.space<shared>>, memref<8xf32, #tile.space<fragment>>
    tile.map (%r, %c) in [8, 64] {
      %e = tile.read %x[%r, %c] : memref<8x64xf32, #tile.space<shared>> -> f32
      %s = tile.read %sum[%r] : memref<8xf32, #tile.space<fragment>> -> f32
      %q = arith.divf %e, %s : f32
      tile.write %q, %x[%r, %c] : f32, memref<8x64xf32, #tile.space<shared>>
    }
    tile.store %x into %Y[%i, %c0] : memref<8x64xf32, #tile.space<shared>>, memref<?x64xf32, #tile.space<global>>
  }
}
)mlir";

TEST(Verify, ProductsPassOnEdgeShapes) {
  const VerifyReport report = verify(tile::Program::parse(kProduct, "product.mlir"));
  EXPECT_TRUE(report.passed()) << report.text();
  ASSERT_EQ(report.cases.size(), 12u);
  bool some = false;
  for (const VerifyCase& result : report.cases) {
    some = some || result.compared > 100;
    EXPECT_EQ(result.incomparable, 0);
    EXPECT_LE(result.worst, 2);
    EXPECT_EQ(result.compared, result.sizes.at("M") * result.sizes.at("N"));
  }
  EXPECT_TRUE(some);
  const auto json = nlohmann::json::parse(report.json());
  EXPECT_EQ(json["kernel"], "product");
  EXPECT_EQ(json["passed"], true);
  EXPECT_EQ(json["cases"].size(), 12u);
}

TEST(Verify, SoftmaxPasses) {
  VerifyOptions options;
  options.cases = 6;
  const VerifyReport report = verify(tile::Program::parse(kSoftmax, "softmax.mlir"), "softmax", options);
  EXPECT_TRUE(report.passed()) << report.text();
}

TEST(Verify, HeldSizesAreKept) {
  VerifyOptions options;
  options.cases = 3;
  options.sizes = {{"M", 13}};
  const VerifyReport report = verify(tile::Program::parse(kProduct), "", options);
  EXPECT_TRUE(report.passed()) << report.text();
  for (const VerifyCase& result : report.cases) EXPECT_EQ(result.sizes.at("M"), 13);
  options.sizes = {{"L", 13}};
  EXPECT_THROW(verify(tile::Program::parse(kProduct), "", options), ValueError);
}

}  // namespace
}  // namespace deep_accel::compile
