// Moves, products, reductions, scans, views and control flow against plain loops.
#include <cmath>
#include <numeric>
#include <random>

#include "kernels.h"

namespace deep_accel::tile::test {
namespace {

std::vector<double> counting(int64_t count) {
  std::vector<double> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

std::vector<double> random_values(int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int> die(-8, 8);  // small integers: products and sums are exact
  std::vector<double> values(static_cast<size_t>(count));
  for (double& value : values) value = die(random);
  return values;
}

TEST(InterpreterMoves, LoadFillsOutsideAndStoreDrops) {
  // A 2 x 3 tile at (-1, 2) of a 3 x 4 tensor, filled with 9, stored at (2, 3) of a 3 x 4 tensor.
  const std::string text =
      block({argument("A", "3x4xf32", "in"), argument("B", "3x4xf32", "inout")},
            "%m1 = arith.constant -1 : index\n%c2 = arith.constant 2 : index\n%nine = arith.constant 9.0 : f32\n"
            "%t = tile.alloc \"t\" : " +
                shared("2x3xf32") +
                "\n"
                "tile.load %A[%m1, %c2] into %t fill %nine : f32 : " +
                global("3x4xf32") + ", " + shared("2x3xf32") +
                "\n"
                "tile.store %t into %B[%c1, %c2] : " +
                shared("2x3xf32") + ", " + global("3x4xf32") + "\n");
  Tensor a = tensor(DType::f32, {3, 4}, counting(12)), b = Tensor::zeros(DType::f32, {3, 4});
  run(text, {a, b});
  EXPECT_EQ(b.values(), (std::vector<double>{0, 0, 0, 0, 0, 0, 9, 9, 0, 0, 3, 4}));
}

TEST(InterpreterMoves, LoadWithDimsTransposes) {
  const std::string text = block({argument("A", "2x3xf32", "in"), argument("B", "3x2xf32", "out")},
                                 "%t = tile.alloc \"t\" : " + shared("3x2xf32") +
                                     "\n"
                                     "tile.load %A[%c0, %c0] into %t dims [1, 0] : " +
                                     global("2x3xf32") + ", " + shared("3x2xf32") +
                                     "\n"
                                     "tile.store %t into %B[%c0, %c0] : " +
                                     shared("3x2xf32") + ", " + global("3x2xf32") + "\n");
  Tensor a = tensor(DType::f32, {2, 3}, counting(6)), b = Tensor::zeros(DType::f32, {3, 2});
  run(text, {a, b});
  EXPECT_EQ(b.values(), (std::vector<double>{1, 4, 2, 5, 3, 6}));
}

TEST(InterpreterMoves, TransposeAndCopyConvert) {
  const std::string text =
      block({argument("A", "2x3xf32", "in"), argument("B", "3x2xi8", "out"), argument("C", "2x3xf32", "out")},
            alloc("t", "2x3xi8") + alloc("u", "3x2xi8") + alloc("f", "2x3xf32") +
                "tile.map (%i, %j) in [2, 3] {\n%v = tile.read %A[%i, %j] : " + global("2x3xf32") +
                " -> f32\n%n = arith.fptosi %v : f32 to i32\ntile.write %n, %t[%i, %j] : i32, " + shared("2x3xi8") +
                "\n}\ntile.copy %t to %f : " + shared("2x3xi8") + ", " + shared("2x3xf32") +
                "\ntile.transpose %t to %u [1, 0] : " + shared("2x3xi8") + ", " + shared("3x2xi8") + "\n" +
                store("u", "B", "3x2xi8") + store("f", "C", "2x3xf32"));
  Tensor a = tensor(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 200}), b = Tensor::zeros(DType::i8, {3, 2}),
         c = Tensor::zeros(DType::f32, {2, 3});
  run(text, {a, b, c});
  EXPECT_EQ(b.values(), (std::vector<double>{1, 4, 2, 5, 3, -56}));  // 200 wraps
  EXPECT_EQ(c.values(), (std::vector<double>{1, 2, 3, 4, 5, -56}));
}

TEST(InterpreterMoves, GatherAndScatter) {
  const std::string text =
      block({argument("A", "4x3xf32", "in"), argument("R", "3xi32", "in"), argument("B", "3x3xf32", "out"),
             argument("C", "4x3xf32", "inout")},
            load("R", "r", "3xi32") + alloc("t", "3x3xf32") +
                "tile.gather %A[%c0, %c1] rows %r axis 0 into %t : " + global("4x3xf32") + ", " + shared("3xi32") +
                ", " + shared("3x3xf32") + "\n" + store("t", "B", "3x3xf32") +
                "tile.scatter %t into %C[%c0, %c0] rows %r axis 0 combine add : " + shared("3x3xf32") + ", " +
                shared("3xi32") + ", " + global("4x3xf32") + "\n");
  Tensor a = tensor(DType::f32, {4, 3}, counting(12)), r = tensor(DType::i32, {3}, {2, -1, 2});
  Tensor b = Tensor::zeros(DType::f32, {3, 3}), c = Tensor::full(DType::f32, {4, 3}, 1);
  run(text, {a, r, b, c});
  EXPECT_EQ(b.values(), (std::vector<double>{8, 9, 0, 0, 0, 0, 8, 9, 0}));
  EXPECT_EQ(c.values(), (std::vector<double>{1, 1, 1, 1, 1, 1, 17, 19, 1, 1, 1, 1}));
}

TEST(InterpreterMoves, Im2colMakesColumnsOfAConvolution) {
  // One 3 x 3 image of 2 channels, a 2 x 2 filter, stride 2, padding 1 on the top and left: 2 x 2 pixels.
  const std::string text =
      block({argument("X", "1x3x3x2xf32", "in"), argument("B", "5x8xf32", "out")},
            alloc("t", "5x8xf32") +
                "tile.im2col %X[%c0, %c0] into %t kernel [2, 2] stride [2, 2] dilation [1, 1] pad [1, 1, 0, 0] : " +
                global("1x3x3x2xf32") + ", " + shared("5x8xf32") + "\n" + store("t", "B", "5x8xf32"));
  Tensor x = tensor(DType::f32, {1, 3, 3, 2}, counting(18)), b = Tensor::zeros(DType::f32, {5, 8});
  run(text, {x, b});
  std::vector<double> wanted;
  for (int pixel = 0; pixel < 5; ++pixel) {
    for (int column = 0; column < 8; ++column) {
      const int y = pixel / 2 * 2 + column / 4 - 1, xx = pixel % 2 * 2 + column / 2 % 2 - 1, c = column % 2;
      wanted.push_back(pixel < 4 && y >= 0 && y < 3 && xx >= 0 && xx < 3 ? 1 + 2 * (3 * y + xx) + c : 0);
    }
  }
  EXPECT_EQ(b.values(), wanted);
}

TEST(InterpreterViews, SliceReshapeBitcast) {
  const std::string text =
      block({argument("A", "4x6xf32", "in"), argument("B", "2x2xf32", "out"), argument("C", "6xf32", "out"),
             argument("D", "4xi32", "out"), argument("E", "8xi8", "out")},
            "%t = tile.alloc \"t\" : " + shared("4x6xf32") +
                "\n%c2 = arith.constant 2 : index\n"
                "tile.load %A[%c0, %c0] into %t : " +
                global("4x6xf32") + ", " + shared("4x6xf32") +
                "\n"
                "%s = tile.slice %t[%c1, %c2] : " +
                shared("4x6xf32") +
                " to memref<2x2xf32, strided<[6, 1], offset: ?>, #tile.space<shared>>\n"
                "tile.store %s into %B[%c0, %c0] : memref<2x2xf32, strided<[6, 1], offset: ?>, #tile.space<shared>>, " +
                global("2x2xf32") +
                "\n"
                "%l = tile.slice %t[%c2, %c0] dims [1] : " +
                shared("4x6xf32") +
                " to memref<6xf32, strided<[1], offset: ?>, #tile.space<shared>>\n"
                "tile.store %l into %C[%c0] : memref<6xf32, strided<[1], offset: ?>, #tile.space<shared>>, " +
                global("6xf32") +
                "\n"
                "%r = tile.reshape %t : " +
                shared("4x6xf32") + " to " + shared("24xf32") +
                "\n"
                "%w = tile.bitcast %r : " +
                shared("24xf32") + " to " + shared("24xi32") +
                "\n"
                "tile.map (%i) in [4] {\n%v = tile.read %w[%i] : " +
                shared("24xi32") +
                " -> i32\n"
                "tile.write %v, %D[%i] : i32, " +
                global("4xi32") +
                "\n}\n"
                "%b = tile.bitcast %r : " +
                shared("24xf32") + " to " + shared("96xi8") +
                "\n"
                "%h = arith.constant 63 : i32\n%three = arith.constant 3 : index\ntile.write %h, %b[%three] : i32, " +
                shared("96xi8") +
                "\n"
                "tile.map (%i) in [8] {\n%v = tile.read %b[%i] : " +
                shared("96xi8") +
                " -> i32\n"
                "tile.write %v, %E[%i] : i32, " +
                global("8xi8") + "\n}\n");
  Tensor a = tensor(DType::f32, {4, 6}, counting(24)), b = Tensor::zeros(DType::f32, {2, 2}),
         c = Tensor::zeros(DType::f32, {6}), d = Tensor::zeros(DType::i32, {4}), e = Tensor::zeros(DType::i8, {8});
  run(text, {a, b, c, d, e});
  EXPECT_EQ(b.values(), (std::vector<double>{9, 10, 15, 16}));
  EXPECT_EQ(c.values(), (std::vector<double>{13, 14, 15, 16, 17, 18}));
  EXPECT_EQ(d.values(), (std::vector<double>{0x3f800000, 0x40000000, 0x40400000, 0x40800000}));  // 1, 2, 3, 4
  EXPECT_EQ(e.values(), (std::vector<double>{0, 0, -128, 63, 0, 0, 0, 64}));
}

TEST(InterpreterViews, PackedTypesSeenAsBytes) {
  const std::string text =
      block({argument("A", "4x!tile.f4E2M1FN", "in"), argument("B", "2xui8", "out")},
            load("A", "t", "4x!tile.f4E2M1FN") + "%b = tile.bitcast %t : " + shared("4x!tile.f4E2M1FN") + " to " +
                shared("2xui8") + "\n" + store("b", "B", "2xui8"));
  // Codes 2 (1.0), 7 (6.0), 9 (-0.5), 0: the even index in the low nibble.
  Tensor a = tensor(DType::f4e2m1, {4}, {1, 6, -0.5, 0}), b = Tensor::zeros(DType::u8, {2});
  run(text, {a, b});
  EXPECT_EQ(b.values(), (std::vector<double>{0x72, 0x09}));
}

struct Product {
  bool transpose_a, transpose_b, clear;
};

TEST(InterpreterCompute, ProductsOfEveryForm) {
  const int m = 3, n = 4, k = 5;
  for (Product form : {Product{false, false, true}, Product{true, false, false}, Product{false, true, false},
                       Product{true, true, true}}) {
    const std::string a_shape = form.transpose_a ? "5x3xf32" : "3x5xf32",
                      b_shape = form.transpose_b ? "4x5xf32" : "5x4xf32";
    const std::string text =
        block({argument("A", a_shape, "in"), argument("B", b_shape, "in"), argument("C", "3x4xf32", "inout")},
              load("A", "a", a_shape) + load("B", "b", b_shape) + load("C", "acc", "3x4xf32") +
                  "tile.gemm %a, %b, %acc" + (form.transpose_a ? " transpose_a" : "") +
                  (form.transpose_b ? " transpose_b" : "") + (form.clear ? " clear" : "") + " : " + shared(a_shape) +
                  ", " + shared(b_shape) + ", " + shared("3x4xf32") + "\n" + store("acc", "C", "3x4xf32"));
    const std::vector<double> a = random_values(m * k, 1), b = random_values(k * n, 2), c = random_values(m * n, 3);
    Tensor out = tensor(DType::f32, {m, n}, c);
    run(text, {tensor(DType::f32, form.transpose_a ? Dims{k, m} : Dims{m, k}, a),
               tensor(DType::f32, form.transpose_b ? Dims{n, k} : Dims{k, n}, b), out});
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        double sum = form.clear ? 0 : c[i * n + j];
        for (int p = 0; p < k; ++p) {
          sum += a[form.transpose_a ? p * m + i : i * k + p] * b[form.transpose_b ? j * k + p : p * n + j];
        }
        EXPECT_EQ(out.at({i, j}), sum) << i << ", " << j;
      }
    }
  }
}

