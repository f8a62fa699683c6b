// Maps that pack a tile in panels of groups: `group` neighbours along K side by side, which some products take at once.
//
// A row of the tile is as far from the next in memory as in the source, so that storing element by element would cost
// more than the product. Instead the rows of a group are computed side by side in vectors, joined in words of 32 bits,
// and stored together.
#include "deep_accel/compile/lower/map_emitter.h"

namespace deep_accel::compile {

using mlir::Value;
namespace arith = mlir::arith;
namespace scf = mlir::scf;

namespace {

constexpr int64_t kWordBits = 32;

// The map's axis that an index is, -1 where it is more than that.
int64_t axis_of(tile::MapOp op, Value index) {
  auto argument = mlir::dyn_cast<mlir::BlockArgument>(index);
  return argument && argument.getOwner() == &op.getBody().front() ? static_cast<int64_t>(argument.getArgNumber()) : -1;
}

}  // namespace

tile::WriteOp MapEmitter::grouped_write() {
  tile::WriteOp found;
  for (mlir::Operation& op : op_.getBody().front()) {
    if (mlir::isa<tile::CombineOp>(op)) return {};
    auto write = mlir::dyn_cast<tile::WriteOp>(op);
    if (write && found) return {};
    if (write) found = write;
  }
  if (!found) return {};
  const BufferRef& ref = emitter_.buffer(found.getBuffer());
  if (!ref.panels || ref.panels->group == 1 || ref.offset) return {};
  const int64_t group = ref.panels->group;
  if (group * tile::storage_bits(ref.storage) != kWordBits) return {};
  const int64_t along = axis_of(op_, found.getIndices()[ref.panels->axis]);
  const int64_t across = axis_of(op_, found.getIndices()[1 - ref.panels->axis]);
  if (along < 0 || across < 0 || along == across) return {};
  const auto rows = mlir::getConstantIntValue(op_.mixed_sizes()[across]);
  if (!rows || *rows % group != 0) return {};
  // Sources that do not run along the panel are better read the other way.
  for (auto read : op_.getBody().front().getOps<tile::ReadOp>()) {
    const auto step = memory_step(read.getBuffer(), read.getIndices(), along);
    if (step != 0 && step != 1) return {};
    if (tile::is_packed(read.getBuffer().getType().getElementType())) return {};
  }
  for (mlir::Operation& op : op_.getBody().front()) {
    for (mlir::Type type : op.getResultTypes()) {
      if (type.isF64() || type.isInteger(64)) return {};
    }
  }
  return found;
}

mlir::LogicalResult MapEmitter::emit_grouped(tile::WriteOp write) {
  const BufferRef& ref = emitter_.buffer(write.getBuffer());
  axis_ = axis_of(op_, write.getIndices()[ref.panels->axis]);
  const int64_t across = axis_of(op_, write.getIndices()[1 - ref.panels->axis]);
  lanes_ = emitter_.target_.lanes(kWordBits);
  while (ref.panels->width % lanes_ != 0) lanes_ /= 2;
  const auto fixed = mlir::getConstantIntValue(op_.mixed_sizes()[axis_]);
  while (fixed && lanes_ > *fixed && lanes_ > 1) lanes_ /= 2;

  mlir::OpBuilder::InsertionGuard guard(builder_);
  auto size_of = [&](int64_t axis) {
    mlir::OpFoldResult size = op_.mixed_sizes()[axis];
    return mlir::getConstantIntValue(size) ? elements_.index(size) : emitter_.value(mlir::cast<Value>(size));
  };
  auto argument = [&](int64_t axis) { return op_.getBody().getArgument(static_cast<unsigned>(axis)); };
  auto bind = [&](int64_t axis, Value index) {
    emitter_.map_.map(argument(axis), index);
    lane_values_[argument(axis)] = LaneValue{index};
  };
  Value zero = elements_.index(int64_t{0}), one = elements_.index(int64_t{1});
  for (int64_t axis = 0; axis < op_.rank(); ++axis) {
    if (axis == axis_ || axis == across) continue;
    bind(axis, emitter_.make_loop(zero, size_of(axis), one).getInductionVar());
  }
  Value group = elements_.index(ref.panels->group);
  Value first = emitter_.make_loop(zero, size_of(across), group).getInductionVar();

  Value size = size_of(axis_), done = zero;
  if (lanes_ > 1) {
    const mlir::OpFoldResult step = builder_.getIndexAttr(lanes_);
    done = fixed ? elements_.index(*fixed / lanes_ * lanes_)
                 : elements_.mul(builder_.createOrFold<arith::DivUIOp>(size, elements_.index(step)), step);
    mlir::OpBuilder::InsertionGuard inside(builder_);
    emit_words(write, emitter_.make_loop(zero, done, elements_.index(step)).getInductionVar(), first);
  }
  if (fixed && *fixed % lanes_ == 0 && lanes_ > 1) return mlir::success();
  // What is left of a row, element by element.
  bind(axis_, emitter_.make_loop(done, size, one).getInductionVar());
  Value inner = emitter_.make_loop(zero, group, one).getInductionVar();
  bind(across, elements_.add(first, inner));
  return emit_scalar();
}

// One vector of words: the group's rows from `across` on, each along lanes from `along` on.
void MapEmitter::emit_words(tile::WriteOp write, Value along, Value across) {
  const BufferRef ref = emitter_.buffer(write.getBuffer());
  const int64_t group = ref.panels->group, bits = kWordBits / group;
  const mlir::BlockArgument row =
      op_.getBody().getArgument(static_cast<unsigned>(axis_of(op_, write.getIndices()[1 - ref.panels->axis])));
  auto type = mlir::VectorType::get({lanes_}, builder_.getI32Type());
  Value words;
  for (int64_t member = 0; member < group; ++member) {
    lane_values_[op_.getBody().getArgument(static_cast<unsigned>(axis_))] = LaneValue{along, 1};
    lane_values_[row] = LaneValue{elements_.add(across, elements_.index(member))};
    for (mlir::Operation& op : op_.getBody().front()) {
      builder_.setLoc(op.getLoc());
      if (&op != write) emit_lane_op(op, lanes_, {}, {});
    }
    Value raw =
        elements_.raw_lanes(ref, as_vector(write.getValue(), lanes_), writes_exactly(write.getValue(), ref.element));
    Value word = builder_.create<arith::ExtUIOp>(type, raw);
    if (member > 0) {
      Value shift = elements_.constant_like(type, static_cast<double>(member * bits));
      word = builder_.create<arith::OrIOp>(words, builder_.create<arith::ShLIOp>(word, shift));
    }
    words = word;
  }
  llvm::SmallVector<Value> indices(2);
  indices[ref.panels->axis] = along;
  indices[1 - ref.panels->axis] = across;
  builder_.create<mlir::LLVM::StoreOp>(words, elements_.address(ref, elements_.position(ref, indices)), kWordBits / 8);
}

}  // namespace deep_accel::compile
