// Whatever stands in a .mlir file, the command ends with a message or does its work: no crash, no hang, no memory
// without bound. A fixed sequence of mutations of all programs in the repository; fuzz-mutations goes on where this
// ends.
#include <gtest/gtest.h>

#include "bombs.h"
#include "examine.h"
#include "mutate.h"
#include "watched.h"

namespace deep_accel::test {
namespace {

const Mutator& mutator() {
  static const Mutator mutator(repository_programs());
  return mutator;
}

// Bytes that reports could not hold, as their numbers.
std::string readable(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n' || (byte >= ' ' && byte < 0x7f)) {
      out += c;
    } else {
      constexpr char kDigits[] = "0123456789abcdef";
      out += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return out;
}

void expect_no_failures(uint64_t first, uint64_t count, Effort effort) {
  Limits limits;
  limits.total_seconds = 600;
  const WatchedRun run = run_watched(first, count, limits,
                                     [&](uint64_t number) { return examine(mutator().input(number), effort).defect; });
  if (run.failures.empty()) EXPECT_EQ(run.done, count);
  for (const Failure& failure : run.failures) {
    ADD_FAILURE() << "input " << failure.input << ": " << failure.what << "\n"
                  << readable(mutator().input(failure.input));
  }
}

TEST(Mutations, TheCorpusIsThere) { EXPECT_GT(mutator().corpus_size(), 50u); }

TEST(Mutations, TokensAreTheText) {
  for (const std::string& text : repository_programs()) {
    std::string joined;
    for (const std::string& token : tokens_of(text)) joined += token;
    EXPECT_EQ(joined, text);
  }
}

TEST(Mutations, AreReadOrRefused) { expect_no_failures(0, 10'000, Effort::read); }
TEST(Mutations, GoThroughThePasses) { expect_no_failures(1'000'000, 4000, Effort::passes); }
TEST(Mutations, BecomeMachineCode) { expect_no_failures(2'000'000, 500, Effort::machine); }
TEST(Mutations, Run) { expect_no_failures(3'000'000, 300, Effort::run); }

// Each goes through the compiler, or is refused.
TEST(Bombs, DoNotGoOff) {
  Limits limits;
  limits.seconds = 40;
  const WatchedRun run = run_watched(0, bombs().size(), limits, [](uint64_t number) {
    return examine(bombs()[number].text(), Effort::passes).defect;
  });
  for (const Failure& failure : run.failures) ADD_FAILURE() << bombs()[failure.input].name << ": " << failure.what;
}

// The watch itself sees what it is there for.
TEST(Watched, SeesEveryKindOfFailure) {
  Limits limits;
  limits.seconds = 1;
  const WatchedRun run = run_watched(0, 6, limits, [](uint64_t number) -> std::string {
    switch (number) {
      case 1:
        std::abort();
      case 2:
        return "a complaint";
      case 3: {
        volatile uint64_t count = 0;
        while (true) count = count + 1;
      }
      case 4:
        throw std::runtime_error("an exception");
      default:
        return "";
    }
  });
  ASSERT_EQ(run.failures.size(), 4u);
  EXPECT_EQ(run.failures[0].what, "signal 6 (Aborted)");
  EXPECT_EQ(run.failures[1].what, "a complaint");
  EXPECT_EQ(run.failures[2].what, "more than 1 seconds");
  EXPECT_EQ(run.failures[3].what, "threw: an exception");
}

}  // namespace
}  // namespace deep_accel::test
