// Threads of a block, checks, and foreign code.
#include "deep_accel/tile/builder/state.h"

namespace deep_accel::tile {

namespace {

mlir::IntegerAttr optional_integer(BuilderState& s, std::optional<int64_t> value) {
  return value ? s.builder.getI64IntegerAttr(*value) : mlir::IntegerAttr();
}

void require_threads(BuilderState& s, std::string_view function) {
  if (!s.inside(BuilderState::Kind::threads)) {
    s.fail(std::string(function) +
           ": only inside of threads, where there are several; put the code into threads({...}, ...)");
  }
}

llvm::StringRef text_of(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

void Builder::barrier(std::optional<int64_t> id, std::optional<int64_t> count, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  require_threads(s, "barrier");
  s.checked<BarrierOp>(optional_integer(s, id), optional_integer(s, count));
}

Scalar Builder::shuffle(ShuffleMode mode, const Scalar& value, const Scalar& lane, int64_t width, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  require_threads(s, "shuffle");
  mlir::Value operand = s.value(value, value.type() == ScalarType::index ? ScalarType::i64 : value.type());
  return s.wrap(s.checked<ShuffleOp>(operand.getType(), static_cast<Shuffle>(mode), operand,
                                     s.value(lane, ScalarType::i32), static_cast<uint64_t>(width))
                    .getResult());
}

Scalar Builder::vote(VoteMode mode, const Scalar& condition, int64_t width, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  require_threads(s, "vote");
  return s.wrap(s.checked<VoteOp>(s.mlir_type(ScalarType::i32), static_cast<Vote>(mode),
                                  s.value(condition, ScalarType::boolean), static_cast<uint64_t>(width))
                    .getResult());
}

void Builder::assume(const Scalar& condition, Where where) {
  state_->at(where);
  state_->checked<AssumeOp>(state_->value(condition, ScalarType::boolean));
}

void Builder::assert_(const Scalar& condition, std::string_view message, Where where) {
  state_->at(where);
  state_->checked<AssertOp>(state_->value(condition, ScalarType::boolean), text_of(message));
}

void Builder::print(std::string_view text, const Scalars& values, Where where) {
  state_->at(where);
  llvm::SmallVector<mlir::Value> operands;
  for (const Scalar& value : values) operands.push_back(state_->value(value));
  state_->checked<PrintOp>(text_of(text), operands);
}

void Builder::print(std::string_view text, const TileBuffer& buffer, Where where) {
  state_->at(where);
  state_->require_own(buffer, "print", "buffer");
  state_->checked<PrintOp>(text_of(text), mlir::ValueRange(mlir::Value(BuilderState::unwrap(buffer))));
}

std::optional<Scalar> Builder::extern_(std::string_view symbol, const std::vector<ExternOperand>& operands,
                                       std::optional<ScalarType> result, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<int64_t> reads, writes;
  for (auto [number, operand] : llvm::enumerate(operands)) {
    if (operand.scalar) {
      values.push_back(s.value(*operand.scalar));
      continue;
    }
    s.require_own(*operand.buffer, "extern", "operand " + std::to_string(number));
    values.push_back(BuilderState::unwrap(*operand.buffer));
    if (operand.role != ArgumentRole::out) reads.push_back(static_cast<int64_t>(number));
    if (operand.role != ArgumentRole::in) writes.push_back(static_cast<int64_t>(number));
  }
  auto op = s.checked<ExternOp>(result ? mlir::TypeRange(s.mlir_type(*result)) : mlir::TypeRange(),
                                mlir::FlatSymbolRefAttr::get(s.context.get(), text_of(symbol)), values,
                                s.builder.getDenseI64ArrayAttr(reads), s.builder.getDenseI64ArrayAttr(writes));
  if (!result) return std::nullopt;
  return s.wrap(op.getResult());
}

}  // namespace deep_accel::tile
