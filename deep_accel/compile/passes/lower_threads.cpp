// Code for threads as maps, after the manner of pocl: the body is cut at its barriers, and each part becomes a map over
// the threads. Control flow around barriers is the same for all threads and stays around the maps. What a thread needs
// behind a barrier is computed again where that is cheap, and else kept in an array over the threads.
#include "deep_accel/compile/passes/decisions.h"
#include "deep_accel/compile/passes/passes.h"
#include "deep_accel/compile/passes/thread_plan.h"
#include "deep_accel/compile/passes/thread_tiles.h"
#include "mlir/IR/IRMapping.h"

namespace deep_accel::compile {
namespace {

using mlir::Block;
using mlir::Operation;
using mlir::Value;
using mlir::ValueRange;
namespace arith = mlir::arith;
namespace scf = mlir::scf;

class Fission {
 public:
  Fission(tile::ThreadsOp threads, const ThreadPlan& plan)
      : threads_(threads), plan_(plan), shape_(threads_shape(threads)), builder_(threads.getLoc(), threads) {}

  void run() {
    first_ = constant(0).getDefiningOp();
    emit_block(threads_.getBody().front());
    flush();
    if (parts_ > 1 || arrays_ > 0) {
      note_decision(threads_, "threads: " + std::to_string(parts_) + " parts between barriers, " +
                                  std::to_string(arrays_) + " values kept across them");
    }
    threads_.erase();
  }

 private:
  // An array over the threads for values of a type.
  struct Array {
    Value buffer;
    mlir::Type type;  // of the value; index is kept as i64
  };

  Value constant(int64_t value) { return builder_.create<arith::ConstantIndexOp>(value); }

  Array make_array(mlir::Type type, const char* name) {
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPoint(first_);
    mlir::Type element = type.isIndex() ? builder_.getI64Type() : type;
    ++arrays_;
    return {builder_.create<tile::AllocOp>(tile::buffer_type(shape_, element, tile::Space::shared),
                                           builder_.getStringAttr(name), nullptr),
            type};
  }

  Value read(const Array& array, ValueRange at) {
    mlir::Type element = mlir::cast<mlir::MemRefType>(array.buffer.getType()).getElementType();
    Value value = builder_.create<tile::ReadOp>(tile::compute_type(element), array.buffer, at);
    return array.type.isIndex() ? builder_.create<arith::IndexCastOp>(array.type, value) : value;
  }

  void write(Value value, const Array& array, ValueRange at) {
    if (array.type.isIndex()) value = builder_.create<arith::IndexCastOp>(builder_.getI64Type(), value);
    builder_.create<tile::WriteOp>(value, array.buffer, at);
  }

  const Array& array_of(Value value) {
    auto [place, fresh] = arrays_of_.try_emplace(value);
    if (fresh) place->second = make_array(value.getType(), "kept");
    return place->second;
  }

  // The statements of the part in progress, and what it stores at its end.
  void emit_block(Block& block);
  void flush();
  void store_at_end(Value value, const Array& array) { stores_.push_back({value, array}); }

  // Inside a part's map.
  Value in_part(Value value, mlir::IRMapping& mapping);
  void emit_in_part(Operation* op, mlir::IRMapping& mapping);
  Value thread_number();
  Value shuffled(tile::ShuffleOp op, mlir::IRMapping& mapping);

  // Between the maps.
  Value scalar(Value value);
  void begin_vote(tile::VoteOp op);
  void emit_for(scf::ForOp op);
  void emit_while(scf::WhileOp op);
  void emit_if(scf::IfOp op);
  llvm::SmallVector<Value> carry(ValueRange values, ValueRange targets);
  llvm::SmallVector<Value> carried_scalars(ValueRange values, ValueRange targets);
  void bind(ValueRange originals, ValueRange emitted);

