// The interpreter's error bounds are bounds: for random programs on random data, what arithmetic in the program's own
// precision gives, with every operation rounded as badly as it may be and sums in random order, stays within them; and
// they are not much larger than they need to be.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>

#include "kernels.h"

namespace deep_accel::tile::test {
namespace {

using Random = std::mt19937_64;

float random_float(Random& random) {
  const double magnitude = std::exp2(std::uniform_real_distribution<double>(-6, 6)(random));
  return static_cast<float>(random() % 2 == 0 ? magnitude : -magnitude);
}

// A neighbour of a float, or itself: an elementary function that is right within two ulps may give any of them.
float nudged(float value, Random& random) {
  const uint64_t die = random() % 3;
  if (die == 0 || !std::isfinite(value)) return value;
  return std::nextafter(value, die == 1 ? HUGE_VALF : -HUGE_VALF);
}

struct Operation {
  const char* text;  // %a, %b and %c are its operands
  int operands;
  bool elementary;
  std::function<long double(long double, long double, long double)> exact;
};

const std::vector<Operation>& operations() {
  using L = long double;
  static const std::vector<Operation> list = {
      {"arith.addf %a, %b : f32", 2, false, [](L a, L b, L) { return a + b; }},
      {"arith.subf %a, %b : f32", 2, false, [](L a, L b, L) { return a - b; }},
      {"arith.mulf %a, %b : f32", 2, false, [](L a, L b, L) { return a * b; }},
      {"arith.divf %a, %b : f32", 2, false, [](L a, L b, L) { return a / b; }},
      {"math.fma %a, %b, %c : f32", 3, false, [](L a, L b, L c) { return a * b + c; }},
      {"arith.maximumf %a, %b : f32", 2, false,
       [](L a, L b, L) { return std::isnan(a)   ? a
                                : std::isnan(b) ? b
                                                : std::max(a, b); }},
      {"arith.minnumf %a, %b : f32", 2, false, [](L a, L b, L) { return std::fmin(a, b); }},
      {"math.absf %a : f32", 1, false, [](L a, L, L) { return std::abs(a); }},
      {"arith.negf %a : f32", 1, false, [](L a, L, L) { return -a; }},
      {"math.tanh %a : f32", 1, true, [](L a, L, L) { return std::tanh(a); }},
      {"math.sin %a : f32", 1, true, [](L a, L, L) { return std::sin(a); }},
      {"math.cos %a : f32", 1, true, [](L a, L, L) { return std::cos(a); }},
      {"math.erf %a : f32", 1, true, [](L a, L, L) { return std::erf(a); }},
      {"math.atan %a : f32", 1, true, [](L a, L, L) { return std::atan(a); }},
      {"math.cbrt %a : f32", 1, true, [](L a, L, L) { return std::cbrt(a); }},
      {"math.sqrt %a : f32", 1, false, [](L a, L, L) { return std::sqrt(a); }},
      {"math.log1p %a : f32", 1, true, [](L a, L, L) { return std::log1p(a); }},
      {"math.exp %a : f32", 1, true, [](L a, L, L) { return std::exp(a); }},
  };
  return list;
}

struct Step {
  const Operation* operation;
  int operands[3];
};

// Three inputs and `steps` operations on what is there by then.
std::vector<Step> random_program(int steps, Random& random) {
  std::vector<Step> program;
  for (int i = 0; i < steps; ++i) {
    Step step{&operations()[random() % operations().size()], {}};
    for (int& operand : step.operands) operand = static_cast<int>(random() % static_cast<uint64_t>(3 + i));
    program.push_back(step);
  }
  return program;
}

std::string text_of(const std::vector<Step>& program, int count) {
  const std::string type = std::to_string(count) + "xf32";
  std::string body = "tile.map (%i) in [" + std::to_string(count) + "] {\n";
  const char* names[] = {"A", "B", "C"};
  for (int i = 0; i < 3; ++i) {
    body += "%v" + std::to_string(i) + " = tile.read %" + names[i] + "[%i] : " + global(type) + " -> f32\n";
  }
  for (size_t i = 0; i < program.size(); ++i) {
    std::string line = program[i].operation->text;
    for (int operand = 0; operand < 3; ++operand) {
      const std::string name = std::string("%") + static_cast<char>('a' + operand);
      for (size_t at = 0; (at = line.find(name, at)) != std::string::npos; ++at) {
        line.replace(at, 2, "%v" + std::to_string(program[i].operands[operand]));
      }
    }
    body += "%v" + std::to_string(3 + i) + " = " + line + "\n";
  }
  body += "tile.write %v" + std::to_string(2 + program.size()) + ", %D[%i] : f32, " + global(type) + "\n}\n";
  return block(
      {argument("A", type, "in"), argument("B", type, "in"), argument("C", type, "in"), argument("D", type, "out")},
      body);
}

// In f32, each result rounded (as every float operation is), and elementary functions off by up to an ulp more.
float in_floats(const std::vector<Step>& program, const float* inputs, Random& random) {
  std::vector<float> values(inputs, inputs + 3);
  for (const Step& step : program) {
    const auto value = static_cast<float>(step.operation->exact(values[static_cast<size_t>(step.operands[0])],
                                                                values[static_cast<size_t>(step.operands[1])],
                                                                values[static_cast<size_t>(step.operands[2])]));
    values.push_back(step.operation->elementary ? nudged(value, random) : value);
  }
  return values.back();
}

TEST(InterpreterErrorBounds, HoldForRandomPrograms) {
  constexpr int kCount = 64, kPrograms = 300;
  int64_t compared = 0, infinite = 0;
  for (uint64_t seed = 1; seed <= kPrograms; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const std::vector<Step> program = random_program(1 + static_cast<int>(random() % 12), random);
    std::vector<std::vector<double>> inputs(3);
    for (auto& values : inputs) {
      for (int i = 0; i < kCount; ++i) values.push_back(random_float(random));
    }
    Tensor d = Tensor::zeros(DType::f32, {kCount});
    const std::string text = text_of(program, kCount);
    const InterpreterResult result =
        run(text, {tensor(DType::f32, {kCount}, inputs[0]), tensor(DType::f32, {kCount}, inputs[1]),
                   tensor(DType::f32, {kCount}, inputs[2]), d});
    for (int i = 0; i < kCount; ++i) {
      const auto element = static_cast<size_t>(i);
      const double bound = result.bounds[3][element], wanted = d.at({i});
      infinite += std::isinf(bound);
      if (std::isinf(bound)) continue;
      for (int attempt = 0; attempt < 4; ++attempt) {
        const float in[3] = {static_cast<float>(inputs[0][element]), static_cast<float>(inputs[1][element]),
                             static_cast<float>(inputs[2][element])};
        const float got = in_floats(program, in, random);
        ++compared;
        if (std::isnan(got) && std::isnan(wanted)) continue;
        if (static_cast<double>(got) == wanted) continue;
        ASSERT_LE(std::abs(static_cast<double>(got) - wanted), bound) << got << " of " << wanted << "\n" << text;
      }
    }
  }
  // Most elements can be compared: only overflow and comparisons that hang on rounding cannot.
  EXPECT_GT(compared, 3 * infinite);
}

// A sum in the order of a random tree of f32 additions.
float sum_in_any_order(std::vector<float> terms, Random& random) {
  while (terms.size() > 1) {
    const size_t a = random() % terms.size();
    const float first = terms[a];
    terms.erase(terms.begin() + static_cast<long>(a));
    terms[random() % terms.size()] += first;
  }
  return terms.empty() ? 0 : terms[0];
}

TEST(InterpreterErrorBounds, HoldForSumsInAnyOrder) {
  constexpr int m = 3, n = 4, k = 45;
  const std::string a_type = "3x45xf32", b_type = "45x4xf32", c_type = "3x4xf32", r_type = "3xf32";
  const std::string text =
      block({argument("A", a_type, "in"), argument("B", b_type, "in"), argument("C", c_type, "out"),
             argument("R", r_type, "out")},
            "%a = tile.alloc \"a\" : " + shared(a_type) + "\n%b = tile.alloc \"b\" : " + shared(b_type) +
                "\n%acc = tile.alloc \"acc\" : " + shared(c_type) + "\n%r = tile.alloc \"r\" : " + shared(r_type) +
                "\ntile.load %A[%c0, %c0] into %a : " + global(a_type) + ", " + shared(a_type) +
                "\ntile.load %B[%c0, %c0] into %b : " + global(b_type) + ", " + shared(b_type) +
                "\ntile.gemm %a, %b, %acc clear : " + shared(a_type) + ", " + shared(b_type) + ", " + shared(c_type) +
                "\ntile.store %acc into %C[%c0, %c0] : " + shared(c_type) + ", " + global(c_type) +
                "\ntile.reduce add %a into %r dim 1 clear : " + shared(a_type) + ", " + shared(r_type) +
                "\ntile.store %r into %R[%c0] : " + shared(r_type) + ", " + global(r_type) + "\n");
  const Program program = Program::parse(text, "k.mlir");
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    std::vector<double> a, b;
    for (int i = 0; i < m * k; ++i) a.push_back(random_float(random));
    for (int i = 0; i < k * n; ++i) b.push_back(random_float(random));
    Tensor c = Tensor::zeros(DType::f32, {m, n}), r = Tensor::zeros(DType::f32, {m});
    const InterpreterResult result =
        interpret(program, "k", {tensor(DType::f32, {m, k}, a), tensor(DType::f32, {k, n}, b), c, r});
    for (int i = 0; i < m; ++i) {
      std::vector<float> row;
      long double magnitudes = 0;
      for (int p = 0; p < k; ++p) {
        row.push_back(static_cast<float>(a[static_cast<size_t>(i * k + p)]));
        magnitudes += std::abs(row.back());
      }
      const double bound = result.bounds[3][static_cast<size_t>(i)];
      EXPECT_LE(std::abs(sum_in_any_order(row, random) - r.at({i})), bound);
      EXPECT_LE(bound, 2 * k * 0x1p-24 * static_cast<double>(magnitudes));  // Higham's bound, not a multiple of it
      for (int j = 0; j < n; ++j) {
        std::vector<float> products;
        for (int p = 0; p < k; ++p) {
          products.push_back(row[static_cast<size_t>(p)] * static_cast<float>(b[static_cast<size_t>(p * n + j)]));
        }
        EXPECT_LE(std::abs(sum_in_any_order(products, random) - c.at({i, j})),
                  result.bounds[2][static_cast<size_t>(i * n + j)]);
      }
    }
  }
}

// What is stored in a narrow type is rounded there by both, perhaps to neighbours.
TEST(InterpreterErrorBounds, HoldForNarrowTypes) {
  struct Type {
    const char* text;
    DType dtype;
  };
  for (Type type : {Type{"f16", DType::f16}, Type{"bf16", DType::bf16}, Type{"f8E4M3FN", DType::f8e4m3}}) {
    SCOPED_TRACE(type.text);
    const std::string in = "256xf32", out = std::string("256x") + type.text;
    const std::string text = block({argument("A", in, "in"), argument("B", in, "in"), argument("C", out, "out")},
                                   "tile.map (%i) in [256] {\n%a = tile.read %A[%i] : " + global(in) +
                                       " -> f32\n%b = tile.read %B[%i] : " + global(in) +
                                       " -> f32\n%q = arith.divf %a, %b : f32\n%s = arith.subf %q, %a : f32\n"
                                       "tile.write %s, %C[%i] : f32, " +
                                       global(out) + "\n}\n");
    Random random(5);
    std::vector<double> a, b;
    for (int i = 0; i < 256; ++i) a.push_back(random_float(random)), b.push_back(random_float(random));
    Tensor c = Tensor::zeros(type.dtype, {256});
    const InterpreterResult result = run(text, {tensor(DType::f32, {256}, a), tensor(DType::f32, {256}, b), c});
    std::vector<double> in_f32;
    for (size_t i = 0; i < 256; ++i) {
      const auto x = static_cast<float>(a[i]), y = static_cast<float>(b[i]);
      const float quotient = x / y;
      in_f32.push_back(quotient - x);
    }
    const std::vector<double> got = tensor(DType::f32, {256}, in_f32).to(type.dtype).values(), wanted = c.values();
    for (size_t i = 0; i < 256; ++i) {
      if (got[i] == wanted[i] || (std::isnan(got[i]) && std::isnan(wanted[i]))) continue;
      EXPECT_LE(std::abs(got[i] - wanted[i]), result.bounds[2][i]) << i;
    }
  }
}

}  // namespace
}  // namespace deep_accel::tile::test
