// Each step on tiles leaves the meaning of a program as it was: the interpreter runs it after every step, on the same
// arguments, and its results stay within the bounds that it gives for them itself. Where a compiled kernel is wrong,
// this says which step made it so.
#include <gtest/gtest.h>

#include <cmath>

#include "deep_accel/base/error.h"
#include "deep_accel/compile/verify/cases.h"
#include "stepwise.h"
#include "tests/fuzz/mutate.h"

namespace deep_accel::compile::test {
namespace {

constexpr int64_t kMostSteps = 300'000;

// Both are within their bounds of what the program gives in its own precision.
void expect_same(const KernelFacts& facts, const Interpreted& before, const Interpreted& after) {
  for (size_t i = 0; i < before.arguments.size(); ++i) {
    if (!facts.signature.args[i].writes()) continue;
    const std::vector<double> one = before.arguments[i].tensor().values(), two = after.arguments[i].tensor().values();
    for (size_t e = 0; e < one.size(); ++e) {
      const double bound = before.result.bounds[i][e] + after.result.bounds[i][e];
      if (std::isinf(bound)) continue;
      // Both round once more where they go to memory.
      const double tiny = bound > 0 ? 0x1p-149 : 0;
      ASSERT_LE(apart(one[e], two[e]), 2 * bound + tiny) << "element " << e << " of " << facts.signature.args[i].name
                                                         << ": " << one[e] << " before, " << two[e] << " after";
    }
  }
}

// Sizes and arguments that the interpreter gets through in few steps; none where the kernel does not take any.
std::optional<std::pair<std::vector<Argument>, Interpreted>> draw(const tile::Program& program,
                                                                  const KernelFacts& facts, int number) {
  const VerifyOptions options;
  std::mt19937_64 random(7919 * static_cast<uint64_t>(number) + 1);
  Sizes sizes = draw_sizes(facts, options, number, random);
  for (int attempt = 0; attempt < 40; ++attempt) {
    std::mt19937_64 data(static_cast<uint64_t>(attempt + 1));
    const std::vector<Argument> arguments = draw_arguments(facts, sizes, number, data);
    try {
      return std::make_pair(arguments, interpret_case(program, facts, arguments, kMostSteps));
    } catch (const tile::StepLimitError&) {
      if (!shrink(facts, options, sizes)) return std::nullopt;
    } catch (const tile::AssumptionError&) {
      sizes = draw_sizes(facts, options, 3, random);
    } catch (const tile::AssertionError&) {
      sizes = draw_sizes(facts, options, 3, random);
    }
  }
  return std::nullopt;
}

// How many kernels were followed through the steps.
int follow(const tile::Program& program, const std::string& target) {
  int followed = 0;
  for (const std::string& kernel : program.kernels()) {
    SCOPED_TRACE(kernel + " for " + target);
    const KernelFacts facts = facts_of(program, kernel);
    for (int number : {0, 4}) {
      const auto drawn = draw(program, facts, number);
      if (!drawn) continue;
      followed += number == 0;
      after_each_step(program, target, [&](const std::string& step, const tile::Program& lowered) {
        SCOPED_TRACE("after the step " + step);
        try {
          expect_same(facts, drawn->second, interpret_case(lowered, facts, drawn->first, 50 * kMostSteps));
        } catch (const Error& error) {
          ADD_FAILURE() << error.what() << "\n" << lowered.text();
        }
      });
      if (testing::Test::HasFailure()) return followed;
    }
  }
  return followed;
}

class Steps : public testing::TestWithParam<const char*> {};

// All programs of the repository that are whole and right; the other texts are there to be refused.
TEST_P(Steps, KeepTheMeaningOfPrograms) {
  int followed = 0;
  for (const std::string& text : deep_accel::test::repository_programs()) {
    std::optional<tile::Program> program;
    try {
      program = tile::Program::parse(text, "program.mlir");
      after_each_step(*program, GetParam(), [](const std::string&, const tile::Program&) {});
    } catch (const Error&) {
      continue;
    }
    SCOPED_TRACE(text.substr(0, 300));
    try {
      followed += follow(*program, GetParam());
    } catch (const Error&) {
      // Texts of other tests may break rules that only the interpreter sees.
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(followed, 30);
}

INSTANTIATE_TEST_SUITE_P(Targets, Steps, testing::Values("x86-64-avx512", "aarch64-neon"),
                         [](const auto& info) { return std::to_string(info.index); });

}  // namespace
}  // namespace deep_accel::compile::test
