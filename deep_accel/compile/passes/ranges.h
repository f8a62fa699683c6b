// What numbers a value may be, by how it is computed and by the conditions around.
#pragma once

#include <limits>
#include <optional>

#include "deep_accel/compile/passes/answers.h"
#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::compile {

// The least and the greatest number that a value may be.
struct Range {
  int64_t low = std::numeric_limits<int64_t>::min(), high = std::numeric_limits<int64_t>::max();
};

// Ranges of values as one operation sees them: branches around it that it would not be in otherwise narrow them.
class Ranges {
 public:
  explicit Ranges(mlir::Operation* at);

  Range of(mlir::Value value) {
    return answers_.get(value, Range(), [&] { return find(value); });
  }

  // Whether a condition proves that the value is below the size of a buffer's dimension.
  bool is_below(mlir::Value value, mlir::Value buffer, int64_t dim) const;

 private:
  // left PREDICATE right, which holds.
  struct Fact {
    mlir::arith::CmpIPredicate predicate;
    mlir::Value left, right;
  };

  void learn(mlir::Value condition, bool holds);
  void learn_choice(mlir::Value condition, mlir::Value one, mlir::Value other, bool holds);
  Range find(mlir::Value value);
  std::optional<Range> computed(mlir::Value value);
  void narrow(Range& range, mlir::Value value);

  llvm::SmallVector<Fact> facts_;
  int depth_ = 0;
  Answers<mlir::Value, Range> answers_{depth_};
};

}  // namespace deep_accel::compile
