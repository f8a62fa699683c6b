// Maps: loops over the index space, the innermost in vectors.
//
// The vector axis is the one along which most accesses are side by side in memory. Bodies that are not straight-line
// element-wise code (control flow, atomics, calls) run element by element. A tail shorter than a vector runs under a
// mask where the target has cheap ones, else element by element. A `tile.combine` whose element does not depend on the
// vector axis gathers in registers over the whole innermost loop.
#include <numeric>

#include "deep_accel/compile/lower/map_emitter.h"

namespace deep_accel::compile {

using mlir::OpFoldResult;
using mlir::Value;
namespace arith = mlir::arith;
namespace scf = mlir::scf;
namespace vector = mlir::vector;

mlir::LogicalResult Emitter::emit_map(tile::MapOp op) {
  mlir::OpBuilder::InsertionGuard guard(builder_);
  return MapEmitter(*this, op).emit();
}

mlir::LogicalResult MapEmitter::emit() {
  const int64_t rank = op_.rank();
  const bool plain = straight_line();
  if (tile::WriteOp write = plain ? grouped_write() : tile::WriteOp()) {
    const mlir::LogicalResult result = emit_grouped(write);
    emitter_.end_prefetches(PrefetchHost::map);
    note_shape();
    return result;
  }
  if (plain) axis_ = choose_axis();
  if (axis_ >= 0) lanes_ = choose_lanes();
  if (lanes_ == 1) axis_ = -1;
  llvm::SmallVector<int64_t> order;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (axis != axis_) order.push_back(axis);
  }
  if (axis_ >= 0) {
    for (auto combine : op_.getBody().front().getOps<tile::CombineOp>()) {
      if (memory_step(combine.getBuffer(), combine.getIndices(), axis_) == 0) horizontal_.push_back(combine);
    }
  }
  const mlir::LogicalResult result = emit_outer(order, 0);
  emitter_.end_prefetches(PrefetchHost::map);
  note_shape();
  return result;
}

mlir::LogicalResult MapEmitter::emit_outer(llvm::ArrayRef<int64_t> order, size_t depth) {
  if (depth == order.size()) return axis_ >= 0 ? emit_vector_loop() : emit_scalar();
  const int64_t axis = order[depth];
  mlir::OpBuilder::InsertionGuard guard(builder_);
  OpFoldResult size = op_.mixed_sizes()[axis];
  Value upper = mlir::getConstantIntValue(size) ? elements_.index(size) : emitter_.value(mlir::cast<Value>(size));
  scf::ForOp loop = emitter_.make_loop(elements_.index(int64_t{0}), upper, elements_.index(int64_t{1}));
  Value original = op_.getBody().getArgument(static_cast<unsigned>(axis));
  emitter_.map_.map(original, loop.getInductionVar());
  lane_values_[original] = LaneValue{loop.getInductionVar()};
  return emit_outer(order, depth + 1);
}

mlir::LogicalResult MapEmitter::emit_scalar() { return emitter_.emit_block(op_.getBody().front()); }

// The part of the prefetches that wait for this map that falls to one vector.
void MapEmitter::emit_prefetches(Value start) {
  const int64_t size = op_.getStaticSizes()[0];
  if (op_.rank() != 1 || mlir::ShapedType::isDynamic(size) || size < lanes_) return;
  Value vector = builder_.createOrFold<arith::DivUIOp>(start, elements_.index(lanes_));
  for (const PrefetchRun& run : emitter_.prefetch_share(PrefetchHost::map, vector, size / lanes_)) {
    emitter_.emit_prefetch_run(run);
  }
}

