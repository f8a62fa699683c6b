// Runs cases through the interpreter and the compiled kernel, and compares.
#include "deep_accel/compile/verify/verify.h"

#include <cmath>
#include <cstdio>

#include "deep_accel/base/error.h"
#include "deep_accel/base/numeric.h"
#include "deep_accel/compile/compiler.h"
#include "deep_accel/compile/verify/cases.h"
#include "deep_accel/tile/interpreter/interpreter.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace deep_accel::compile {

namespace {

// How far beyond its bound an element may be: the bounds leave out products of roundings.
constexpr double kSafety = 2;

// Where another order of blocks gives something else, neither is right or wrong.
void mark_order_dependent(const KernelFacts& facts, Interpreted& wanted, const Interpreted& other) {
  if (!other.result.unstable.empty() && wanted.result.unstable.empty()) wanted.result.unstable = other.result.unstable;
  for (size_t i = 0; i < wanted.arguments.size(); ++i) {
    if (!facts.signature.args[i].writes()) continue;
    const std::vector<double> values = wanted.arguments[i].tensor().values(),
                              others = other.arguments[i].tensor().values();
    for (size_t e = 0; e < values.size(); ++e) {
      double& bound = wanted.result.bounds[i][e];
      bound = std::max(bound, other.result.bounds[i][e]);
      const double tiny = 1e-15 * std::abs(values[e]);
      if (!(apart(values[e], others[e]) <= kSafety * bound + tiny)) bound = HUGE_VAL;
    }
  }
}

std::string index_text(const Tensor& tensor, int64_t element) {
  Dims index = Dims::filled(tensor.rank(), 0);
  for (int d = tensor.rank(); d-- > 0;) {
    index[d] = element % tensor.shape()[d];
    element /= tensor.shape()[d];
  }
  return to_string(index);
}

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

// Compares one launch; false with a message at the first element that is wrong.
bool compare(const KernelFacts& facts, const Interpreted& wanted, const std::vector<Argument>& got, int threads,
             VerifyCase& result) {
  result.compared = result.incomparable = 0;
  int64_t wrong = 0;
  std::string first;
  for (size_t i = 0; i < got.size(); ++i) {
    const ArgumentSpec& spec = facts.signature.args[i];
    if (!spec.writes()) continue;
    const Tensor& tensor = got[i].tensor();
    const std::vector<double> values = tensor.values(), right = wanted.arguments[i].tensor().values();
    const double smallest = is_float(spec.dtype) ? epsilon(DType::f32) * 0x1p-126 : 0;
    for (size_t e = 0; e < values.size(); ++e) {
      const double bound = wanted.result.bounds[i][e];
      if (std::isinf(bound)) {
        ++result.incomparable;
        continue;
      }
      ++result.compared;
      const double distance = apart(values[e], right[e]);
      const double tiny = (bound > 0 ? smallest : 0) + (spec.dtype == DType::f64 ? 1e-15 * std::abs(right[e]) : 0);
      if (bound > 0) result.worst = std::max(result.worst, distance / (bound + tiny));
      if (distance <= kSafety * bound + tiny) continue;
      if (wrong++ > 0) continue;
      first = "element " + index_text(tensor, static_cast<int64_t>(e)) + " of '" + spec.name + "' is " +
              number(values[e]) + " compiled (threads = " + std::to_string(threads) + "), " + number(right[e]) +
              " in the interpreter, with a bound of " + number(bound) + " on rounding";
    }
  }
  if (wrong == 0) return true;
  result.message = first + "; " + std::to_string(wrong) + " of " + std::to_string(result.compared) + " elements differ";
  return false;
}

// Bit for bit, where the elements are comparable.
bool same(const KernelFacts& facts, const Interpreted& wanted, const std::vector<Argument>& one,
          const std::vector<Argument>& other, int threads, int other_threads, VerifyCase& result) {
  for (size_t i = 0; i < one.size(); ++i) {
    if (!facts.signature.args[i].writes()) continue;
    const std::vector<double> a = one[i].tensor().values(), b = other[i].tensor().values();
    for (size_t e = 0; e < a.size(); ++e) {
      if (std::isinf(wanted.result.bounds[i][e]) || apart(a[e], b[e]) == 0) continue;
      result.message = "element " + index_text(one[i].tensor(), static_cast<int64_t>(e)) + " of '" +
                       facts.signature.args[i].name + "' is " + number(a[e]) + " with " + std::to_string(threads) +
                       " threads, " + number(b[e]) + " with " + std::to_string(other_threads) +
                       "; results must not depend on the number of threads";
      return false;
    }
  }
  return true;
}

class Verifier {
 public:
  Verifier(const tile::Program& program, const std::string& kernel, const VerifyOptions& options)
      : program_(program), options_(options), facts_(facts_of(program, kernel)) {
    if (options.launch) return;
    Options compiler_options;
    compiler_options.target = options.target;
    compiler_options.optimisation = options.optimisation;
    kernel_ = jit(program, facts_.signature.name, compiler_options);
  }

