// What a kernel must not do: races, elements outside, values never written; and what threads may.
#include <cmath>

#include "kernels.h"

namespace deep_accel::tile::test {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Four blocks; `body` knows %b, %c0, %c1 and %one.
std::string four_blocks(const std::vector<std::string>& arguments, const std::string& body) {
  return kernel(arguments,
                "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%c4 = arith.constant 4 : index\n"
                "%one = arith.constant 1.0 : f32\ntile.grid (%b) = (%c4) {\n" +
                    body + "}\n");
}

TEST(InterpreterRaces, BlocksThatWriteOneElement) {
  const std::string text =
      four_blocks({argument("A", "4xf32", "out")}, "tile.write %one, %A[%c0] : f32, " + global("4xf32") + "\n");
  Tensor a = Tensor::zeros(DType::f32, {4});
  const std::string error = error_of<ValueError>(text, {a});
  EXPECT_TRUE(contains(error,
                       "k.mlir:7:1: race on element [0] of 'A': block [1] writes it here, and block [0] wrote it at "
                       "k.mlir:7:1"))
      << error;
  InterpreterOptions options;
  options.check_races = false;
  EXPECT_NO_THROW(run(text, {a}, options));
  EXPECT_NO_THROW(run(
      four_blocks({argument("A", "4xf32", "out")}, "tile.write %one, %A[%b] : f32, " + global("4xf32") + "\n"), {a}));
}

TEST(InterpreterRaces, BlocksThatReadWhatAnotherWrites) {
  const std::string text = four_blocks({argument("A", "4xf32", "inout")},
                                       "%v = tile.read %A[%c0] : " + global("4xf32") +
                                           " -> f32\ntile.write %v, %A[%b] : f32, " + global("4xf32") + "\n");
  Tensor a = Tensor::zeros(DType::f32, {4});
  for (Order order : {Order::forward, Order::reversed, Order::shuffled}) {
    InterpreterOptions options;
    options.order = order;
    EXPECT_TRUE(contains(error_of<ValueError>(text, {a}, options), "race on element [0] of 'A'"));
  }
}

TEST(InterpreterRaces, PhasesAreInOrder) {
  const std::string text =
      kernel({argument("A", "4xf32", "out"), argument("B", "4xf32", "out")},
             "%c4 = arith.constant 4 : index\n%c3 = arith.constant 3 : index\n%one = arith.constant 1.0 : f32\n"
             "tile.grid (%b) = (%c4) {\ntile.write %one, %A[%b] : f32, " +
                 global("4xf32") +
                 "\n}\n"
                 "tile.grid (%b) = (%c4) {\n%o = arith.subi %c3, %b : index\n%v = tile.read %A[%o] : " +
                 global("4xf32") + " -> f32\ntile.write %v, %B[%b] : f32, " + global("4xf32") + "\n}\n");
  Tensor a = Tensor::zeros(DType::f32, {4}), b = Tensor::zeros(DType::f32, {4});
  run(text, {a, b});
  EXPECT_EQ(b.values(), (std::vector<double>{1, 1, 1, 1}));
}

TEST(InterpreterRaces, AtomicsDoNotRaceCombinesDo) {
  Tensor a = Tensor::zeros(DType::f32, {1});
  const InterpreterResult result =
      run(four_blocks({argument("A", "1xf32", "inout")},
                      "%o = tile.atomic add %one, %A[%c0] : f32, " + global("1xf32") + "\n"),
          {a});
  EXPECT_EQ(a.at({0}), 4);
  EXPECT_TRUE(result.atomic_floats);
  EXPECT_TRUE(
      contains(error_of<ValueError>(four_blocks({argument("A", "1xf32", "inout")},
                                                "tile.combine add %one, %A[%c0] : f32, " + global("1xf32") + "\n"),
                                    {a}),
               "race on element [0] of 'A'"));
}

TEST(InterpreterRaces, IterationsOfAMap) {
  Tensor a = tensor(DType::f32, {4}, {1, 2, 3, 4}), b = Tensor::zeros(DType::f32, {4});
  const std::string shift =
      block({argument("A", "4xf32", "inout")},
            "%c3 = arith.constant 3 : index\n"
            "tile.map (%i) in [3] {\n%n = arith.addi %i, %c1 : index\n%v = tile.read %A[%n] : " +
                global("4xf32") + " -> f32\ntile.write %v, %A[%i] : f32, " + global("4xf32") + "\n}\n");
  const std::string error = error_of<ValueError>(shift, {a});
  EXPECT_TRUE(contains(error, "race on element [1] of 'A': iteration [1] writes it here, and iteration [0] read it"))
      << error;
  const std::string sum = block({argument("A", "4xf32", "in"), argument("B", "4xf32", "inout")},
                                "tile.map (%i) in [4] {\n%v = tile.read %A[%i] : " + global("4xf32") +
                                    " -> f32\ntile.combine add %v, %B[%c0] : f32, " + global("4xf32") + "\n}\n");
  run(sum, {a, b});
  EXPECT_EQ(b.at({0}), 10);
  const std::string running = block({argument("A", "4xf32", "in"), argument("B", "4xf32", "inout")},
                                    "tile.map (%i) in [4] {\n%v = tile.read %A[%i] : " + global("4xf32") +
                                        " -> f32\ntile.combine add %v, %B[%c0] : f32, " + global("4xf32") +
                                        "\n%s = tile.read %B[%c0] : " + global("4xf32") + " -> f32\n}\n");
  EXPECT_TRUE(contains(error_of<ValueError>(running, {a, b}), "race on element [0] of 'B'"));
}

TEST(InterpreterBounds, ElementsAndWindowsOutside) {
  Tensor a = Tensor::zeros(DType::f32, {4});
  EXPECT_EQ(
      error_of<IndexError>(
          four_blocks({argument("A", "4xf32", "inout")},
                      "%i = arith.addi %b, %c1 : index\ntile.write %one, %A[%i] : f32, " + global("4xf32") + "\n"),
          {a}),
      "k.mlir:8:1: writes element [4] of 'A', which has shape [4]; keep the indices inside, or move whole tiles with "
      "tile.load and tile.store, which clip");
  EXPECT_TRUE(contains(
      error_of<IndexError>(four_blocks({argument("A", "4xf32", "in")},
                                       "%s = tile.slice %A[%b] : " + global("4xf32") +
                                           " to memref<2xf32, strided<[1], offset: ?>, #tile.space<global>>\n"),
                           {a}),
      "takes a window of [2] at [3] of 'A', which has shape [4]"));
}

TEST(InterpreterUndefined, ValuesThatWereNeverWritten) {
  Tensor a = Tensor::zeros(DType::f32, {2, 4});
  const std::string text = block(
      {argument("A", "2x4xf32", "out")},
      "%t = tile.alloc \"acc\" : " + shared("2x4xf32") + "\ntile.write %c, %t[%c0, %c0] : f32, " + shared("2x4xf32") +
          "\ntile.map (%i, %j) in [2, 4] {\n%v = tile.read %t[%i, %j] : " + shared("2x4xf32") +
          " -> f32\n%w = arith.addf %v, %v : f32\ntile.write %w, %A[%i, %j] : f32, " + global("2x4xf32") + "\n}\n");
  const std::string with_constant =
      text.substr(0, text.find("%t =")) + "%c = arith.constant 1.0 : f32\n" + text.substr(text.find("%t ="));
  const std::string error = error_of<ValueError>(with_constant, {a});
  EXPECT_EQ(
      error.find("k.mlir:9:6: reads element [0, 1] of 'acc' before it was written; the value is written to element "
                 "[0, 1] of 'A' at k.mlir:11:1"),
      0u)
      << error;
  // An output is not an input.
  EXPECT_TRUE(contains(
      error_of<ValueError>(block({argument("A", "2x4xf32", "out")},
                                 "%v = tile.read %A[%c0, %c0] : " + global("2x4xf32") +
                                     " -> f32\ntile.write %v, %A[%c0, %c1] : f32, " + global("2x4xf32") + "\n"),
                           {a}),
      "reads element [0, 0] of 'A' before it was written"));
  EXPECT_TRUE(contains(
      error_of<ValueError>(
          block({argument("A", "2x4xf32", "in")},
                "%one = arith.constant 1.0 : f32\ntile.write %one, %A[%c0, %c1] : f32, " + global("2x4xf32") + "\n"),
          {a}),
      "which is an input"));
}

TEST(InterpreterUndefined, AsynchronousLoadsAreWaitedFor) {
  Tensor a = tensor(DType::f32, {4}, {1, 2, 3, 4}), b = Tensor::zeros(DType::f32, {4});
  auto text = [](const std::string& wait) {
    return block({argument("A", "4xf32", "in"), argument("B", "4xf32", "out")},
                 "%t = tile.alloc \"t\" : " + shared("4xf32") +
                     "\n%token = tile.async_load %A[%c0] into %t : " + global("4xf32") + ", " + shared("4xf32") + "\n" +
                     wait + "tile.store %t into %B[%c0] : " + shared("4xf32") + ", " + global("4xf32") + "\n");
  };
  run(text("tile.wait %token\n"), {a, b});
  EXPECT_EQ(b.values(), a.values());
  const std::string error = error_of<ValueError>(text(""), {a, b});
  EXPECT_TRUE(contains(error,
                       "k.mlir:7:1: reads element [0] of 't', whose tile.async_load at k.mlir:6:10 may still be under "
                       "way; put a tile.wait"))
      << error;
}

TEST(InterpreterChecks, AssertionsAssumptionsAndSteps) {
  Tensor a = Tensor::zeros(DType::f32, {4});
  const std::string no = "%no = arith.constant false\n";
  EXPECT_EQ(
      error_of<AssertionError>(block({argument("A", "4xf32", "in")}, no + "tile.assert %no, \"too long\"\n"), {a}),
      "k.mlir:6:1: too long");
  EXPECT_TRUE(contains(error_of<AssumptionError>(block({argument("A", "4xf32", "in")}, no + "tile.assume %no\n"), {a}),
                       "the assumption does not hold"));
  InterpreterOptions options;
  options.max_steps = 1000;
  const std::string endless =
      block({argument("A", "4xf32", "in")},
            "%yes = arith.constant true\nscf.while : () -> () {\n scf.condition(%yes)\n} do {\n scf.yield\n}\n");
  EXPECT_TRUE(contains(error_of<StepLimitError>(endless, {a}, options), "more than 1000 steps"));
}

TEST(InterpreterChecks, PrintsAndForeignCalls) {
  register_extern("interpreter_test_axpy",
                  reinterpret_cast<void*>(+[](float* x, int64_t n, float a, double b, int32_t c) {
                    for (int64_t i = 0; i < n; ++i) x[i] = a * x[i] + static_cast<float>(b) + static_cast<float>(c);
                    return n + 1;
                  }));
  std::vector<std::string> lines;
  InterpreterOptions options;
  options.print = [&](std::string_view line) { lines.emplace_back(line); };
  const std::string text =
      block({argument("A", "3xf32", "in")},
            "%t = tile.alloc \"t\" : " + shared("3xf32") + "\ntile.load %A[%c0] into %t : " + global("3xf32") + ", " +
                shared("3xf32") +
                "\n%n = arith.constant 3 : index\n%a = arith.constant 2.0 : f32\n%b = arith.constant 0.5 : f64\n"
                "%c = arith.constant -1 : i32\n"
                "%m = tile.extern @interpreter_test_axpy(%t, %n, %a, %b, %c) reads [0] writes [0] : (" +
                shared("3xf32") + ", index, f32, f64, i32) -> index\ntile.print \"n = {}, tile\", %m, %t : index, " +
                shared("3xf32") + "\n");
  run(text, {tensor(DType::f32, {3}, {1, 2, 3})}, options);
  EXPECT_EQ(lines, (std::vector<std::string>{"n = 4, tile [1.5, 3.5, 5.5]"}));
}

// Threads -------------------------------------------------------------------------------------------------------------

std::string threads(int count, const std::string& out, const std::string& body) {
  return block({argument("A", std::to_string(count) + "x" + out, "out")},
               "%x = tile.alloc \"x\" : " + shared(std::to_string(count) + "xi32") +
                   "\n"
                   "%last = arith.constant " +
                   std::to_string(count - 1) +
                   " : index\n"
                   "tile.threads (%t) in [" +
                   std::to_string(count) + "] {\n%v = arith.index_cast %t : index to i32\n" + body + "}\n");
}

TEST(InterpreterThreads, BarriersOrderTheirAccesses) {
  const std::string write = "tile.write %v, %x[%t] : i32, " + shared("8xi32") + "\n";
  const std::string read = "%o = arith.subi %last, %t : index\n%r = tile.read %x[%o] : " + shared("8xi32") +
                           " -> i32\ntile.write %r, %A[%t] : i32, " + global("8xi32") + "\n";
  for (Order order : {Order::forward, Order::reversed, Order::shuffled}) {
    InterpreterOptions options;
    options.order = order;
    Tensor a = Tensor::zeros(DType::i32, {8});
    run(threads(8, "i32", write + "tile.barrier\n" + read), {a}, options);
    EXPECT_EQ(a.values(), (std::vector<double>{7, 6, 5, 4, 3, 2, 1, 0}));
    EXPECT_TRUE(contains(error_of<ValueError>(threads(8, "i32", write + read), {a}, options), "of 'x'"));
  }
}

TEST(InterpreterThreads, BarriersInLoops) {
  // A tree sum: x[t] += x[t + s] for s = 4, 2, 1.
  const std::string body =
      "tile.write %v, %x[%t] : i32, " + shared("8xi32") +
      "\n"
      "%c2 = arith.constant 2 : index\n%c4 = arith.constant 4 : index\n"
      "%end = scf.while (%s = %c4) : (index) -> index {\n %go = arith.cmpi sge, %s, %c1 : index\n scf.condition(%go) "
      "%s : index\n"
      "} do {\n^bb0(%s: index):\n tile.barrier\n %mine = arith.cmpi slt, %t, %s : index\n scf.if %mine {\n"
      "  %o = arith.addi %t, %s : index\n  %p = tile.read %x[%t] : " +
      shared("8xi32") + " -> i32\n  %q = tile.read %x[%o] : " + shared("8xi32") +
      " -> i32\n  %sum = arith.addi %p, %q : i32\n  tile.write %sum, %x[%t] : i32, " + shared("8xi32") +
      "\n }\n %h = arith.divsi %s, %c2 : index\n scf.yield %h : index\n}\n"
      "tile.barrier\n%r = tile.read %x[%c0] : " +
      shared("8xi32") + " -> i32\ntile.write %r, %A[%t] : i32, " + global("8xi32") + "\n";
  Tensor a = Tensor::zeros(DType::i32, {8});
  run(threads(8, "i32", body), {a});
  EXPECT_EQ(a.values(), std::vector<double>(8, 28));
}

TEST(InterpreterThreads, DivergentBarriersAreRefused) {
  const std::string body =
      "%some = arith.cmpi slt, %t, %c1 : index\nscf.if %some {\n tile.barrier\n}\ntile.write %v, %A[%t] : i32, " +
      global("8xi32") + "\n";
  Tensor a = Tensor::zeros(DType::i32, {8});
  const std::string error = error_of<ValueError>(threads(8, "i32", body), {a});
  EXPECT_TRUE(contains(error, "1 of 8 threads wait here (thread 0 is one), but thread 1 has come to its end")) << error;
  const std::string named =
      "%some = arith.cmpi slt, %t, %c1 : index\nscf.if %some {\n tile.barrier id 3 count 1\n}\ntile.write %v, %A[%t] : "
      "i32, " +
      global("8xi32") + "\n";
  EXPECT_NO_THROW(run(threads(8, "i32", named), {a}));
}

TEST(InterpreterThreads, ShufflesAndVotes) {
  struct Case {
    std::string op;
    std::vector<double> wanted;  // of six threads in groups of four: the last group has two
  };
  for (const Case& test :
       {Case{"tile.shuffle xor %v, %n width 4 : i32", {1, 0, 3, 2, 5, 4}},
        Case{"tile.shuffle up %v, %n width 4 : i32", {0, 0, 1, 2, 4, 4}},
        Case{"tile.shuffle down %v, %n width 4 : i32", {1, 2, 3, 3, 5, 5}},
        Case{"tile.shuffle index %v, %n width 4 : i32", {1, 1, 1, 1, 5, 5}},
        Case{"tile.vote any %odd width 4", {1, 1, 1, 1, 1, 1}}, Case{"tile.vote all %odd width 4", {0, 0, 0, 0, 0, 0}},
        Case{"tile.vote count %odd width 4", {2, 2, 2, 2, 1, 1}}}) {
    const std::string body =
        "%n = arith.constant 1 : i32\n%bit = arith.andi %v, %n : i32\n%odd = arith.cmpi eq, %bit, %n : i32\n%r = " +
        test.op + "\ntile.write %r, %A[%t] : i32, " + global("6xi32") + "\n";
    Tensor a = Tensor::zeros(DType::i32, {6});
    run(threads(6, "i32", body), {a});
    EXPECT_EQ(a.values(), test.wanted) << test.op;
  }
}

// Error bounds --------------------------------------------------------------------------------------------------------

TEST(InterpreterErrorBounds, CoverWhatFloatArithmeticDoes) {
  // ((a + b) * a) / b in f32, against the same in float.
  const std::string text =
      block({argument("A", "64xf32", "in"), argument("B", "64xf32", "in"), argument("C", "64xf32", "out")},
            "tile.map (%i) in [64] {\n%a = tile.read %A[%i] : " + global("64xf32") +
                " -> f32\n%b = tile.read %B[%i] : " + global("64xf32") +
                " -> f32\n%s = arith.addf %a, %b : f32\n%p = arith.mulf %s, %a : f32\n%q = arith.divf %p, %b : f32\n"
                "tile.write %q, %C[%i] : f32, " +
                global("64xf32") + "\n}\n");
  std::vector<double> x, y;
  for (int i = 0; i < 64; ++i) {
    x.push_back(static_cast<float>(std::sin(i + 0.5)));
    y.push_back(static_cast<float>(std::cos(3 * i + 0.25)));
  }
  Tensor c = Tensor::zeros(DType::f32, {64});
  const InterpreterResult result = run(text, {tensor(DType::f32, {64}, x), tensor(DType::f32, {64}, y), c});
  ASSERT_EQ(result.bounds.size(), 3u);
  EXPECT_TRUE(result.bounds[0].empty());
  for (size_t i = 0; i < 64; ++i) {
    const auto a = static_cast<float>(x[i]), b = static_cast<float>(y[i]);
    const float got = (a + b) * a / b;
    const double want = c.at({static_cast<int64_t>(i)}), bound = result.bounds[2][i];
    EXPECT_LE(std::abs(got - want), bound) << i;
    // Three roundings, and what cancellation in a + b makes of the first; not much more.
    EXPECT_LE(bound, 8 * 0x1p-24 * (std::abs(want) + std::abs(a * a / b) + std::abs(a))) << i;
  }
}

TEST(InterpreterErrorBounds, ExactResultsHaveNone) {
  const std::string text =
      block({argument("A", "4xf32", "in"), argument("C", "4xf32", "out")},
            "tile.map (%i) in [4] {\n%a = tile.read %A[%i] : " + global("4xf32") +
                " -> f32\n%s = arith.addf %a, %a : f32\n%p = arith.mulf %s, %a : f32\ntile.write %p, %C[%i] : f32, " +
                global("4xf32") + "\n}\n");
  Tensor c = Tensor::zeros(DType::f32, {4});
  const InterpreterResult result = run(text, {tensor(DType::f32, {4}, {1, 2, 3, 0.5}), c});
  EXPECT_EQ(result.bounds[1], std::vector<double>(4, 0));
}

TEST(InterpreterErrorBounds, OpenComparisonsAreNotCompared) {
  // x = (1/3) * 3 may be 1 or next to it: x < 1 hangs on rounding; x < 2 does not.
  auto text = [](const std::string& limit) {
    return block({argument("A", "1xf32", "in"), argument("C", "1xi32", "out")},
                 "%a = tile.read %A[%c0] : " + global("1xf32") +
                     " -> f32\n%one = arith.constant 1.0 : f32\n%limit = arith.constant " + limit +
                     " : f32\n%t = arith.divf %one, %a : f32\n%x = arith.mulf %t, %a : f32\n"
                     "%less = arith.cmpf olt, %x, %limit : f32\n%c = arith.extui %less : i1 to i32\ntile.write %c, "
                     "%C[%c0] : i32, " +
                     global("1xi32") + "\n");
  };
  Tensor a = tensor(DType::f32, {1}, {3}), c = Tensor::zeros(DType::i32, {1});
  EXPECT_TRUE(std::isinf(run(text("1.0"), {a, c}).bounds[1][0]));
  EXPECT_EQ(run(text("2.0"), {a, c}).bounds[1][0], 0);
  EXPECT_EQ(c.at({0}), 1);
}

}  // namespace
}  // namespace deep_accel::tile::test