mlir::LogicalResult MapEmitter::emit_vector_loop() {
  OpFoldResult size = op_.mixed_sizes()[axis_];
  const auto fixed = mlir::getConstantIntValue(size);
  const int64_t unroll = choose_unroll();
  Value zero = elements_.index(int64_t{0});
  Value upper = fixed ? elements_.index(*fixed) : emitter_.value(mlir::cast<Value>(size));

  // Accumulators: `unroll` vectors for each combine, so that sums do not wait for one another.
  llvm::SmallVector<Value> carried;
  for (int64_t copy = 0; copy < unroll; ++copy) {
    for (tile::CombineOp combine : horizontal_) {
      mlir::Type type = combine.getValue().getType();
      Value start = builder_.create<arith::ConstantOp>(identity(builder_, combine.getCombine(), type));
      carried.push_back(elements_.splat(start, lanes_));
    }
  }
  const size_t group = horizontal_.size();

  auto run = [&](Value lower, Value end, int64_t copies) {
    const bool together = copies > 1 && advances_together();
    if (together) carried = joined_copies(carried, copies);
    {
      mlir::OpBuilder::InsertionGuard guard(builder_);
      scf::ForOp loop = emitter_.make_loop(lower, end, elements_.index(lanes_ * copies), carried);
      llvm::SmallVector<Value> inside(loop.getRegionIterArgs());
      for (int64_t copy = 0; copy < copies; ++copy) {
        Value start = elements_.add(loop.getInductionVar(), copy == 0 ? Value() : elements_.index(copy * lanes_));
        emit_prefetches(start);
        if (together) continue;
        emit_lanes(start, lanes_, {}, llvm::MutableArrayRef<Value>(inside).slice(copy * group, group));
      }
      if (together) emit_lanes(loop.getInductionVar(), lanes_ * copies, {}, inside);
      if (!carried.empty()) builder_.create<scf::YieldOp>(inside);
      carried.assign(loop.getResults().begin(), loop.getResults().end());
    }
    if (together) carried = split_copies(carried, copies);
  };

  Value done = zero;
  for (int64_t copies = unroll; copies >= 1; copies = copies == 1 ? 0 : 1) {
    const int64_t block = lanes_ * copies;
    if (fixed && *fixed < block) continue;
    Value end;
    if (fixed) {
      end = elements_.index(*fixed / block * block);
    } else {
      end = elements_.mul(builder_.createOrFold<arith::DivUIOp>(upper, elements_.index(block)),
                          builder_.getIndexAttr(block));
    }
    Value streams = carried.empty() ? streaming_condition() : Value();
    if (streams) {
      may_go_past_caches_ = true;
      mlir::OpBuilder::InsertionGuard guard(builder_);
      auto branch = builder_.create<scf::IfOp>(streams, /*withElseRegion=*/true);
      builder_.setInsertionPointToStart(branch.thenBlock());
      streaming_ = true;
      run(done, end, copies);
      streaming_ = false;
      builder_.setInsertionPointToStart(branch.elseBlock());
      run(done, end, copies);
    } else {
      run(done, end, copies);
    }
    done = end;
    if (fixed && *fixed % block == 0) break;
  }

  const bool whole = fixed && *fixed % lanes_ == 0;
  if (whole) {
    finish_accumulators(carried);
    return mlir::success();
  }
  bool maskable = emitter_.target_.masks;
  for (mlir::Operation& op : op_.getBody().front()) {
    for (Value operand : op.getOperands()) {
      auto type = mlir::dyn_cast<mlir::MemRefType>(operand.getType());
      if (type && tile::is_packed(type.getElementType())) maskable = false;
    }
  }
  if (!maskable) {
    finish_accumulators(carried);
    horizontal_.clear();
    mlir::OpBuilder::InsertionGuard guard(builder_);
    scf::ForOp loop = emitter_.make_loop(done, upper, elements_.index(int64_t{1}));
    emitter_.map_.map(op_.getBody().getArgument(static_cast<unsigned>(axis_)), loop.getInductionVar());
    return emit_scalar();
  }
  // The tail under a mask. Lanes that are off must not count in the accumulators.
  Value left = builder_.create<arith::SubIOp>(upper, done);
  Value any = builder_.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sgt, left, zero);
  llvm::SmallVector<mlir::Type> types = llvm::map_to_vector(carried, [](Value value) { return value.getType(); });
  auto branch = builder_.create<scf::IfOp>(types, any, /*addThenBlock=*/true, /*addElseBlock=*/!types.empty());
  {
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(branch.thenBlock());
    llvm::SmallVector<int32_t> counts(static_cast<size_t>(lanes_));
    std::iota(counts.begin(), counts.end(), 0);
    auto type = mlir::VectorType::get({lanes_}, builder_.getI32Type());
    Value numbers =
        builder_.create<arith::ConstantOp>(mlir::DenseElementsAttr::get(type, llvm::ArrayRef<int32_t>(counts)));
    Value limit = builder_.create<arith::IndexCastOp>(builder_.getI32Type(), left);
    Value mask = builder_.create<arith::CmpIOp>(arith::CmpIPredicate::slt, numbers, elements_.splat(limit, lanes_));
    llvm::SmallVector<Value> inside(carried);
    emit_lanes(done, lanes_, mask, llvm::MutableArrayRef<Value>(inside).take_front(group));
    if (types.empty()) {
      builder_.create<scf::YieldOp>();
    } else {
      builder_.create<scf::YieldOp>(inside);
      builder_.setInsertionPointToStart(branch.elseBlock());
      builder_.create<scf::YieldOp>(carried);
    }
  }
  carried.assign(branch.getResults().begin(), branch.getResults().end());
  finish_accumulators(carried);
  return mlir::success();
}

