// Compiled kernels against plain loops over doubles: products in all their forms, moves, reductions, scans, atomics.
//
// Sizes are odd on purpose, so that windows run over the edges of their tensors and vectors have tails.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>

#include "deep_accel/base/error.h"
#include "deep_accel/compile/compiler.h"
#include "deep_accel/runtime/kernel.h"
#include "tests/replaced.h"

namespace deep_accel {
namespace {

using test::replaced;

constexpr double kUnitRoundoff = 0x1p-24;  // of f32

// {name} is replaced by its value; "global<f32 ? ?>" stands for a buffer type.
std::string fill_in(std::string text, const std::vector<std::pair<std::string, std::string>>& values) {
  for (const auto& [name, value] : values) text = replaced(text, "{" + name + "}", value);
  return text;
}

Tensor random_tensor(DType dtype, const Dims& shape, uint32_t seed, double low = -1, double high = 1) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> distribution(low, high);
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  std::vector<double> values(static_cast<size_t>(count));
  for (double& value : values) value = distribution(generator);
  return Tensor::from_values(dtype, shape, values);
}

void run(const std::string& text, std::initializer_list<Argument> arguments, int threads = 2) {
  auto kernel = compile::jit(tile::Program::parse(text));
  launch(*kernel, arguments, {.threads = threads});
}

struct ProductCase {
  std::string dtype;
  DType type;
  bool transpose_a, transpose_b;
};

class Product : public testing::TestWithParam<ProductCase> {};

TEST_P(Product, MatchesLoops) {
  const ProductCase c = GetParam();
  constexpr int64_t m = 45, n = 53, k = 37;
  const std::string text =
      fill_in(R"(
    tile.kernel @product(%A: memref<?x?x{T}, #tile.space<global>> {tile.name = "A", tile.dims = [{DA}], tile.role = "in"},
                         %B: memref<?x?x{T}, #tile.space<global>> {tile.name = "B", tile.dims = [{DB}], tile.role = "in"},
                         %C: memref<?x?x{O}, #tile.space<global>> {tile.name = "C", tile.dims = ["M", "N"], tile.role = "out"}) {
      %M = tile.dim "M"
      %N = tile.dim "N"
      %K = tile.dim "K"
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %tm = arith.constant 24 : index
      %tn = arith.constant 40 : index
      %tk = arith.constant 16 : index
      %zero = arith.constant {Z} : {O}
      %gm = arith.ceildivsi %M, %tm : index
      %gn = arith.ceildivsi %N, %tn : index
      %gk = arith.ceildivsi %K, %tk : index
      tile.grid (%bm, %bn) = (%gm, %gn) {
        %a = tile.alloc "a" : memref<{SA}x{T}, #tile.space<shared>>
        %b = tile.alloc "b" : memref<{SB}x{T}, #tile.space<shared>>
        %acc = tile.alloc "acc" : memref<24x40x{O}, #tile.space<fragment>>
        tile.fill %acc, %zero : memref<24x40x{O}, #tile.space<fragment>>, {O}
        %i = arith.muli %bm, %tm : index
        %j = arith.muli %bn, %tn : index
        tile.pipeline %s = %c0 to %gk step %c1 stages(2) {
          %k = arith.muli %s, %tk : index
          tile.load %A[{IA}] into %a : memref<?x?x{T}, #tile.space<global>>, memref<{SA}x{T}, #tile.space<shared>>
          tile.load %B[{IB}] into %b : memref<?x?x{T}, #tile.space<global>>, memref<{SB}x{T}, #tile.space<shared>>
          tile.gemm %a, %b, %acc {TR} : memref<{SA}x{T}, #tile.space<shared>>, memref<{SB}x{T}, #tile.space<shared>>, memref<24x40x{O}, #tile.space<fragment>>
        }
        tile.store %acc into %C[%i, %j] : memref<24x40x{O}, #tile.space<fragment>>, memref<?x?x{O}, #tile.space<global>>
      }
    })",
              {{"T", c.dtype},
               {"O", c.type == DType::f64 ? "f64"
                     : is_float(c.type)   ? "f32"
                                          : "i32"},
               {"Z", is_float(c.type) ? "0.0" : "0"},
               {"DA", c.transpose_a ? "\"K\", \"M\"" : "\"M\", \"K\""},
               {"DB", c.transpose_b ? "\"N\", \"K\"" : "\"K\", \"N\""},
               {"SA", c.transpose_a ? "16x24" : "24x16"},
               {"SB", c.transpose_b ? "40x16" : "16x40"},
               {"IA", c.transpose_a ? "%k, %i" : "%i, %k"},
               {"IB", c.transpose_b ? "%j, %k" : "%k, %j"},
               {"TR", std::string(c.transpose_a ? "transpose_a " : "") + (c.transpose_b ? "transpose_b" : "")}});
  const double range = is_float(c.type) ? 1 : 100;
  Tensor a = random_tensor(c.type, c.transpose_a ? Dims{k, m} : Dims{m, k}, 1, -range, range);
  Tensor b = random_tensor(c.type, c.transpose_b ? Dims{n, k} : Dims{k, n}, 2, -range, range);
  const DType out = c.type == DType::f64 ? DType::f64 : is_float(c.type) ? DType::f32 : DType::i32;
  Tensor got = Tensor::full(out, {m, n}, is_float(out) ? NAN : -1);
  run(text, {a, b, got});
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double want = 0, magnitude = 0;
      for (int64_t p = 0; p < k; ++p) {
        const double product =
            (c.transpose_a ? a.at({p, i}) : a.at({i, p})) * (c.transpose_b ? b.at({j, p}) : b.at({p, j}));
        want += product;
        magnitude += std::abs(product);
      }
      // Each of the k products and sums rounds at most once: gamma_k = k u / (1 - k u).
      const double unit = c.type == DType::f64 ? 0x1p-53 : is_float(c.type) ? kUnitRoundoff : 0;
      ASSERT_NEAR(got.at({i, j}), want, (k + 1) * unit * magnitude) << c.dtype << " at " << i << ", " << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Forms, Product,
    testing::Values(ProductCase{"f32", DType::f32, false, false}, ProductCase{"f32", DType::f32, false, true},
                    ProductCase{"f32", DType::f32, true, false}, ProductCase{"f32", DType::f32, true, true},
                    ProductCase{"f64", DType::f64, false, false}, ProductCase{"f16", DType::f16, false, false},
                    ProductCase{"bf16", DType::bf16, false, true}, ProductCase{"f8E4M3FN", DType::f8e4m3, false, false},
                    ProductCase{"f8E5M2", DType::f8e5m2, true, false}, ProductCase{"i8", DType::i8, false, false},
                    ProductCase{"ui8", DType::u8, false, true}),
    [](const auto& info) {
      return info.param.dtype + (info.param.transpose_a ? "_t" : "_n") + (info.param.transpose_b ? "t" : "n");
    });