TEST(InterpreterCompute, ScaledAndSparseProducts) {
  const std::string text = block(
      {argument("A", "2x4xf32", "in"), argument("B", "4x2xf32", "in"), argument("SA", "2x2xf32", "in"),
       argument("SB", "1x2xf32", "in"), argument("C", "2x2xf32", "out"), argument("P", "2x2xf32", "in"),
       argument("E", "2x2xi8", "in"), argument("D", "2x2xf32", "out")},
      load("A", "a", "2x4xf32") + load("B", "b", "4x2xf32") + load("SA", "sa", "2x2xf32") +
          load("SB", "sb", "1x2xf32") + load("P", "p", "2x2xf32") + load("E", "e", "2x2xi8") + alloc("acc", "2x2xf32") +
          "tile.gemm %a, %b, %acc scales (%sa, %sb : " + shared("2x2xf32") + ", " + shared("1x2xf32") +
          ") clear : " + shared("2x4xf32") + ", " + shared("4x2xf32") + ", " + shared("2x2xf32") + "\n" +
          store("acc", "C", "2x2xf32") + "tile.sparse_gemm %p, %e, %b, %acc clear : " + shared("2x2xf32") + ", " +
          shared("2x2xi8") + ", " + shared("4x2xf32") + ", " + shared("2x2xf32") + "\n" + store("acc", "D", "2x2xf32"));
  const std::vector<double> a = random_values(8, 5), b = random_values(8, 6), sa = {1, 2, 3, 4}, sb = {2, 0.5};
  const std::vector<double> p = {3, -2, 5, 7}, e = {1, 3, 0, 2};
  Tensor c = Tensor::zeros(DType::f32, {2, 2}), d = Tensor::zeros(DType::f32, {2, 2});
  run(text, {tensor(DType::f32, {2, 4}, a), tensor(DType::f32, {4, 2}, b), tensor(DType::f32, {2, 2}, sa),
             tensor(DType::f32, {1, 2}, sb), c, tensor(DType::f32, {2, 2}, p), tensor(DType::i8, {2, 2}, e), d});
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      double sum = 0, sparse = 0;
      for (int k = 0; k < 4; ++k) sum += a[i * 4 + k] * sa[i * 2 + k / 2] * b[k * 2 + j] * sb[j];
      for (int h = 0; h < 2; ++h) sparse += p[i * 2 + h] * b[static_cast<int>(e[i * 2 + h]) * 2 + j];
      EXPECT_EQ(c.at({i, j}), sum);
      EXPECT_EQ(d.at({i, j}), sparse);
    }
  }
}