// Of `copies` vectors for each accumulator (copy by copy), one long one for each.
llvm::SmallVector<Value> MapEmitter::joined_copies(llvm::ArrayRef<Value> vectors, int64_t copies) {
  const size_t group = horizontal_.size();
  llvm::SmallVector<Value> joined;
  for (size_t index = 0; index < group; ++index) {
    mlir::Type element = mlir::cast<mlir::VectorType>(vectors[index].getType()).getElementType();
    auto type = mlir::VectorType::get({lanes_ * copies}, element);
    Value all = builder_.create<arith::ConstantOp>(builder_.getZeroAttr(type));
    for (int64_t copy = 0; copy < copies; ++copy) {
      all = builder_.create<vector::InsertStridedSliceOp>(vectors[static_cast<size_t>(copy) * group + index], all,
                                                          copy * lanes_, int64_t{1});
    }
    joined.push_back(all);
  }
  return joined;
}

llvm::SmallVector<Value> MapEmitter::split_copies(llvm::ArrayRef<Value> joined, int64_t copies) {
  llvm::SmallVector<Value> vectors;
  for (int64_t copy = 0; copy < copies; ++copy) {
    for (Value all : joined) {
      vectors.push_back(builder_.create<vector::ExtractStridedSliceOp>(all, copy * lanes_, lanes_, int64_t{1}));
    }
  }
  return vectors;
}

void MapEmitter::finish_accumulators(llvm::ArrayRef<Value> accumulators) {
  const size_t group = horizontal_.size();
  for (auto [index, combine] : llvm::enumerate(horizontal_)) {
    const tile::Combine kind = combine.getCombine();
    Value total = accumulators[index];
    for (size_t other = index + group; other < accumulators.size(); other += group) {
      total = combined(builder_, kind, total, accumulators[other], combine.getPropagateNan(), /*never_nan=*/true);
    }
    total = elements_.across(kind, total, combine.getPropagateNan());
    const BufferRef& ref = emitter_.buffer(combine.getBuffer());
    Value position = elements_.position(ref, lane_indices(combine.getIndices(), 0));
    Value joined = combined(builder_, kind, elements_.load(ref, position, 1), total, combine.getPropagateNan());
    elements_.store(ref, joined, position, 1);
  }
}

void MapEmitter::emit_lanes(Value start, int64_t lanes, Value mask, llvm::MutableArrayRef<Value> accumulators) {
  lane_values_[op_.getBody().getArgument(static_cast<unsigned>(axis_))] = LaneValue{start, 1};
  for (mlir::Operation& op : op_.getBody().front()) {
    builder_.setLoc(op.getLoc());
    emit_lane_op(op, lanes, mask, accumulators);
  }
}

LaneValue MapEmitter::lookup(Value original) {
  if (auto found = lane_values_.find(original); found != lane_values_.end()) return found->second;
  return LaneValue{emitter_.value(original)};
}

Value MapEmitter::as_vector(Value original, int64_t lanes) {
  const LaneValue known = lookup(original);
  if (known.lanes) return known.lanes;
  Value splat = elements_.splat(known.scalar, lanes);
  if (known.step == 0) return splat;
  llvm::SmallVector<int64_t> steps;
  for (int64_t lane = 0; lane < lanes; ++lane) steps.push_back(lane * known.step);
  auto type = mlir::cast<mlir::VectorType>(splat.getType());
  mlir::Type element = type.getElementType();
  llvm::SmallVector<mlir::Attribute> attributes;
  for (int64_t step : steps) attributes.push_back(builder_.getIntegerAttr(element, step));
  Value ramp = builder_.create<arith::ConstantOp>(mlir::DenseElementsAttr::get(type, attributes));
  return builder_.create<arith::AddIOp>(splat, ramp);
}

