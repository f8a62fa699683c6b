// Builder: the operations that its calls make, and their round trip through the text.
#include "deep_accel/tile/builder.h"

#include "deep_accel/base/error.h"
#include "tests/tile/builder/expect_text.h"

namespace deep_accel::tile {
namespace {

Program product(DType dtype, int64_t m, int64_t n, int64_t k) {
  Builder b("gemm");
  auto [M, N, K] = b.dims("M", "N", "K");
  auto A = b.input("A", dtype, {M, K}), B = b.input("B", dtype, {K, N});
  auto C = b.output("C", DType::f32, {M, N});
  b.grid({ceil_div(M, m), ceil_div(N, n)}, [&](Index bm, Index bn) {
    auto a_tile = b.shared(dtype, {m, k}, "a"), b_tile = b.shared(dtype, {k, n}, "b");
    auto acc = b.fragment(DType::f32, {m, n}, "acc");
    b.fill(acc, 0);
    b.pipelined(ceil_div(K, k), 3, [&](Index ko) {
      b.load(A, {bm * m, ko * k}, a_tile);
      b.load(B, {ko * k, bn * n}, b_tile);
      b.gemm(a_tile, b_tile, acc);
    });
    b.store(acc, C, {bm * m, bn * n});
  });
  return b.finish();
}

TEST(Builder, Product) {
  const Program program = product(DType::f16, 128, 64, 32);
  EXPECT_EQ(program.kernels(), std::vector<std::string>{"gemm"});
  expect_in_order(
      program,
      {"tile.kernel @gemm(%arg0: memref<?x?xf16, #tile.space<global>> {tile.dims = [\"M\", \"K\"], tile.name = \"A\", "
       "tile.role = \"in\"}",
       "tile.role = \"out\"", "tile.dim \"M\"", "tile.grid (",
       "tile.alloc \"a\" : memref<128x32xf16, #tile.space<shared>>",
       "tile.alloc \"acc\" : memref<128x64xf32, #tile.space<fragment>>", "tile.fill", "tile.pipeline", "stages(3)",
       "tile.load %arg0[", "tile.load %arg1[", "tile.gemm", "tile.store", "into %arg2["});
}

TEST(Builder, StaticSizesFold) {
  Builder b("copy");
  auto X = b.input("X", DType::f32, {1000}), Y = b.output("Y", DType::f32, {1000});
  EXPECT_EQ(ceil_div(X.dim(0), 256).constant(), 4);
  b.grid({ceil_div(X.dim(0), 256)}, [&](Index i) {
    auto t = b.shared(DType::f32, {256});
    b.load(X, {i * 256}, t);
    b.store(t, Y, {i * 256});
  });
  const std::string text = b.finish().text();
  EXPECT_EQ(text.find("ceildiv"), std::string::npos) << text;
  EXPECT_NE(text.find("constant 4 : index"), std::string::npos) << text;
}

TEST(Builder, EveryMoveAndComputation) {
  Builder b("everything");
  auto [M, N] = b.dims("M", "N");
  auto X = b.input("X", DType::f32, {M, N});
  auto I = b.input("I", DType::i32, {M});
  auto image = b.input("image", DType::f32, {1, 8, 8, 4});
  auto S = b.strided("S", DType::f32, {M, N}, {std::nullopt, 1}, ArgumentRole::in);
  auto Y = b.inout("Y", DType::f32, {M, N});
  auto counts = b.inout("counts", DType::i32, {16});
  auto alpha = b.scalar("alpha", ScalarType::f32);
  auto space = b.workspace(DType::f32, {4, 4}, "space");
  b.grid({ceil_div(M, 32)},
         [&](Index i) {
           auto rows = b.shared(DType::i32, {32}, "rows");
           auto t = b.shared(DType::f32, {32, 16}, "t"), u = b.shared(DType::f32, {32, 16}, "u");
           auto turned = b.shared(DType::f32, {16, 32}), cols = b.shared(DType::f32, {16, 36});
           auto sums = b.fragment(DType::f32, {32}, "sums");
           auto acc = b.fragment(DType::f32, {32, 32}, "acc");
           b.load(I, {i * 32}, rows);
           b.load(X, {i * 32, 0}, t, {.fill = 1.5});
           b.load(S, {0, i * 32}, turned, {.dims = {1, 0}});
           auto token = b.async_load(X, {i * 32, 16}, u);
           b.prefetch(X, {i * 32, 32}, {32, 16}, 1);
           b.wait({token});
           b.copy(t, u);
           b.transpose(t, turned);
           b.gather(X, {0, 0}, rows, t);
           b.scatter(t, Y, {0, 0}, rows, 0, Combination::add);
           b.im2col(image, i * 16, 0, cols, {.kernel = {3, 3}, .pad = {1, 1, 1, 1}});
           b.map({32, 16}, [&](Index r, Index c) { t(r, c) = alpha * exp(u(r, c)) + 1; });
           b.map({32, 16}, [&](Index r, Index c) { b.accumulate(Combination::add, t(r, c), sums, {r}); });
           b.map({32, 16}, [&](Index r, Index c) { b.accumulate(Combination::add, 1, t, {r, c}); });
           b.gemm(t, u, acc, {.transpose_b = true, .clear = true});
           b.reduce(Combination::max, t, sums, 1);
           b.scan(Combination::add, sums, sums, 0, {.reverse = true});
           auto half = b.slice(t, {0, 8}, {32, 8});
           b.fill(half, 0);
           auto flat = b.reshape(u, {512});
           auto bytes = b.bitcast(flat, DType::u8);
           b.print("bytes", bytes);
           b.store(t, Y, {i * 32, 0});
           b.atomic_store(Combination::add, t, Y, {i * 32, 0});
           b.atomic(Combination::add, 1, counts, {i % 16});
           b.for_(0, 4, [&](Index k) { b.if_(k > 2, [&] { sums(k) = 0; }, [&] { sums(k) = 1; }); });
           const Scalars sum = b.for_(0, 32, {0.0}, [&](Index k, const Scalars& v) { return Scalars{v[0] + sums(k)}; });
           const Scalars halved = b.while_(
               {sum[0]}, [&](const Scalars& v) { return v[0] > 1; },
               [&](const Scalars& v) { return Scalars{v[0] * 0.5}; });
           b.assume(M % 16 == 0);
           b.assert_(N > 0, "no columns");
           b.print("sum", {halved[0], i});
           b.threads({64}, [&](Index thread) {
             auto v = b.shuffle(ShuffleMode::lane_xor, cast(thread, ScalarType::f32), 1);
             b.barrier();
             b.vote(VoteMode::any, v > 0);
           });
           b.extern_("touch", {{t, ArgumentRole::inout}, Scalar(i)});
           b.store(b.slice(acc, {0, 0}, {4, 4}), space, {0, 0});
         },
         {.walk = BlockWalk::swizzle, .panel = 4, .threads = 128});
  expect_in_order(b.finish(), {"strided<[?, 1]>",
                               "%arg6: f32",
                               "tile.alloc \"space\" : memref<4x4xf32, #tile.space<global>>",
                               "tile.grid (",
                               "order = #tile.order<swizzle, 4>",
                               "fill",
                               "dims [1, 0]",
                               "tile.async_load",
                               "tile.prefetch",
                               "level 1",
                               "tile.wait",
                               "tile.copy",
                               "tile.transpose",
                               "[1, 0]",
                               "tile.gather",
                               "axis 0",
                               "tile.scatter",
                               "combine",
                               "tile.im2col",
                               "kernel [3, 3] stride [1, 1] dilation [1, 1] pad [1, 1, 1, 1]",
                               "tile.map (",
                               "in [32, 16]",
                               "math.exp",
                               "tile.write",
                               "tile.map",
                               "tile.combine",
                               "tile.map",
                               "tile.read",
                               "tile.write",
                               "tile.gemm",
                               "transpose_b clear",
                               "tile.reduce",
                               "dim 1 clear",
                               "tile.scan",
                               "reverse",
                               "tile.slice",
                               "strided<[16, 1], offset: 8>",
                               "tile.reshape",
                               "tile.bitcast",
                               "memref<2048xui8",
                               "tile.print \"bytes\"",
                               "tile.store",
                               "tile.atomic_store",
                               "tile.atomic ",
                               "scf.for",
                               "scf.if",
                               "else",
                               "iter_args",
                               "scf.yield",
                               "scf.while",
                               "scf.condition",
                               "tile.assume",
                               "tile.assert",
                               "\"no columns\"",
                               "tile.print \"sum\"",
                               "tile.threads (",
                               "in [64]",
                               "tile.shuffle",
                               "tile.barrier",
                               "tile.extern @touch",
                               "reads [0] writes [0]"});
}

TEST(Builder, SizesThatAreExpressionsAreChecked) {
  Builder b("packed");
  auto [N, K] = b.dims("N", "K");
  auto A = b.input("A", DType::f32, {N, K});
  auto B = b.input("B", DType::u8, {N, K / 2});
  b.grid({N}, [&](Index n) {
    auto t = b.shared(DType::f32, {16});
    b.load(A, {n, 0}, t);
  });
  expect_in_order(b.finish(), {"tile.dims = [\"N\", \"B.1\"]", "tile.dim \"B.1\"", "arith.divsi", "tile.assert"});
}

TEST(Builder, GuardsOnlyWhatMayBeOutside) {
  Builder b("guard");
  auto [N] = b.dims("N");
  auto X = b.input("X", DType::f32, {N});
  auto Y = b.output("Y", DType::f32, {64, 4});
  b.grid({4}, [&](Index i) {
    b.map({16}, [&](Index j) {
      const Scalar v = b.read_guarded(X, {i * 16 + j});
      b.write_guarded(v, Y, {i * 16 + j, i});
    });
  });
  const std::string text = b.finish().text();
  const size_t guard = text.find("scf.if");
  ASSERT_NE(guard, std::string::npos) << text;
  EXPECT_EQ(text.find("scf.if", guard + 1), std::string::npos) << "the write is surely inside\n" << text;
}

TEST(Builder, DifferencesThatAreConstant) {
  Builder b("difference");
  auto [N] = b.dims("N");
  auto X = b.input("X", DType::f32, {N});
  b.grid({N}, [&](Index i) {
    EXPECT_EQ(b.constant_difference((i + 1) * 64, i * 64), 64);
    EXPECT_EQ(b.constant_difference(floor_div(i, 3) * 8 + 8, floor_div(i, 3) * 8), 8);
    EXPECT_EQ(b.constant_difference(i * 3 - N, i * 3 - N + 5), -5);
    EXPECT_FALSE(b.constant_difference(i * 2, i));
    b.prefetch(X, {i}, {1});
  });
  b.finish();
}

TEST(Builder, RolesFollowUse) {
  Builder b("roles");
  auto X = b.argument("X", DType::f32, {16}, ArgumentRole::automatic);
  auto Y = b.argument("Y", DType::f32, {16}, ArgumentRole::automatic);
  auto Z = b.argument("Z", DType::f32, {16}, ArgumentRole::automatic);
  b.grid({1}, [&](Index) {
    auto t = b.shared(DType::f32, {16});
    b.load(X, {0}, t);
    b.store(t, Y, {0});
    b.atomic_store(Combination::add, t, Z, {0});
  });
  expect_in_order(b.finish(),
                  {"\"X\", tile.role = \"in\"", "\"Y\", tile.role = \"out\"", "\"Z\", tile.role = \"inout\""});
}

TEST(Builder, LocationsAreTheCallersLines) {
  Builder b("where");
  auto X = b.output("X", DType::f32, {16});
  int line = 0;
  b.grid({1}, [&](Index) {
    auto t = b.shared(DType::f32, {16});
    line = __LINE__ + 1;
    b.fill(t, 0);
    b.store(t, X, {0});
  });
  const std::string text = b.finish().text(/*locations=*/true);
  EXPECT_NE(text.find("builder_test.cpp\":" + std::to_string(line) + ":"), std::string::npos) << text;
}

}  // namespace
}  // namespace deep_accel::tile