// A kernel of one block over a whole tensor of R x C in a tile of the same shape: the body between load and store.
std::string whole_tile(const std::string& body, const std::string& out_shape, const std::string& element = "f32") {
  return fill_in(R"(
    tile.kernel @k(%X: memref<7x37x{T}, #tile.space<global>> {tile.name = "X", tile.dims = ["", ""], tile.role = "in"},
                   %Y: memref<{S}xf32, #tile.space<global>> {tile.name = "Y", tile.dims = [{D}], tile.role = "out"}) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      tile.grid (%g) = (%c1) {
        %x = tile.alloc "x" : memref<7x37x{T}, #tile.space<shared>>
        %y = tile.alloc "y" : memref<{S}xf32, #tile.space<shared>>
        tile.load %X[%c0, %c0] into %x : memref<7x37x{T}, #tile.space<global>>, memref<7x37x{T}, #tile.space<shared>>
        {BODY}
        tile.store %y into %Y[{I}] : memref<{S}xf32, #tile.space<shared>>, memref<{S}xf32, #tile.space<global>>
      }
    })",
                 {{"BODY", body},
                  {"S", out_shape},
                  {"T", element},
                  {"D", out_shape.find('x') == std::string::npos ? "\"\"" : "\"\", \"\""},
                  {"I", out_shape.find('x') == std::string::npos ? "%c0" : "%c0, %c0"}});
}