llvm::SmallVector<Value> MapEmitter::lane_indices(mlir::ValueRange indices, int64_t lane) {
  return llvm::map_to_vector(indices, [&](Value index) -> Value {
    const LaneValue known = lookup(index);
    if (known.lanes) return elements_.lane(known.lanes, lane);
    if (known.step == 0 || lane == 0) return known.scalar;
    return elements_.add(known.scalar, elements_.index(lane * known.step));
  });
}

void MapEmitter::emit_lane_op(mlir::Operation& op, int64_t lanes, Value mask,
                              llvm::MutableArrayRef<Value> accumulators) {
  if (auto read = mlir::dyn_cast<tile::ReadOp>(op)) return emit_read(read, lanes, mask);
  if (auto write = mlir::dyn_cast<tile::WriteOp>(op)) return emit_write(write, lanes, mask);
  if (auto combine = mlir::dyn_cast<tile::CombineOp>(op)) return emit_combine(combine, lanes, mask, accumulators);
  if (auto check = mlir::dyn_cast<tile::AssertOp>(op)) return emit_check(check, lanes, mask);
  Value result = op.getResult(0);
  if (auto extent = mlir::dyn_cast<tile::ExtentOp>(op)) {
    lane_values_[result] = LaneValue{elements_.index(emitter_.buffer(extent.getBuffer()).sizes[extent.getDim()])};
    return;
  }
  if (auto constant = mlir::dyn_cast<arith::ConstantOp>(op)) {
    mlir::IRMapping unused;
    lane_values_[result] = LaneValue{builder_.clone(op, unused)->getResult(0)};
    return;
  }
  // Sequences stay sequences through sums and casts of indices; what is the same in all lanes stays a scalar.
  bool uniform = true, sequence = result.getType().isIndex() || mlir::isa<arith::IndexCastOp>(op);
  for (Value operand : op.getOperands()) {
    const LaneValue known = lookup(operand);
    if (known.lanes || known.step != 0) uniform = false;
    if (known.lanes) sequence = false;
  }
  std::optional<int64_t> step = sequence && !uniform ? index_step(result, axis_) : std::nullopt;
  if (uniform || step) {
    mlir::IRMapping scalars;
    for (Value operand : op.getOperands()) scalars.map(operand, lookup(operand).scalar);
    lane_values_[result] = LaneValue{builder_.clone(op, scalars)->getResult(0), step.value_or(0)};
    return;
  }
  mlir::OperationState state(op.getLoc(), op.getName());
  state.addAttributes(op.getAttrs());
  for (Value operand : op.getOperands()) state.addOperands(as_vector(operand, lanes));
  state.addTypes(mlir::VectorType::get({lanes}, result.getType()));
  LaneValue vector_value;
  vector_value.lanes = builder_.create(state)->getResult(0);
  lane_values_[result] = vector_value;
}

// Holds where it holds in every lane that is on.
void MapEmitter::emit_check(tile::AssertOp op, int64_t lanes, Value mask) {
  const LaneValue known = lookup(op.getCondition());
  Value holds = known.scalar;
  if (known.lanes) {
    Value all = known.lanes;
    if (mask) {
      Value on = builder_.create<arith::ConstantIntOp>(1, 1);
      all = builder_.create<arith::SelectOp>(mask, all, elements_.splat(on, lanes));
    }
    holds = builder_.create<vector::ReductionOp>(vector::CombiningKind::AND, all);
  }
  emitter_.emit_assert(op, holds);
}

// Whether lanes from these indices on begin at a whole byte. Of packed types that is so only from the map's own index
// on, which is a multiple of the lanes, in rows that are a whole number of bytes apart.
bool MapEmitter::starts_at_byte(const BufferRef& ref, mlir::ValueRange indices) {
  if (!tile::is_packed(ref.storage)) return true;
  if (ref.offset || indices.back() != op_.getBody().getArgument(static_cast<unsigned>(axis_))) return false;
  return llvm::all_of(llvm::ArrayRef(ref.strides).drop_back(), [](OpFoldResult stride) {
    const auto known = mlir::getConstantIntValue(stride);
    return known && *known % 2 == 0;
  });
}

