// See map_elements.h.
#include "deep_accel/compile/passes/map_elements.h"

#include "deep_accel/compile/passes/answers.h"

namespace deep_accel::compile {

using mlir::Value;

std::optional<llvm::SmallVector<Element>> elements_of(tile::MapOp map) {
  llvm::SmallVector<Element> elements;
  bool simple = true;
  map.getBody().walk([&](mlir::Operation* op) {
    if (auto read = mlir::dyn_cast<tile::ReadOp>(op)) {
      elements.push_back({read.getBuffer(), read.getIndices(), true, false, false});
    } else if (auto write = mlir::dyn_cast<tile::WriteOp>(op)) {
      elements.push_back({write.getBuffer(), write.getIndices(), false, true, false});
    } else if (auto combine = mlir::dyn_cast<tile::CombineOp>(op)) {
      elements.push_back({combine.getBuffer(), combine.getIndices(), true, true, true});
    } else if (op->getNumRegions() != 0 || !mlir::isMemoryEffectFree(op)) {
      simple = false;
    }
  });
  if (!simple) return std::nullopt;
  return elements;
}

namespace {

class Correspondence {
 public:
  Correspondence(tile::MapOp first, tile::MapOp second) : first_(first), second_(second) {}

  bool same(Value a, Value b) {
    if (a == b) return true;
    return known_.get({a, b}, false, [&] { return compare(a, b); });
  }

 private:
  bool compare(Value a, Value b) {
    auto left = mlir::dyn_cast<mlir::BlockArgument>(a), right = mlir::dyn_cast<mlir::BlockArgument>(b);
    if (left && right) {
      return left.getOwner()->getParentOp() == first_ && right.getOwner()->getParentOp() == second_ &&
             left.getArgNumber() == right.getArgNumber();
    }
    mlir::Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
    if (!x || !y || x->getName() != y->getName() || x->getAttrDictionary() != y->getAttrDictionary() ||
        x->getNumOperands() != y->getNumOperands() || !mlir::isMemoryEffectFree(x) || x->getNumRegions() != 0) {
      return false;
    }
    return llvm::all_of(llvm::zip(x->getOperands(), y->getOperands()),
                        [&](auto pair) { return same(std::get<0>(pair), std::get<1>(pair)); });
  }

  tile::MapOp first_, second_;
  int depth_ = 0;
  Answers<std::pair<Value, Value>, bool> known_{depth_};
};

}  // namespace

bool same_value(Value a, Value b, tile::MapOp first, tile::MapOp second) {
  return Correspondence(first, second).same(a, b);
}

}  // namespace deep_accel::compile
