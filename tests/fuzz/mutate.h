// Wrong and nearly right programs, made from right ones.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace deep_accel::test {

// Cuts a text into words, numbers, names, strings, single signs and the blanks between them; joined, they are the text.
std::vector<std::string> tokens_of(std::string_view text);

// Changes texts at random, each change of a kind that a slip of the hand or a faulty generator makes: tokens lost,
// doubled or exchanged; numbers, types, spaces and operations replaced, once or throughout; lines moved, from other
// texts too; texts cut off.
class Mutator {
 public:
  // `corpus` gives the words and the lines that are put into others.
  explicit Mutator(std::vector<std::string> corpus);

  size_t corpus_size() const { return corpus_.size(); }
  // Input `number` of a fixed sequence.
  std::string input(uint64_t number) const;
  // A text with one to four changes.
  std::string mutate(std::string text, std::mt19937_64& random) const;

 private:
  std::string change(const std::string& text, std::mt19937_64& random) const;

  std::vector<std::string> corpus_, words_, lines_;
};

// The programs in the repository's .mlir files; files that hold several, parted by "// -----", give several.
std::vector<std::string> repository_programs();

}  // namespace deep_accel::test
