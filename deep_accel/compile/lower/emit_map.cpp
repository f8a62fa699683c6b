// Maps: loops over the index space, the innermost in vectors.
//
// The vector axis is the one along which most accesses are side by side in memory. Bodies that are not straight-line
// element-wise code (control flow, atomics, calls) run element by element. A tail shorter than a vector runs under a
// mask where the target has cheap ones, else element by element. A `tile.combine` whose element does not depend on the
// vector axis gathers in registers over the whole innermost loop.
#include <numeric>

#include "deep_accel/compile/lower/emitter.h"

namespace deep_accel::compile {

using mlir::OpFoldResult;
using mlir::Value;
namespace arith = mlir::arith;
namespace scf = mlir::scf;
namespace vector = mlir::vector;

// What a value of the body is over the lanes of one vector: `scalar` + lane * `step`, or a vector.
struct LaneValue {
  Value scalar;
  int64_t step = 0;
  Value lanes = {};  // set where the value is no such sequence
};

class MapEmitter {
 public:
  MapEmitter(Emitter& emitter, tile::MapOp op)
      : emitter_(emitter), elements_(emitter.elements_), builder_(emitter.builder_), op_(op) {}

  mlir::LogicalResult emit();

 private:
  bool straight_line();
  // How far an access moves in memory for one step along `axis`; nullopt where that is not known.
  std::optional<int64_t> memory_step(Value buffer, mlir::ValueRange indices, int64_t axis);
  std::optional<int64_t> index_step(Value index, int64_t axis);
  int64_t choose_axis();
  int64_t choose_lanes();
  int64_t choose_unroll();
  // Whether output goes past the caches: null where it never pays, else the condition.
  Value streaming_condition();
  bool may_stream(tile::WriteOp write);
  Value clone_index(Value index, mlir::IRMapping& start);

  mlir::LogicalResult emit_outer(llvm::ArrayRef<int64_t> order, size_t depth);
  mlir::LogicalResult emit_scalar();
  mlir::LogicalResult emit_vector_loop();
  // One vector's worth of the body, `accumulators` in and out.
  void emit_lanes(Value start, int64_t lanes, Value mask, llvm::MutableArrayRef<Value> accumulators);
  void emit_lane_op(mlir::Operation& op, int64_t lanes, Value mask, llvm::MutableArrayRef<Value> accumulators);
  void emit_read(tile::ReadOp op, int64_t lanes, Value mask);
  void emit_write(tile::WriteOp op, int64_t lanes, Value mask);
  void emit_combine(tile::CombineOp op, int64_t lanes, Value mask, llvm::MutableArrayRef<Value> accumulators);
  void finish_accumulators(llvm::ArrayRef<Value> accumulators);

  LaneValue lookup(Value original);
  Value as_vector(Value original, int64_t lanes);
  llvm::SmallVector<Value> lane_indices(mlir::ValueRange indices, int64_t lane);

  Emitter& emitter_;
  Elements& elements_;
  mlir::ImplicitLocOpBuilder& builder_;
  tile::MapOp op_;

  int64_t axis_ = -1;
  int64_t lanes_ = 1;
  llvm::DenseMap<Value, LaneValue> lane_values_;
  llvm::SmallVector<tile::CombineOp> horizontal_;  // combines kept in registers
  bool streaming_ = false;
};

mlir::LogicalResult Emitter::emit_map(tile::MapOp op) {
  mlir::OpBuilder::InsertionGuard guard(builder_);
  return MapEmitter(*this, op).emit();
}

mlir::LogicalResult MapEmitter::emit() {
  const int64_t rank = op_.rank();
  if (straight_line()) axis_ = choose_axis();
  llvm::SmallVector<int64_t> order;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (axis != axis_) order.push_back(axis);
  }
  if (axis_ >= 0) {
    lanes_ = choose_lanes();
    for (auto combine : op_.getBody().front().getOps<tile::CombineOp>()) {
      if (memory_step(combine.getBuffer(), combine.getIndices(), axis_) == 0) horizontal_.push_back(combine);
    }
  }
  return emit_outer(order, 0);
}

bool MapEmitter::straight_line() {
  for (mlir::Operation& op : op_.getBody().front()) {
    if (mlir::isa<tile::ReadOp, tile::WriteOp, tile::CombineOp>(op)) continue;
    if (mlir::isa<arith::ConstantOp>(op)) continue;
    if (!mlir::isa<arith::ArithDialect, mlir::math::MathDialect>(op.getDialect())) return false;
    if (op.getNumRegions() != 0 || op.getNumResults() != 1) return false;
    if (!op.hasTrait<mlir::OpTrait::Vectorizable>()) return false;
  }
  return true;
}