TEST(Operations, ReduceRowsAndColumns) {
  Tensor x = random_tensor(DType::f32, {7, 37}, 3, -5, 5);
  struct Kind {
    std::string name;
    double start;
    std::function<double(double, double)> join;
  };
  const Kind kinds[] = {{"add", 0, [](double a, double b) { return a + b; }},
                        {"max", -INFINITY, [](double a, double b) { return std::max(a, b); }},
                        {"min", INFINITY, [](double a, double b) { return std::min(a, b); }},
                        {"absadd", 0, [](double a, double b) { return a + std::abs(b); }},
                        {"absmax", 0, [](double a, double b) { return std::max(a, std::abs(b)); }}};
  for (const Kind& kind : kinds) {
    Tensor rows = Tensor::full(DType::f32, {7}, NAN), columns = Tensor::full(DType::f32, {37}, NAN);
    const std::string reduce = "tile.reduce " + kind.name +
                               " %x into %y dim {DIM} clear : memref<7x37xf32, #tile.space<shared>>, "
                               "memref<{N}xf32, #tile.space<shared>>";
    run(whole_tile(fill_in(reduce, {{"DIM", "1"}, {"N", "7"}}), "7"), {x, rows});
    run(whole_tile(fill_in(reduce, {{"DIM", "0"}, {"N", "37"}}), "37"), {x, columns});
    for (int64_t i = 0; i < 7; ++i) {
      double want = kind.start;
      for (int64_t j = 0; j < 37; ++j) want = kind.join(want, x.at({i, j}));
      EXPECT_NEAR(rows.at({i}), want, 37 * kUnitRoundoff * 5 * 37) << kind.name << " row " << i;
    }
    for (int64_t j = 0; j < 37; ++j) {
      double want = kind.start;
      for (int64_t i = 0; i < 7; ++i) want = kind.join(want, x.at({i, j}));
      EXPECT_NEAR(columns.at({j}), want, 7 * kUnitRoundoff * 5 * 7) << kind.name << " column " << j;
    }
  }
}

TEST(Operations, ScanBothWays) {
  Tensor x = random_tensor(DType::f32, {7, 37}, 4);
  for (int64_t dim : {0, 1}) {
    for (const std::string flags : {"", "reverse", "exclusive", "reverse exclusive"}) {
      Tensor y = Tensor::full(DType::f32, {7, 37}, NAN);
      run(whole_tile("tile.scan add %x into %y dim " + std::to_string(dim) + " " + flags +
                         " : memref<7x37xf32, #tile.space<shared>>, memref<7x37xf32, #tile.space<shared>>",
                     "7x37"),
          {x, y});
      const bool reverse = flags.find("reverse") != std::string::npos;
      const bool exclusive = flags.find("exclusive") != std::string::npos;
      const int64_t length = dim == 0 ? 7 : 37, others = dim == 0 ? 37 : 7;
      for (int64_t other = 0; other < others; ++other) {
        double running = 0;
        for (int64_t step = 0; step < length; ++step) {
          const int64_t at = reverse ? length - 1 - step : step;
          const int64_t i = dim == 0 ? at : other, j = dim == 0 ? other : at;
          const double before = running;
          running += x.at({i, j});
          ASSERT_NEAR(y.at({i, j}), exclusive ? before : running, 37 * 37 * kUnitRoundoff) << dim << flags;
        }
      }
    }
  }
}

TEST(Operations, TransposeAndConvert) {
  Tensor x = random_tensor(DType::f32, {7, 37}, 5);
  Tensor y = Tensor::full(DType::f32, {37, 7}, NAN);
  run(whole_tile("tile.transpose %x to %y [1, 0] : memref<7x37xf32, #tile.space<shared>>, memref<37x7xf32, "
                 "#tile.space<shared>>",
                 "37x7"),
      {x, y});
  for (int64_t i = 0; i < 7; ++i) {
    for (int64_t j = 0; j < 37; ++j) EXPECT_EQ(y.at({j, i}), x.at({i, j}));
  }
  for (const auto& [name, dtype] : {std::pair<std::string, DType>{"f16", DType::f16},
                                    {"bf16", DType::bf16},
                                    {"f8E4M3FN", DType::f8e4m3},
                                    {"i8", DType::i8},
                                    {"ui8", DType::u8}}) {
    Tensor narrow = random_tensor(dtype, {7, 37}, 6, 0, is_float(dtype) ? 3 : 100);
    Tensor wide = Tensor::full(DType::f32, {7, 37}, NAN);
    run(whole_tile("tile.copy %x to %y : memref<7x37x" + name +
                       ", #tile.space<shared>>, memref<7x37xf32, #tile.space<shared>>",
                   "7x37", name),
        {narrow, wide});
    EXPECT_EQ(wide.values(), narrow.values()) << name;
  }
}