// What an operation makes of %a, 2 x 3 elements, in %r.
std::vector<double> over_rows(const std::string& operation, const std::string& element,
                              const std::vector<double>& values, const Dims& result) {
  const std::string from = "2x3x" + element, to = (result.size() == 1 ? "2x" : "2x3x") + element;
  const DType dtype = element == "i32" ? DType::i32 : DType::f32;
  Tensor b = Tensor::zeros(dtype, result);
  run(block({argument("A", from, "in"), argument("B", to, "out")}, load("A", "a", from) + alloc("r", to) + operation +
                                                                       " : " + shared(from) + ", " + shared(to) + "\n" +
                                                                       store("r", "B", to)),
      {tensor(dtype, {2, 3}, values), b});
  return b.values();
}

TEST(InterpreterCompute, ReductionsAndScans) {
  struct Case {
    std::string text;
    std::vector<double> wanted;
  };
  const std::vector<double> values = {3, -5, 2, -1, 4, 6}, integers = {3, 7, 2, 1, 4, 6};
  auto reduced = [](const Case& test) { return "tile.reduce " + test.text + " %a into %r dim 1 clear"; };
  for (const Case& test : {Case{"add", {0, 9}}, Case{"mul", {-30, -24}}, Case{"max", {3, 6}}, Case{"min", {-5, -1}},
                           Case{"absadd", {10, 11}}, Case{"absmax", {5, 6}}}) {
    EXPECT_EQ(over_rows(reduced(test), "f32", values, {2}), test.wanted) << test.text;
  }
  for (const Case& test : {Case{"and", {2, 0}}, Case{"or", {7, 7}}, Case{"xor", {6, 3}}}) {
    EXPECT_EQ(over_rows(reduced(test), "i32", integers, {2}), test.wanted) << test.text;
  }
  for (const Case& test :
       {Case{"add %a into %r dim 1", {3, -2, 0, -1, 3, 9}}, Case{"add %a into %r dim 1 reverse", {0, -3, 2, 9, 10, 6}},
        Case{"add %a into %r dim 1 exclusive", {0, 3, -2, 0, -1, 3}},
        Case{"max %a into %r dim 0", {3, -5, 2, 3, 4, 6}}}) {
    EXPECT_EQ(over_rows("tile.scan " + test.text, "f32", values, {2, 3}), test.wanted) << test.text;
  }
}