  tile::ThreadsOp threads_;
  const ThreadPlan& plan_;
  llvm::SmallVector<int64_t> shape_;
  mlir::ImplicitLocOpBuilder builder_;
  mlir::IRMapping scalars_;
  llvm::DenseMap<Value, Array> arrays_of_;
  llvm::DenseMap<Operation*, Array> exchanged_;  // what shuffles read; the votes of groups
  llvm::SmallVector<Operation*> statements_;
  llvm::SmallVector<std::pair<Value, Array>> stores_;
  llvm::SmallVector<Value> at_;  // the thread's indices into arrays, in the current map
  Operation* first_ = nullptr;   // of what is emitted; arrays are made before it
  int64_t parts_ = 0, arrays_ = 0;
};

void Fission::emit_block(Block& block) {
  for (Operation& op : block) {
    if (op.hasTrait<mlir::OpTrait::IsTerminator>()) continue;
    if (plan_.is_scalar(&op)) {
      builder_.clone(op, scalars_);
    } else if (mlir::isa<tile::BarrierOp>(op)) {
      flush();
    } else if (auto shuffle = mlir::dyn_cast<tile::ShuffleOp>(op)) {
      const Array array = make_array(shuffle.getType(), "shuffled");
      exchanged_[&op] = array;
      store_at_end(shuffle.getValue(), array);
      flush();
      statements_.push_back(&op);
    } else if (auto vote = mlir::dyn_cast<tile::VoteOp>(op)) {
      begin_vote(vote);
      statements_.push_back(&op);
    } else if (plan_.is_cut(&op)) {
      llvm::TypeSwitch<Operation*>(&op)
          .Case([&](scf::ForOp loop) { emit_for(loop); })
          .Case([&](scf::WhileOp loop) { emit_while(loop); })
          .Case([&](scf::IfOp branch) { emit_if(branch); });
    } else {
      statements_.push_back(&op);
    }
  }
}

void Fission::flush() {
  if (statements_.empty() && stores_.empty()) return;
  ++parts_;
  llvm::SmallVector<mlir::OpFoldResult> sizes =
      llvm::map_to_vector(shape_, [&](int64_t size) -> mlir::OpFoldResult { return builder_.getIndexAttr(size); });
  auto map = builder_.create<tile::MapOp>(sizes);
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(&map.getBody().front());
  at_.assign(map.getBody().args_begin(), map.getBody().args_end());
  mlir::IRMapping mapping = scalars_;
  for (auto [id, index] : llvm::zip_equal(threads_.getBody().getArguments(), llvm::reverse(at_)))
    mapping.map(id, index);
  for (Operation* op : statements_) emit_in_part(op, mapping);
  // All are read before any is written: an array may be both.
  llvm::SmallVector<Value> values;
  for (auto& [value, array] : stores_) values.push_back(in_part(value, mapping));
  for (auto [value, store] : llvm::zip_equal(values, stores_)) write(value, store.second, at_);
  statements_.clear();
  stores_.clear();
}

Value Fission::in_part(Value value, mlir::IRMapping& mapping) {
  if (!threads_.getBody().isAncestor(value.getParentRegion())) return value;
  if (Value known = mapping.lookupOrNull(value)) return known;
  if (auto array = arrays_of_.find(value); array != arrays_of_.end()) {
    Value found = read(array->second, at_);
    mapping.map(value, found);
    return found;
  }
  Operation* op = value.getDefiningOp();
  for (Value operand : op->getOperands()) in_part(operand, mapping);
  builder_.clone(*op, mapping);
  return mapping.lookup(value);
}

void Fission::emit_in_part(Operation* op, mlir::IRMapping& mapping) {
  builder_.setLoc(op->getLoc());
  if (auto shuffle = mlir::dyn_cast<tile::ShuffleOp>(op)) {
    mapping.map(shuffle.getResult(), shuffled(shuffle, mapping));
  } else if (auto vote = mlir::dyn_cast<tile::VoteOp>(op)) {
    Value group = builder_.create<arith::DivUIOp>(thread_number(), constant(static_cast<int64_t>(vote.getWidth())));
    mapping.map(vote.getResult(), read(exchanged_[op], group));
  } else {
    for (Value value : captured_values(op)) in_part(value, mapping);
    builder_.clone(*op, mapping);
  }
  for (Value result : op->getResults()) {
    if (plan_.is_kept(result)) write(mapping.lookup(result), array_of(result), at_);
  }
}

// The thread's number, its first index the fastest.
Value Fission::thread_number() {
  Value number = at_.front();
  for (size_t dim = 1; dim < at_.size(); ++dim) {
    number = builder_.create<arith::MulIOp>(number, constant(shape_[dim]));
    number = builder_.create<arith::AddIOp>(number, at_[dim]);
  }
  return number;
}

// The value of the lane that the shuffle names, or the thread's own where the group has no such lane.
Value Fission::shuffled(tile::ShuffleOp op, mlir::IRMapping& mapping) {
  using Predicate = arith::CmpIPredicate;
  const auto width_value = static_cast<int64_t>(op.getWidth());
  Value width = constant(width_value), count = constant(threads_.count()), zero = constant(0);
  Value number = thread_number();
  Value lane = builder_.create<arith::RemUIOp>(number, width);
  Value first = builder_.create<arith::SubIOp>(number, lane);
  Value given = builder_.create<arith::IndexCastOp>(builder_.getIndexType(), in_part(op.getLane(), mapping));
  Value wanted;
  switch (op.getMode()) {
    case tile::Shuffle::index:
      wanted = given;
      break;
    case tile::Shuffle::up:
      wanted = builder_.create<arith::SubIOp>(lane, given);
      break;
    case tile::Shuffle::down:
      wanted = builder_.create<arith::AddIOp>(lane, given);
      break;
    case tile::Shuffle::lane_xor:
      wanted = builder_.create<arith::XOrIOp>(lane, given);
      break;
  }
  Value source = builder_.create<arith::AddIOp>(first, wanted);
  Value good = builder_.create<arith::CmpIOp>(Predicate::sge, wanted, zero);
  good = builder_.create<arith::AndIOp>(good, builder_.create<arith::CmpIOp>(Predicate::slt, wanted, width));
  good = builder_.create<arith::AndIOp>(good, builder_.create<arith::CmpIOp>(Predicate::slt, source, count));
  source = builder_.create<arith::SelectOp>(good, source, number);
  llvm::SmallVector<Value> at(shape_.size());
  for (size_t dim = shape_.size(); dim-- > 0;) {
    if (dim == 0) {
      at[dim] = source;
      continue;
    }
    Value size = constant(shape_[dim]);
    at[dim] = builder_.create<arith::RemUIOp>(source, size);
    source = builder_.create<arith::DivUIOp>(source, size);
  }
  return read(exchanged_[op], at);
}

// The conditions of all threads, then a map over the groups that joins each group's.
void Fission::begin_vote(tile::VoteOp op) {
  const Array conditions = make_array(builder_.getI1Type(), "votes");
  store_at_end(op.getCondition(), conditions);
  flush();
  const int64_t count = threads_.count(), width = std::min<int64_t>(static_cast<int64_t>(op.getWidth()), count);
  const int64_t groups = (count + width - 1) / width;
  mlir::Type i32 = builder_.getI32Type();
  Array result;
  {
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPoint(first_);
    auto type = tile::buffer_type({groups}, i32, tile::Space::shared);
    result = {builder_.create<tile::AllocOp>(type, builder_.getStringAttr("vote"), nullptr), i32};
    ++arrays_;
  }
  exchanged_[op] = result;
  builder_.setLoc(op.getLoc());
  auto map = builder_.create<tile::MapOp>(llvm::ArrayRef<mlir::OpFoldResult>{builder_.getIndexAttr(groups)});
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(&map.getBody().front());
  Value first = builder_.create<arith::MulIOp>(map.getBody().getArgument(0), constant(width));
  Value end = builder_.create<arith::AddIOp>(first, constant(width));
  end = builder_.create<arith::MinSIOp>(end, constant(count));
  const bool all = op.getMode() == tile::Vote::all;
  Value start = builder_.create<arith::ConstantOp>(builder_.getI32IntegerAttr(all ? 1 : 0));
  auto loop = builder_.create<scf::ForOp>(first, end, constant(1), ValueRange{start});
  {
    mlir::OpBuilder::InsertionGuard inner(builder_);
    builder_.setInsertionPointToStart(loop.getBody());
    llvm::SmallVector<Value> at(shape_.size());
    Value number = loop.getInductionVar();
    for (size_t dim = shape_.size(); dim-- > 0;) {
      Value size = constant(shape_[dim]);
      at[dim] = dim == 0 ? number : builder_.create<arith::RemUIOp>(number, size).getResult();
      if (dim > 0) number = builder_.create<arith::DivUIOp>(number, size);
    }
    Value yes = builder_.create<arith::ExtUIOp>(i32, read(conditions, at));
    Value so_far = loop.getRegionIterArgs().front();
    Value joined = op.getMode() == tile::Vote::count ? builder_.create<arith::AddIOp>(so_far, yes).getResult()
                   : all                             ? builder_.create<arith::AndIOp>(so_far, yes).getResult()
                                                     : builder_.create<arith::OrIOp>(so_far, yes).getResult();
    builder_.create<scf::YieldOp>(joined);
  }
  write(loop.getResult(0), result, map.getBody().getArgument(0));
}

// A value that is the same for all threads, between the maps: where a part computed it, as the first thread did.
Value Fission::scalar(Value value) {
  if (plan_.is_scalar(value)) return scalars_.lookupOrDefault(value);
  Value zero = constant(0);
  return read(array_of(value), llvm::SmallVector<Value>(shape_.size(), zero));
}

// What control flow carries and differs between threads is stored to the targets' arrays at the end of the part.
llvm::SmallVector<Value> Fission::carry(ValueRange values, ValueRange targets) {
  for (auto [value, target] : llvm::zip_equal(values, targets)) {
    if (!plan_.is_uniform(target)) store_at_end(value, array_of(target));
  }
  flush();
  return carried_scalars(values, targets);
}

llvm::SmallVector<Value> Fission::carried_scalars(ValueRange values, ValueRange targets) {
  llvm::SmallVector<Value> found;
  for (auto [value, target] : llvm::zip_equal(values, targets)) {
    if (plan_.is_uniform(target)) found.push_back(scalar(value));
  }
  return found;
}

void Fission::bind(ValueRange originals, ValueRange emitted) {
  for (Value original : originals) {
    if (!plan_.is_uniform(original)) continue;
    scalars_.map(original, emitted.front());
    emitted = emitted.drop_front();
  }
}

void Fission::emit_for(scf::ForOp op) {
  // One array for what is carried: through the loop, and out of it.
  for (auto [argument, result] : llvm::zip_equal(op.getRegionIterArgs(), op.getResults())) {
    if (!plan_.is_uniform(argument)) arrays_of_[result] = Array(array_of(argument));
  }
  llvm::SmallVector<Value> inits = carry(op.getInitArgs(), op.getRegionIterArgs());
  builder_.setLoc(op.getLoc());
  auto loop = builder_.create<scf::ForOp>(scalar(op.getLowerBound()), scalar(op.getUpperBound()), scalar(op.getStep()),
                                          inits, [](mlir::OpBuilder&, mlir::Location, Value, ValueRange) {});
  scalars_.map(op.getInductionVar(), loop.getInductionVar());
  bind(op.getRegionIterArgs(), loop.getRegionIterArgs());
  bind(op.getResults(), loop.getResults());
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToEnd(loop.getBody());
  emit_block(*op.getBody());
  builder_.create<scf::YieldOp>(carry(op.getYieldedValues(), op.getRegionIterArgs()));
}

void Fission::emit_if(scf::IfOp op) {
  flush();
  llvm::SmallVector<mlir::Type> types;
  for (Value result : op.getResults()) {
    if (plan_.is_uniform(result)) types.push_back(result.getType());
  }
  builder_.setLoc(op.getLoc());
  Value condition = scalar(op.getCondition());
  auto branch = builder_.create<scf::IfOp>(types, condition, /*addThenBlock=*/true, /*addElseBlock=*/true);
  bind(op.getResults(), branch.getResults());
  for (auto [from, to] :
       {std::pair(op.thenBlock(), branch.thenBlock()), std::pair(op.elseBlock(), branch.elseBlock())}) {
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToEnd(to);
    llvm::SmallVector<Value> yields;
    if (from) {
      emit_block(*from);
      yields = carry(from->getTerminator()->getOperands(), op.getResults());
    }
    builder_.create<scf::YieldOp>(yields);
  }
}

void Fission::emit_while(scf::WhileOp op) {
  scf::ConditionOp condition = op.getConditionOp();
  for (auto [argument, result] : llvm::zip_equal(op.getAfterArguments(), op.getResults())) {
    if (!plan_.is_uniform(argument)) arrays_of_[result] = Array(array_of(argument));
  }
  llvm::SmallVector<Value> inits = carry(op.getInits(), op.getBeforeArguments());
  builder_.setLoc(op.getLoc());
  llvm::SmallVector<mlir::Type> types;
  for (Value argument : op.getAfterArguments()) {
    if (plan_.is_uniform(argument)) types.push_back(argument.getType());
  }
  auto nothing = [](mlir::OpBuilder&, mlir::Location, ValueRange) {};
  auto loop = builder_.create<scf::WhileOp>(types, inits, nothing, nothing);
  bind(op.getResults(), loop.getResults());
  mlir::OpBuilder::InsertionGuard guard(builder_);
  bind(op.getBeforeArguments(), loop.getBeforeArguments());
  builder_.setInsertionPointToEnd(loop.getBeforeBody());
  emit_block(*op.getBeforeBody());
  llvm::SmallVector<Value> forwarded = carry(condition.getArgs(), op.getAfterArguments());
  builder_.create<scf::ConditionOp>(scalar(condition.getCondition()), forwarded);
  bind(op.getAfterArguments(), loop.getAfterArguments());
  builder_.setInsertionPointToEnd(loop.getAfterBody());
  emit_block(*op.getAfterBody());
  builder_.create<scf::YieldOp>(carry(op.getYieldOp().getOperands(), op.getBeforeArguments()));
}

class LowerThreads : public mlir::PassWrapper<LowerThreads, mlir::OperationPass<>> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerThreads)

  llvm::StringRef getArgument() const final { return "lower-threads"; }
  llvm::StringRef getDescription() const final { return "turn code for threads into maps, cut at the barriers"; }

  void runOnOperation() final {
    llvm::SmallVector<tile::ThreadsOp> all;
    getOperation()->walk([&](tile::ThreadsOp threads) { all.push_back(threads); });
    for (tile::ThreadsOp threads : all) {
      ThreadPlan plan(threads);
      if (failed(share_local_tiles(threads)) || failed(plan.run())) return signalPassFailure();
      Fission(threads, plan).run();
    }
  }
};

}  // namespace

std::unique_ptr<mlir::Pass> make_lower_threads_pass() { return std::make_unique<LowerThreads>(); }

}  // namespace deep_accel::compile