TEST(Operations, GatherAndScatterRows) {
  const std::string text = R"(
    tile.kernel @k(%X: memref<?x?xf32, #tile.space<global>> {tile.name = "X", tile.dims = ["R", "C"], tile.role = "in"},
                   %I: memref<?xi32, #tile.space<global>> {tile.name = "I", tile.dims = ["P"], tile.role = "in"},
                   %Y: memref<?x?xf32, #tile.space<global>> {tile.name = "Y", tile.dims = ["P", "C"], tile.role = "out"},
                   %Z: memref<?x?xf32, #tile.space<global>> {tile.name = "Z", tile.dims = ["R", "C"], tile.role = "inout"}) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %fill = arith.constant -1.0 : f32
      %none = arith.constant -1 : i32
      tile.grid (%g) = (%c1) {
        %ids = tile.alloc "ids" : memref<8xi32, #tile.space<shared>>
        %t = tile.alloc "t" : memref<8x20xf32, #tile.space<shared>>
        tile.load %I[%c0] into %ids fill %none : i32 : memref<?xi32, #tile.space<global>>, memref<8xi32, #tile.space<shared>>
        tile.gather %X[%c0, %c0] rows %ids axis 0 into %t fill %fill : f32 : memref<?x?xf32, #tile.space<global>>, memref<8xi32, #tile.space<shared>>, memref<8x20xf32, #tile.space<shared>>
        tile.store %t into %Y[%c0, %c0] : memref<8x20xf32, #tile.space<shared>>, memref<?x?xf32, #tile.space<global>>
        tile.scatter %t into %Z[%c0, %c0] rows %ids axis 0 combine add : memref<8x20xf32, #tile.space<shared>>, memref<8xi32, #tile.space<shared>>, memref<?x?xf32, #tile.space<global>>
      }
    })";
  constexpr int64_t rows = 11, columns = 17, picked = 6;
  Tensor x = random_tensor(DType::f32, {rows, columns}, 7);
  const std::vector<double> ids = {3, -1, 10, 3, 99, 0};
  Tensor i = Tensor::from_values(DType::i32, {picked}, ids);
  Tensor y = Tensor::full(DType::f32, {picked, columns}, NAN), z = Tensor::zeros(DType::f32, {rows, columns});
  run(text, {x, i, y, z});
  for (int64_t p = 0; p < picked; ++p) {
    const auto row = static_cast<int64_t>(ids[static_cast<size_t>(p)]);
    for (int64_t c = 0; c < columns; ++c) {
      EXPECT_EQ(y.at({p, c}), row >= 0 && row < rows ? x.at({row, c}) : -1.0);
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    const double times = static_cast<double>(std::count(ids.begin(), ids.end(), static_cast<double>(r)));
    for (int64_t c = 0; c < columns; ++c) EXPECT_EQ(z.at({r, c}), times * x.at({r, c}));
  }
}

TEST(Operations, Im2colPadsAndStrides) {
  const std::string text = R"(
    tile.kernel @k(%X: memref<?x?x?x?xf32, #tile.space<global>> {tile.name = "X", tile.dims = ["B", "H", "W", "C"], tile.role = "in"},
                   %Y: memref<?x?xf32, #tile.space<global>> {tile.name = "Y", tile.dims = ["P", "Q"], tile.role = "out"}) {
      %P = tile.dim "P"
      %Q = tile.dim "Q"
      %c16 = arith.constant 16 : index
      %gp = arith.ceildivsi %P, %c16 : index
      %gq = arith.ceildivsi %Q, %c16 : index
      tile.grid (%p, %q) = (%gp, %gq) {
        %t = tile.alloc "t" : memref<16x16xf32, #tile.space<shared>>
        %i = arith.muli %p, %c16 : index
        %j = arith.muli %q, %c16 : index
        tile.im2col %X[%i, %j] into %t kernel [3, 2] stride [2, 1] dilation [1, 2] pad [1, 1, 1, 0] : memref<?x?x?x?xf32, #tile.space<global>>, memref<16x16xf32, #tile.space<shared>>
        tile.store %t into %Y[%i, %j] : memref<16x16xf32, #tile.space<shared>>, memref<?x?xf32, #tile.space<global>>
      }
    })";
  constexpr int64_t b = 2, h = 6, w = 5, c = 5;
  constexpr int64_t oh = (h + 2 - 3) / 2 + 1, ow = (w + 1 - 3) / 1 + 1;
  Tensor x = random_tensor(DType::f32, {b, h, w, c}, 8);
  Tensor y = Tensor::full(DType::f32, {b * oh * ow, 3 * 2 * c}, NAN);
  run(text, {x, y});
  for (int64_t n = 0; n < b; ++n) {
    for (int64_t p = 0; p < oh * ow; ++p) {
      for (int64_t q = 0; q < 3 * 2 * c; ++q) {
        const int64_t kh = q / (2 * c), kw = q / c % 2, channel = q % c;
        const int64_t ih = p / ow * 2 + kh - 1, iw = p % ow + 2 * kw - 1;
        const bool inside = ih >= 0 && ih < h && iw >= 0 && iw < w;
        ASSERT_EQ(y.at({n * oh * ow + p, q}), inside ? x.at({n, ih, iw, channel}) : 0.0) << n << " " << p << " " << q;
      }
    }
  }
}