  VerifyReport run() {
    VerifyReport report{facts_.signature.name, options_.target, {}};
    std::string refused;
    for (int number = 0; number < options_.cases; ++number) {
      bool done = false;
      // Sizes that the kernel assumes not to see are drawn again.
      for (uint64_t attempt = 0; attempt < 20 && !done; ++attempt) {
        std::mt19937_64 random(options_.seed + 1000003 * static_cast<uint64_t>(number) + 7919 * attempt);
        VerifyCase result;
        result.seed = options_.seed;
        result.sizes = draw_sizes(facts_, options_, attempt == 0 ? number : number + 3, random);
        try {
          run_case(number, random, result);
          report.cases.push_back(result);
          done = true;
        } catch (const tile::AssumptionError& error) {
          refused = error.what();
        }
      }
    }
    if (report.cases.empty() && options_.cases > 0) {
      throw tile::AssumptionError(refused + " (no sizes were found for which it does; give tile.sizes or sizes)");
    }
    return report;
  }

 private:
  void run_case(int number, std::mt19937_64& random, VerifyCase& result) {
    while (true) {
      std::mt19937_64 data = random;
      const std::vector<Argument> arguments = draw_arguments(facts_, result.sizes, number, data);
      try {
        Interpreted wanted = interpret_case(program_, facts_, arguments, options_.max_steps);
        mark_order_dependent(facts_, wanted,
                             interpret_case(program_, facts_, arguments, options_.max_steps, tile::Order::reversed));
        return launch_all(arguments, wanted, result);
      } catch (const tile::StepLimitError&) {
        if (!shrink(facts_, options_, result.sizes)) throw;
      } catch (const tile::AssertionError& error) {
        return expect_failure(arguments, error, result);
      }
    }
  }

  void launch_all(const std::vector<Argument>& arguments, const Interpreted& wanted, VerifyCase& result) {
    std::vector<Argument> first;
    for (int threads : options_.threads) {
      std::vector<Argument> got = copy_outputs(facts_, arguments);
      try {
        launch_once(got, threads);
      } catch (const ValueError& error) {
        result.message = std::string("the compiled kernel failed where the interpreter did not: ") + error.what();
        return;
      }
      if (!compare(facts_, wanted, got, threads, result)) return;
      if (first.empty()) {
        first = std::move(got);
      } else if (!wanted.result.atomic_floats &&
                 !same(facts_, wanted, first, got, options_.threads.front(), threads, result)) {
        return;
      }
    }
    result.passed = true;
    if (!wanted.result.unstable.empty()) result.message = wanted.result.unstable;
  }

  // An assertion that the arguments break fails in both.
  void expect_failure(const std::vector<Argument>& arguments, const tile::AssertionError& error, VerifyCase& result) {
    try {
      launch_once(copy_outputs(facts_, arguments), options_.threads.empty() ? 1 : options_.threads.front());
    } catch (const ValueError&) {
      result.passed = true;
      result.message = std::string("both refuse: ") + error.what();
      return;
    }
    result.message = std::string("the compiled kernel ran to its end where the interpreter says: ") + error.what();
  }

  void launch_once(const std::vector<Argument>& arguments, int threads) {
    if (options_.launch) return options_.launch(arguments);
    LaunchOptions launch_options;
    launch_options.threads = threads;
    launch_options.print = [](std::string_view) {};
    launch(*kernel_, arguments, launch_options);
  }

  const tile::Program& program_;
  const VerifyOptions& options_;
  KernelFacts facts_;
  std::shared_ptr<const Kernel> kernel_;
};

std::string sizes_text(const VerifyCase& result) {
  std::string text;
  for (const auto& [name, size] : result.sizes)
    text += (text.empty() ? "" : ", ") + name + " = " + std::to_string(size);
  return text.empty() ? "fixed sizes" : text;
}

}  // namespace

VerifyReport verify(const tile::Program& program, const std::string& kernel, const VerifyOptions& options) {
  return Verifier(program, kernel, options).run();
}

bool VerifyReport::passed() const {
  for (const VerifyCase& result : cases) {
    if (!result.passed) return false;
  }
  return !cases.empty();
}

std::string VerifyReport::text() const {
  std::string text = "kernel '" + kernel + "' on " + target + ", seed " +
                     std::to_string(cases.empty() ? 0 : cases.front().seed) + ":\n";
  size_t right = 0;
  for (const VerifyCase& result : cases) {
    right += result.passed;
    text += result.passed ? "  ok      " : "  FAILED  ";
    text += sizes_text(result) + ": ";
    if (result.passed) {
      char worst[32];
      std::snprintf(worst, sizeof worst, "%.2f", result.worst);
      text += std::to_string(result.compared) + " elements compared, worst at " + worst + " of its bound";
      if (result.incomparable > 0) text += ", " + std::to_string(result.incomparable) + " not comparable";
      if (!result.message.empty()) text += " (" + result.message + ")";
    } else {
      text += result.message;
    }
    text += "\n";
  }
  return text + "  " + std::to_string(right) + " of " + std::to_string(cases.size()) + " cases passed\n";
}

std::string VerifyReport::json() const {
  llvm::json::Array list;
  for (const VerifyCase& result : cases) {
    llvm::json::Object sizes;
    for (const auto& [name, size] : result.sizes) sizes[name] = size;
    list.push_back(llvm::json::Object{
        {"sizes", std::move(sizes)},
        {"seed", static_cast<int64_t>(result.seed)},
        {"passed", result.passed},
        {"message", result.message},
        {"compared", result.compared},
        {"incomparable", result.incomparable},
        {"worst", std::isfinite(result.worst) ? llvm::json::Value(result.worst) : llvm::json::Value(nullptr)}});
  }
  llvm::json::Value report =
      llvm::json::Object{{"kernel", kernel}, {"target", target}, {"passed", passed()}, {"cases", std::move(list)}};
  std::string text;
  llvm::raw_string_ostream(text) << report;
  return text;
}

}  // namespace deep_accel::compile
