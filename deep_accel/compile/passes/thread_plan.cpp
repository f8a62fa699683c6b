#include "deep_accel/compile/passes/thread_plan.h"

#include "mlir/Transforms/RegionUtils.h"

namespace deep_accel::compile {

using mlir::Block;
using mlir::Operation;
using mlir::Value;
namespace arith = mlir::arith;
namespace scf = mlir::scf;

namespace {

// Above this, a value is kept in memory rather than computed again behind the barrier.
constexpr int64_t most_repeated = 12;
constexpr int64_t unrepeatable = 1 << 20;

int64_t price(Operation* op) {
  if (mlir::isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::DivFOp>(op)) return 3;
  return mlir::isa<mlir::math::MathDialect>(op->getDialect()) ? 20 : 1;
}

}  // namespace

llvm::SetVector<Value> captured_values(Operation* op) {
  llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
  for (mlir::Region& region : op->getRegions()) mlir::getUsedValuesDefinedAbove(region, values);
  return values;
}

mlir::LogicalResult ThreadPlan::run() {
  find_cuts();
  find_varying();
  if (failed(check_control())) return mlir::failure();
  Block& body = threads_.getBody().front();
  find_scalars(body);
  assign_parts(body);
  for (auto [value, part] : uses_) {
    if (is_scalar(value) || kept_.contains(value)) continue;
    Operation* op = value.getDefiningOp();
    if (!op || is_cut(op)) continue;  // a thread's index, or carried by control flow, which has its array anyway
    if (auto defined = part_of_.find(op); defined != part_of_.end() && defined->second == part) continue;
    keep(value);
  }
  return mlir::success();
}

void ThreadPlan::find_cuts() {
  threads_.walk([&](Operation* op) {
    if (!synchronises(op)) return;
    for (Operation* parent = op->getParentOp(); parent != threads_; parent = parent->getParentOp()) cut_.insert(parent);
  });
}

// To a fixpoint from below: what loops carry is uniform until something varying reaches it.
void ThreadPlan::find_varying() {
  for (Value id : threads_.getBody().getArguments()) varying_.insert(id);
  bool changed = true;
  while (changed) {
    changed = false;
    threads_.getBody().walk<mlir::WalkOrder::PreOrder>([&](Operation* op) { changed |= mark_varying(op); });
  }
}

bool ThreadPlan::mark_varying(Operation* op) {
  bool changed = false;
  auto mark = [&](Value value, bool varies = true) {
    if (varies) changed |= varying_.insert(value).second;
  };
  auto varies = [&](Value value) { return varying_.contains(value); };
  auto any = [&](mlir::ValueRange values) { return llvm::any_of(values, varies); };
  if (auto loop = mlir::dyn_cast<scf::ForOp>(op)) {
    const bool all = varies(loop.getLowerBound()) || varies(loop.getUpperBound()) || varies(loop.getStep());
    mark(loop.getInductionVar(), all);
    for (auto [arg, init, yield, result] :
         llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs(), loop.getYieldedValues(), loop.getResults())) {
      const bool carried = all || varies(init) || varies(yield);
      mark(arg, carried), mark(result, carried);
    }
  } else if (auto loop = mlir::dyn_cast<scf::WhileOp>(op)) {
    const bool all = varies(loop.getConditionOp().getCondition());
    for (auto [arg, init, yield] :
         llvm::zip_equal(loop.getBeforeArguments(), loop.getInits(), loop.getYieldOp().getOperands())) {
      mark(arg, all || varies(init) || varies(yield));
    }
    for (auto [arg, value, result] :
         llvm::zip_equal(loop.getAfterArguments(), loop.getConditionOp().getArgs(), loop.getResults())) {
      mark(arg, varies(value)), mark(result, all || varies(value));
    }
  } else if (auto branch = mlir::dyn_cast<scf::IfOp>(op)) {
    for (auto [index, result] : llvm::enumerate(branch.getResults())) {
      mark(result, varies(branch.getCondition()) || varies(branch.thenYield().getOperand(index)) ||
                       varies(branch.elseYield().getOperand(index)));
    }
  } else if (auto shuffle = mlir::dyn_cast<tile::ShuffleOp>(op)) {
    mark(shuffle.getResult(), any(shuffle->getOperands()));
  } else if (auto vote = mlir::dyn_cast<tile::VoteOp>(op)) {
    mark(vote.getResult(), varies(vote.getCondition()) && static_cast<int64_t>(vote.getWidth()) < threads_.count());
  } else if (op->getNumRegions() != 0) {
    for (mlir::Region& region : op->getRegions()) {
      for (Value argument : region.getArguments()) mark(argument);
    }
    for (Value result : op->getResults()) mark(result);
  } else {
    // What all threads read at one place between two barriers is the same for all: nobody may write it meanwhile.
    const bool plain = mlir::isa<tile::ReadOp>(op) || mlir::isMemoryEffectFree(op);
    for (Value result : op->getResults()) mark(result, !plain || any(op->getOperands()));
  }
  return changed;
}