TEST(Operations, AtomicsCountAcrossBlocks) {
  const std::string text = R"(
    tile.kernel @k(%N: memref<1xi32, #tile.space<global>> {tile.name = "N", tile.dims = [""], tile.role = "inout"}) {
      %c0 = arith.constant 0 : index
      %c1000 = arith.constant 1000 : index
      %one = arith.constant 1 : i32
      tile.grid (%g) = (%c1000) {
        %before = tile.atomic add %one, %N[%c0] : i32, memref<1xi32, #tile.space<global>>
      }
    })";
  Tensor n = Tensor::zeros(DType::i32, {1});
  run(text, {n}, 4);
  EXPECT_EQ(n.at({0}), 1000);
}

TEST(Operations, AssertFailsTheLaunch) {
  const std::string text = R"(
    tile.kernel @k(%N: memref<?xi32, #tile.space<global>> {tile.name = "N", tile.dims = ["N"], tile.role = "in"}) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      tile.grid (%g) = (%c1) {
        %v = tile.read %N[%c0] : memref<?xi32, #tile.space<global>> -> i32
        %seven = arith.constant 7 : i32
        %ok = arith.cmpi eq, %v, %seven : i32
        tile.assert %ok, "the first must be seven"
      }
    })";
  run(text, {Tensor::full(DType::i32, {3}, 7)});
  try {
    run(text, {Tensor::full(DType::i32, {3}, 8)});
    FAIL() << "the assertion did not fail";
  } catch (const ValueError& error) {
    EXPECT_NE(std::string(error.what()).find("the first must be seven"), std::string::npos) << error.what();
  }
}

void add_to_all(float* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) values[i] += 0.5f;
}

TEST(Operations, CallsForeignFunctionsAndPrints) {
  register_extern("operations_test_add_to_all", reinterpret_cast<void*>(&add_to_all));
  Tensor x = random_tensor(DType::f32, {7, 37}, 9), y = Tensor::full(DType::f32, {7, 37}, NAN);
  const std::string text = whole_tile(R"(
        tile.copy %x to %y : memref<7x37xf32, #tile.space<shared>>, memref<7x37xf32, #tile.space<shared>>
        %count = arith.constant 259 : index
        tile.extern @operations_test_add_to_all(%y, %count) reads [0] writes [0] : (memref<7x37xf32, #tile.space<shared>>, index) -> ()
        %v = tile.read %y[%c1, %c0] : memref<7x37xf32, #tile.space<shared>> -> f32
        tile.print "row one begins with", %v, %count : f32, index)",
                                      "7x37");
  std::vector<std::string> printed;
  auto kernel = compile::jit(tile::Program::parse(text));
  launch(*kernel, {x, y}, {.print = [&](std::string_view line) { printed.emplace_back(line); }});
  for (int64_t i = 0; i < 7; ++i) {
    for (int64_t j = 0; j < 37; ++j) EXPECT_EQ(y.at({i, j}), static_cast<float>(x.at({i, j})) + 0.5f);
  }
  ASSERT_EQ(printed.size(), 1u);
  EXPECT_TRUE(printed[0].starts_with("row one begins with ")) << printed[0];
  EXPECT_NE(printed[0].find("259"), std::string::npos) << printed[0];
}

}  // namespace
}  // namespace deep_accel
