// Questions about a value whose answers follow from the same questions about its operands.
#pragma once

#include <utility>

#include "llvm/ADT/DenseMap.h"

namespace deep_accel::compile {

// Remembers answers, so that each question is asked once although expressions may use others many times over; asks no
// deeper than the stack bears; and ends where a question leads to itself. `depth` counts the questions that are open,
// of all who share it.
template <typename Question, typename Answer>
class Answers {
 public:
  explicit Answers(int& depth) : depth_(depth) {}

  // What `find` says, which may ask others through this; `unknown` where too many are open, or this one is.
  template <typename Find>
  Answer get(const Question& question, Answer unknown, Find&& find) {
    if (auto known = known_.find(question); known != known_.end()) return known->second;
    if (depth_ == kDeepest) return unknown;
    ++depth_;
    known_.try_emplace(question, unknown);
    Answer answer = find();
    --depth_;
    return known_[question] = std::move(answer);
  }

 private:
  static constexpr int kDeepest = 100;

  int& depth_;
  llvm::DenseMap<Question, Answer> known_;
};

}  // namespace deep_accel::compile