mlir::LogicalResult ThreadPlan::check_condition(Operation* control, Value condition) {
  if (is_uniform(condition)) return mlir::success();
  Operation* barrier = nullptr;
  control->walk([&](Operation* op) {
    if (synchronises(op) && !barrier) barrier = op;
  });
  mlir::InFlightDiagnostic error =
      barrier->emitError() << barrier->getName() << " stands in control flow that differs between threads, so "
                           << "that some would wait for ever; move it out, or make the condition the same for all";
  error.attachNote(control->getLoc()) << control->getName() << " depends on the thread";
  return error;
}

mlir::LogicalResult ThreadPlan::check_control() {
  const auto result = threads_.walk<mlir::WalkOrder::PreOrder>([&](Operation* op) {
    if (!is_cut(op)) return mlir::WalkResult::advance();
    mlir::LogicalResult good = mlir::success();
    if (auto loop = mlir::dyn_cast<scf::ForOp>(op)) {
      for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()}) {
        if (succeeded(good)) good = check_condition(op, bound);
      }
    } else if (auto loop = mlir::dyn_cast<scf::WhileOp>(op)) {
      good = check_condition(op, loop.getConditionOp().getCondition());
    } else if (auto branch = mlir::dyn_cast<scf::IfOp>(op)) {
      good = check_condition(op, branch.getCondition());
    } else {
      good = op->emitError() << "a barrier inside " << op->getName()
                             << " is not supported; use scf.for, scf.while or scf.if";
    }
    return failed(good) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return mlir::failure(result.wasInterrupted());
}

bool ThreadPlan::is_scalar(Value value) const {
  if (!tile::ThreadsOp(threads_).getBody().isAncestor(value.getParentRegion())) return true;
  if (Operation* op = value.getDefiningOp()) return is_cut(op) ? is_uniform(value) : scalar_.contains(op);
  Operation* owner = mlir::cast<mlir::BlockArgument>(value).getOwner()->getParentOp();
  return is_cut(owner) && is_uniform(value);
}

void ThreadPlan::find_scalars(Block& block) {
  for (Operation& op : block) {
    if (is_cut(&op)) {
      for (mlir::Region& region : op.getRegions()) {
        for (Block& inner : region) find_scalars(inner);
      }
      continue;
    }
    if (op.getNumResults() == 0 || op.hasTrait<mlir::OpTrait::IsTerminator>() || !mlir::isMemoryEffectFree(&op))
      continue;
    if (llvm::all_of(op.getResults(), [&](Value result) { return is_uniform(result); }) &&
        llvm::all_of(captured_values(&op), [&](Value value) { return is_scalar(value); })) {
      scalar_.insert(&op);
    }
  }
}

void ThreadPlan::use_all(Operation* op) {
  for (Value value : captured_values(op)) use(value);
}