std::optional<int64_t> MapEmitter::index_step(Value index, int64_t axis) {
  if (index == op_.getBody().getArgument(static_cast<unsigned>(axis))) return 1;
  if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(index)) return 0;
  mlir::Operation* def = index.getDefiningOp();
  if (!op_->isProperAncestor(def)) return 0;
  if (mlir::isa<arith::ConstantOp>(def)) return 0;
  auto binary = [&](auto join) -> std::optional<int64_t> {
    const auto a = index_step(def->getOperand(0), axis), b = index_step(def->getOperand(1), axis);
    if (!a || !b) return std::nullopt;
    return join(*a, *b);
  };
  if (mlir::isa<arith::AddIOp>(def)) return binary([](int64_t a, int64_t b) { return a + b; });
  if (mlir::isa<arith::SubIOp>(def)) return binary([](int64_t a, int64_t b) { return a - b; });
  if (mlir::isa<arith::IndexCastOp>(def)) return index_step(def->getOperand(0), axis);
  if (mlir::isa<arith::MulIOp>(def)) {
    for (int side = 0; side < 2; ++side) {
      const auto step = index_step(def->getOperand(side), axis);
      const auto factor = mlir::getConstantIntValue(def->getOperand(1 - side));
      if (step && *step == 0 && index_step(def->getOperand(1 - side), axis) == 0) return 0;
      if (step && factor) return *step * *factor;
    }
    return std::nullopt;
  }
  for (Value operand : def->getOperands()) {
    if (index_step(operand, axis) != 0) return std::nullopt;
  }
  return 0;
}

std::optional<int64_t> MapEmitter::memory_step(Value buffer, mlir::ValueRange indices, int64_t axis) {
  const BufferRef& ref = emitter_.buffer(buffer);
  int64_t total = 0;
  for (auto [dim, index] : llvm::enumerate(indices)) {
    const auto step = index_step(index, axis);
    if (!step) return std::nullopt;
    if (*step == 0) continue;
    if (ref.panels) {
      // Along the panels' axis a vector stays within a panel only where it starts at one of its multiples: the map's
      // own index does.
      if (static_cast<int64_t>(dim) == ref.panels->axis) {
        const bool aligned = index == op_.getBody().getArgument(static_cast<unsigned>(axis));
        if (!aligned || *step != 1) return std::nullopt;
        total += 1;
      } else {
        total += *step * ref.panels->width;
      }
      continue;
    }
    const auto stride = mlir::getConstantIntValue(ref.strides[dim]);
    if (!stride) return std::nullopt;
    total += *step * *stride;
  }
  return total;
}

int64_t MapEmitter::choose_axis() {
  int64_t best = -1, best_score = 0;
  for (int64_t axis = 0; axis < op_.rank(); ++axis) {
    int64_t score = 0;
    for (mlir::Operation& op : op_.getBody().front()) {
      Value buffer;
      mlir::ValueRange indices;
      bool writes = true;
      if (auto read = mlir::dyn_cast<tile::ReadOp>(op)) {
        buffer = read.getBuffer(), indices = read.getIndices(), writes = false;
      } else if (auto write = mlir::dyn_cast<tile::WriteOp>(op)) {
        buffer = write.getBuffer(), indices = write.getIndices();
      } else if (auto combine = mlir::dyn_cast<tile::CombineOp>(op)) {
        buffer = combine.getBuffer(), indices = combine.getIndices();
      } else {
        continue;
      }
      const auto step = memory_step(buffer, indices, axis);
      // A write that does not move with the axis is the same element over and over: no axis for vectors.
      if (step == 0 && mlir::isa<tile::WriteOp>(op)) score -= 100;
      if (step == 1) score += writes ? 4 : 3;
      if (!step || (*step != 0 && *step != 1)) score -= 2;
    }
    const auto size = mlir::getConstantIntValue(op_.mixed_sizes()[axis]);
    if (size && *size == 1) score = -1;
    if (score > 0 && score >= best_score) best = axis, best_score = score;
  }
  return best;
}