TEST(InterpreterCompute, AtomicsGiveWhatWasThere) {
  const std::string text = block({argument("A", "1xi32", "inout"), argument("B", "2xi32", "out")},
                                 "%five = arith.constant 5 : i32\n%two = arith.constant 2 : i32\n"
                                 "%x = tile.atomic add %five, %A[%c0] : i32, " +
                                     global("1xi32") +
                                     "\n"
                                     "%y = tile.atomic exchange %two, %A[%c0] : i32, " +
                                     global("1xi32") +
                                     "\n"
                                     "tile.write %x, %B[%c0] : i32, " +
                                     global("2xi32") + "\ntile.write %y, %B[%c1] : i32, " + global("2xi32") + "\n");
  Tensor a = tensor(DType::i32, {1}, {10}), b = Tensor::zeros(DType::i32, {2});
  run(text, {a, b});
  EXPECT_EQ(a.at({0}), 2);
  EXPECT_EQ(b.values(), (std::vector<double>{10, 15}));
}

TEST(InterpreterControl, LoopsBranchesAndSwitches) {
  // Fibonacci by scf.for (which exchanges its values), Collatz by scf.while, a table by scf.index_switch.
  const std::string text =
      block({argument("A", "3xi32", "out")},
            "%ten = arith.constant 10 : index\n%i0 = arith.constant 0 : i32\n%i1 = arith.constant 1 : i32\n"
            "%i2 = arith.constant 2 : i32\n%i3 = arith.constant 3 : i32\n%i6 = arith.constant 6 : i32\n"
            "%f:2 = scf.for %i = %c0 to %ten step %c1 iter_args(%a = %i0, %b = %i1) -> (i32, i32) {\n"
            "  %s = arith.addi %a, %b : i32\n  scf.yield %b, %s : i32, i32\n}\n"
            "tile.write %f#0, %A[%c0] : i32, " +
                global("3xi32") +
                "\n"
                "%w:2 = scf.while (%n = %i6, %steps = %i0) : (i32, i32) -> (i32, i32) {\n"
                "  %go = arith.cmpi sgt, %n, %i1 : i32\n  scf.condition(%go) %n, %steps : i32, i32\n} do {\n^bb0(%n: "
                "i32, %steps: i32):\n"
                "  %odd = arith.andi %n, %i1 : i32\n  %is = arith.cmpi eq, %odd, %i1 : i32\n"
                "  %next = scf.if %is -> i32 {\n    %t = arith.muli %n, %i3 : i32\n    %u = arith.addi %t, %i1 : i32\n "
                "   scf.yield %u : i32\n"
                "  } else {\n    %h = arith.divsi %n, %i2 : i32\n    scf.yield %h : i32\n  }\n"
                "  %more = arith.addi %steps, %i1 : i32\n  scf.yield %next, %more : i32, i32\n}\n"
                "tile.write %w#1, %A[%c1] : i32, " +
                global("3xi32") +
                "\n"
                "%c2 = arith.constant 2 : index\n"
                "%v = scf.index_switch %c2 -> i32\ncase 1 {\n  scf.yield %i1 : i32\n}\ncase 2 {\n  scf.yield %i6 : "
                "i32\n}\ndefault {\n  scf.yield %i0 : i32\n}\n"
                "tile.write %v, %A[%c2] : i32, " +
                global("3xi32") + "\n");
  Tensor a = Tensor::zeros(DType::i32, {3});
  run(text, {a});
  EXPECT_EQ(a.values(), (std::vector<double>{55, 8, 6}));  // 6 3 10 5 16 8 4 2 1
}

}  // namespace
}  // namespace deep_accel::tile::test