void ThreadPlan::assign_parts(Block& block) {
  for (Operation& op : block) {
    if (op.hasTrait<mlir::OpTrait::IsTerminator>()) continue;
    if (is_scalar(&op)) continue;
    if (mlir::isa<tile::BarrierOp>(op)) {
      ++part_;
    } else if (auto shuffle = mlir::dyn_cast<tile::ShuffleOp>(op)) {
      use(shuffle.getValue());
      part_of_[&op] = ++part_;
      use(shuffle.getLane());
    } else if (auto vote = mlir::dyn_cast<tile::VoteOp>(op)) {
      use(vote.getCondition());
      part_of_[&op] = ++part_;
    } else if (is_cut(&op)) {
      auto carry = [&](mlir::ValueRange inits, mlir::ValueRange arguments) {
        for (auto [init, argument] : llvm::zip_equal(inits, arguments)) {
          if (is_uniform(argument))
            use_as_scalar(init);
          else
            use(init);
        }
      };
      if (auto loop = mlir::dyn_cast<scf::ForOp>(op)) {
        for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()}) use_as_scalar(bound);
        carry(loop.getInitArgs(), loop.getRegionIterArgs());
      } else if (auto loop = mlir::dyn_cast<scf::WhileOp>(op)) {
        carry(loop.getInits(), loop.getBeforeArguments());
      } else {
        use_as_scalar(op.getOperand(0));
      }
      for (mlir::Region& region : op.getRegions()) {
        if (region.empty()) continue;
        ++part_;
        assign_parts(region.front());
        assign_terminator(region.front(), &op);
      }
      ++part_;
    } else {
      part_of_[&op] = part_;
      use_all(&op);
    }
  }
}

void ThreadPlan::assign_terminator(Block& block, Operation* control) {
  Operation* end = block.getTerminator();
  mlir::ValueRange values = end->getOperands();
  mlir::ValueRange targets = control->getResults();
  if (auto condition = mlir::dyn_cast<scf::ConditionOp>(end)) {
    use_as_scalar(condition.getCondition());
    values = condition.getArgs();
    targets = mlir::cast<scf::WhileOp>(control).getAfterArguments();
  } else if (auto loop = mlir::dyn_cast<scf::WhileOp>(control)) {
    targets = loop.getBeforeArguments();
  }
  for (auto [value, target] : llvm::zip_equal(values, targets)) {
    if (is_uniform(target))
      use_as_scalar(value);
    else
      use(value);
  }
}

// The price of computing a value again in another part: kept values and what control flow carries are one read.
int64_t ThreadPlan::price_of_repeating(Value value) const {
  if (is_scalar(value)) return 0;
  Operation* op = value.getDefiningOp();
  if (!op) return mlir::cast<mlir::BlockArgument>(value).getOwner()->getParentOp() == tile::ThreadsOp(threads_) ? 0 : 1;
  if (is_cut(op)) return 1;
  if (synchronises(op) || op->getNumRegions() != 0 || !mlir::isMemoryEffectFree(op)) return unrepeatable;
  int64_t sum = price(op);
  for (Value operand : op->getOperands()) {
    sum += price_of_repeating(operand);
    if (sum > most_repeated) return unrepeatable;
  }
  return sum;
}

void ThreadPlan::keep(Value value) {
  Operation* op = value.getDefiningOp();
  if (!op || is_cut(op) || is_scalar(value)) return;
  // Views are addresses: they are made again, from indices that are kept where they must be.
  if (tile::is_buffer(value.getType())) {
    for (Value operand : op->getOperands()) {
      if (price_of_repeating(operand) > most_repeated) keep(operand);
    }
    return;
  }
  // A uniform value that control flow needs is read from the array of the first thread, so it is kept at any price.
  if (is_uniform(value) || price_of_repeating(value) > most_repeated) kept_.insert(value);
}

}  // namespace deep_accel::compile