int64_t MapEmitter::choose_lanes() {
  int64_t widest = 32;
  bool packed = false;
  int64_t panel_width = 0;
  for (mlir::Operation& op : op_.getBody().front()) {
    for (mlir::Type type : op.getResultTypes()) {
      if (type.isF64() || type.isInteger(64)) widest = 64;
    }
    for (Value operand : op.getOperands()) {
      if (auto type = mlir::dyn_cast<mlir::MemRefType>(operand.getType())) {
        packed |= tile::is_packed(type.getElementType());
        if (const auto& panels = emitter_.buffer(operand).panels) panel_width = panels->width;
      }
    }
  }
  int64_t lanes = emitter_.target_.lanes(static_cast<int>(widest));
  if (packed) lanes = std::max<int64_t>(lanes, 8);
  while (panel_width != 0 && panel_width % lanes != 0) lanes /= 2;
  const auto size = mlir::getConstantIntValue(op_.mixed_sizes()[axis_]);
  while (size && *size < lanes && lanes > 2) lanes /= 2;
  return lanes;
}

int64_t MapEmitter::choose_unroll() {
  if (horizontal_.empty()) return 1;
  const auto size = mlir::getConstantIntValue(op_.mixed_sizes()[axis_]);
  int64_t unroll = 4;
  while (size && unroll > 1 && *size < lanes_ * unroll) unroll /= 2;
  return unroll;
}

bool MapEmitter::may_stream(tile::WriteOp write) {
  const BufferRef& ref = emitter_.buffer(write.getBuffer());
  if (!ref.argument || ref.storage != ref.element || tile::is_packed(ref.storage)) return false;
  if (memory_step(write.getBuffer(), write.getIndices(), axis_) != 1) return false;
  const int64_t bytes = lanes_ * tile::storage_bits(ref.storage) / 8;
  return bytes >= 16 && llvm::none_of(op_.getBody().front().getOps<tile::ReadOp>(), [&](tile::ReadOp read) {
           return tile::root_buffer(read.getBuffer()) == tile::root_buffer(write.getBuffer());
         });
}

// Rows that begin at a multiple of the vector, of tensors that the caches would not hold anyway.
Value MapEmitter::streaming_condition() {
  const Target& target = emitter_.target_;
  const int64_t threshold = target.l3 > 0 ? target.l3 : int64_t{8} << 20;
  Value all;
  for (auto write : op_.getBody().front().getOps<tile::WriteOp>()) {
    if (!may_stream(write)) continue;
    const BufferRef& ref = emitter_.buffer(write.getBuffer());
    const int64_t element_bytes = tile::storage_bits(ref.storage) / 8;
    Value bytes = elements_.index(element_bytes);
    int64_t fixed = element_bytes;
    bool dynamic = false;
    for (OpFoldResult size : ref.sizes) {
      if (const auto known = mlir::getConstantIntValue(size)) {
        fixed *= *known;
      } else {
        dynamic = true;
      }
      bytes = elements_.mul(bytes, size);
    }
    if (!dynamic && fixed <= threshold) return {};
    lane_values_[op_.getBody().getArgument(static_cast<unsigned>(axis_))] = LaneValue{elements_.index(int64_t{0}), 0};
    // Index arithmetic of the body, for the first element.
    mlir::IRMapping start;
    for (mlir::BlockArgument argument : op_.getBody().getArguments()) start.map(argument, lookup(argument).scalar);
    llvm::SmallVector<Value> indices;
    for (Value index : write.getIndices()) {
      Value found = clone_index(index, start);
      if (!found) return {};
      indices.push_back(found);
    }
    Value address = builder_.create<mlir::LLVM::PtrToIntOp>(builder_.getI64Type(),
                                                            elements_.address(ref, elements_.position(ref, indices)));
    Value below =
        builder_.create<arith::AndIOp>(address, builder_.create<arith::ConstantIntOp>(lanes_ * element_bytes - 1, 64));
    Value holds =
        builder_.create<arith::CmpIOp>(arith::CmpIPredicate::eq, below, builder_.create<arith::ConstantIntOp>(0, 64));
    if (dynamic) {
      Value large = builder_.create<arith::CmpIOp>(arith::CmpIPredicate::ugt, bytes, elements_.index(threshold));
      holds = builder_.create<arith::AndIOp>(holds, large);
    }
    all = all ? builder_.create<arith::AndIOp>(all, holds).getResult() : holds;
  }
  return all;
}