void MapEmitter::emit_read(tile::ReadOp op, int64_t lanes, Value mask) {
  const BufferRef& ref = emitter_.buffer(op.getBuffer());
  const auto step = memory_step(op.getBuffer(), op.getIndices(), axis_);
  if (step == 0) {
    Value position = elements_.position(ref, lane_indices(op.getIndices(), 0));
    lane_values_[op.getValue()] = LaneValue{elements_.load(ref, position, 1)};
    return;
  }
  LaneValue result;
  if (step == 1 && starts_at_byte(ref, op.getIndices())) {
    result.lanes = elements_.load(ref, elements_.position(ref, lane_indices(op.getIndices(), 0)), lanes, mask);
  } else {
    Value joined;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      auto load = [&] { return elements_.load(ref, elements_.position(ref, lane_indices(op.getIndices(), lane)), 1); };
      Value element;
      if (mask) {
        auto branch = builder_.create<scf::IfOp>(op.getValue().getType(), elements_.lane(mask, lane), true, true);
        mlir::OpBuilder::InsertionGuard guard(builder_);
        builder_.setInsertionPointToStart(branch.thenBlock());
        builder_.create<scf::YieldOp>(load());
        builder_.setInsertionPointToStart(branch.elseBlock());
        builder_.create<scf::YieldOp>(elements_.constant_like(op.getValue().getType(), 0));
        element = branch.getResult(0);
      } else {
        element = load();
      }
      if (!joined) joined = elements_.splat(element, lanes);
      joined = builder_.create<vector::InsertOp>(element, joined, lane);
    }
    result.lanes = joined;
  }
  lane_values_[op.getValue()] = result;
}

void MapEmitter::emit_write(tile::WriteOp op, int64_t lanes, Value mask) {
  Value buffer = op.getBuffer(), what = as_vector(op.getValue(), lanes);
  mlir::ValueRange indices = op.getIndices();
  const BufferRef& ref = emitter_.buffer(buffer);
  const bool exact = writes_exactly(op.getValue(), ref.element);
  if (memory_step(buffer, indices, axis_) == 1 && starts_at_byte(ref, indices)) {
    const bool streams = streaming_ && may_stream(op);
    elements_.store(ref, what, elements_.position(ref, lane_indices(indices, 0)), lanes, mask, exact,
                    streams ? lanes_ * tile::storage_bits(ref.storage) / 8 : 0);
    return;
  }
  for (int64_t lane = 0; lane < lanes; ++lane) {
    mlir::OpBuilder::InsertionGuard guard(builder_);
    if (mask) {
      auto branch = builder_.create<scf::IfOp>(elements_.lane(mask, lane), /*withElseRegion=*/false);
      builder_.setInsertionPointToStart(branch.thenBlock());
    }
    Value position = elements_.position(ref, lane_indices(indices, lane));
    elements_.store(ref, elements_.lane(what, lane), position, 1, {}, exact);
  }
}

void MapEmitter::emit_combine(tile::CombineOp op, int64_t lanes, Value mask,
                              llvm::MutableArrayRef<Value> accumulators) {
  Value what = as_vector(op.getValue(), lanes);
  const tile::Combine kind = op.getCombine();
  if (mask) {
    Value neutral = builder_.create<arith::ConstantOp>(identity(builder_, kind, op.getValue().getType()));
    what = builder_.create<arith::SelectOp>(mask, what, elements_.splat(neutral, lanes));
  }
  for (auto [index, kept] : llvm::enumerate(horizontal_)) {
    if (kept != op) continue;
    accumulators[index] = combined(builder_, kind, accumulators[index], what, op.getPropagateNan(), /*never_nan=*/true);
    return;
  }
  const BufferRef& ref = emitter_.buffer(op.getBuffer());
  if (memory_step(op.getBuffer(), op.getIndices(), axis_) == 1 && !tile::is_packed(ref.storage)) {
    Value position = elements_.position(ref, lane_indices(op.getIndices(), 0));
    Value joined = combined(builder_, kind, elements_.load(ref, position, lanes, mask), what, op.getPropagateNan());
    elements_.store(ref, joined, position, lanes, mask);
    return;
  }
  // Lanes may meet in one element: one after another.
  for (int64_t lane = 0; lane < lanes; ++lane) {
    mlir::OpBuilder::InsertionGuard guard(builder_);
    if (mask) {
      auto branch = builder_.create<scf::IfOp>(elements_.lane(mask, lane), /*withElseRegion=*/false);
      builder_.setInsertionPointToStart(branch.thenBlock());
    }
    Value position = elements_.position(ref, lane_indices(op.getIndices(), lane));
    Value joined =
        combined(builder_, kind, elements_.load(ref, position, 1), elements_.lane(what, lane), op.getPropagateNan());
    elements_.store(ref, joined, position, 1);
  }
}

}  // namespace deep_accel::compile