// An index of the body computed outside of it; null where it depends on memory.
Value MapEmitter::clone_index(Value index, mlir::IRMapping& start) {
  if (Value known = start.lookupOrNull(index)) return known;
  mlir::Operation* def = index.getDefiningOp();
  if (!def || !op_->isProperAncestor(def)) return emitter_.value(index);
  if (!mlir::isMemoryEffectFree(def) || def->getNumRegions() != 0) return {};
  for (Value operand : def->getOperands()) {
    Value copy = clone_index(operand, start);
    if (!copy) return {};
    start.map(operand, copy);
  }
  return builder_.clone(*def, start)->getResult(0);
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
      mlir::Type type = mlir::VectorType::get({lanes_}, combine.getValue().getType());
      carried.push_back(elements_.identity(combine.getCombine(), type));
    }
  }
  const size_t group = horizontal_.size();

  auto run = [&](Value lower, Value end, int64_t copies) {
    mlir::OpBuilder::InsertionGuard guard(builder_);
    scf::ForOp loop = emitter_.make_loop(lower, end, elements_.index(lanes_ * copies), carried);
    llvm::SmallVector<Value> inside(loop.getRegionIterArgs());
    for (int64_t copy = 0; copy < copies; ++copy) {
      Value start = elements_.add(loop.getInductionVar(), copy == 0 ? Value() : elements_.index(copy * lanes_));
      emit_lanes(start, lanes_, {}, llvm::MutableArrayRef<Value>(inside).slice(copy * group, group));
    }
    if (!carried.empty()) builder_.create<scf::YieldOp>(inside);
    carried.assign(loop.getResults().begin(), loop.getResults().end());
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
      mlir::OpBuilder::InsertionGuard guard(builder_);
      auto branch = builder_.create<scf::IfOp>(streams, /*withElseRegion=*/true);
      builder_.setInsertionPointToStart(branch.thenBlock());
      streaming_ = emitter_.streams_ = true;
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

void MapEmitter::finish_accumulators(llvm::ArrayRef<Value> accumulators) {
  const size_t group = horizontal_.size();
  for (auto [index, combine] : llvm::enumerate(horizontal_)) {
    const tile::Combine kind = combine.getCombine();
    Value total = accumulators[index];
    for (size_t other = index + group; other < accumulators.size(); other += group) {
      total = elements_.combine(kind, total, accumulators[other], combine.getPropagateNan(), /*never_nan=*/true);
    }
    total = elements_.across(kind, total, combine.getPropagateNan());
    const BufferRef& ref = emitter_.buffer(combine.getBuffer());
    Value position = elements_.position(ref, lane_indices(combine.getIndices(), 0));
    Value joined = elements_.combine(kind, elements_.load(ref, position, 1), total, combine.getPropagateNan());
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
  Value result = op.getResult(0);
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

void MapEmitter::emit_read(tile::ReadOp op, int64_t lanes, Value mask) {
  const BufferRef& ref = emitter_.buffer(op.getBuffer());
  const auto step = memory_step(op.getBuffer(), op.getIndices(), axis_);
  if (step == 0) {
    Value position = elements_.position(ref, lane_indices(op.getIndices(), 0));
    lane_values_[op.getValue()] = LaneValue{elements_.load(ref, position, 1)};
    return;
  }
  LaneValue result;
  const bool packed = tile::is_packed(ref.storage);
  // Lanes of packed types are taken together only from the map's own index on, which starts at a whole byte.
  const bool aligned =
      !packed || (op.getIndices().back() == op_.getBody().getArgument(static_cast<unsigned>(axis_)) && !ref.offset);
  if (step == 1 && aligned) {
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
  const bool packed = tile::is_packed(ref.storage);
  const bool aligned =
      !packed || (indices.back() == op_.getBody().getArgument(static_cast<unsigned>(axis_)) && !ref.offset);
  if (memory_step(buffer, indices, axis_) == 1 && aligned) {
    elements_.store(ref, what, elements_.position(ref, lane_indices(indices, 0)), lanes, mask, exact,
                    streaming_ && may_stream(op));
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
  if (mask) what = builder_.create<arith::SelectOp>(mask, what, elements_.identity(kind, what.getType()));
  for (auto [index, kept] : llvm::enumerate(horizontal_)) {
    if (kept != op) continue;
    accumulators[index] = elements_.combine(kind, accumulators[index], what, op.getPropagateNan(), /*never_nan=*/true);
    return;
  }
  const BufferRef& ref = emitter_.buffer(op.getBuffer());
  if (memory_step(op.getBuffer(), op.getIndices(), axis_) == 1 && !tile::is_packed(ref.storage)) {
    Value position = elements_.position(ref, lane_indices(op.getIndices(), 0));
    Value joined = elements_.combine(kind, elements_.load(ref, position, lanes, mask), what, op.getPropagateNan());
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
        elements_.combine(kind, elements_.load(ref, position, 1), elements_.lane(what, lane), op.getPropagateNan());
    elements_.store(ref, joined, position, 1);
  }
}

}  // namespace deep_accel::compile
