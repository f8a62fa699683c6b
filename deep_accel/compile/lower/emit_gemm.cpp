// Products: register tiles of accumulators that stay in registers across K, updated by outer products (a column of a,
// broadcast, times a row of b in vectors).
//
// The rows of a register tile are walked outside, its columns inside: a strip of a (rows x K) stays in the first cache
// while b's panels stream past it. Scales are applied to the partial sums of each K block.
//
// With `tile.group`, one instruction takes a group of neighbours along K: a and b are then read as matrices of words of
// 32 bits, a group each, and K counts words.
#include <numeric>

#include "deep_accel/compile/lower/emit_dot.h"
#include "deep_accel/compile/lower/emitter.h"
#include "deep_accel/compile/passes/strips.h"
#include "deep_accel/compile/target/tile_product.h"

namespace deep_accel::compile {

using mlir::Value;
namespace arith = mlir::arith;
namespace scf = mlir::scf;

class GemmEmitter {
 public:
  GemmEmitter(Emitter& emitter, tile::GemmOp op)
      : emitter_(emitter),
        elements_(emitter.elements_),
        builder_(emitter.builder_),
        op_(op),
        a_(emitter.buffer(op.getA())),
        b_(emitter.buffer(op.getB())),
        acc_(emitter.buffer(op.getAcc())) {
    // Factors are read as they lie, decoded.
    a_.element = a_.storage;
    b_.element = b_.storage;
  }

  mlir::LogicalResult emit();

 private:
  struct Block {
    Value row, column;  // where the register tile begins
    int64_t rows;       // of the register tile
    int64_t columns;    // elements
    int64_t vectors() const { return (columns + lanes - 1) / lanes; }
    int64_t lanes;
  };

  void emit_strips(int64_t from, int64_t count, int64_t rows);
  void emit_columns(Value row, int64_t rows);
  Value live_end(unsigned axis, int64_t from, int64_t count, int64_t size);
  llvm::SmallVector<PrefetchRun> prefetches(const Block& block);
  void emit_block(const Block& block);
  void emit_tile_product(const Block& block);
  // partial[r, v] += sum of a[r, k] b[k, v] for k in [from, from + count), as far as the product is live
  llvm::SmallVector<Value> emit_products(const Block& block, Value from, int64_t count,
                                         llvm::SmallVector<Value> accumulators, llvm::ArrayRef<PrefetchRun> ahead = {});
  llvm::SmallVector<PrefetchRun> in_product(const Block& block, llvm::SmallVector<PrefetchRun> ahead);
  // A column of a: for each row of the block its element in every lane.
  llvm::SmallVector<Value> a_column(const Block& block, Value k, int64_t step);
  Value a_element(const Block& block, Value k, int64_t r, int64_t step);
  // a's element `behind` a position in every lane, by the target's own instruction; null where it has none.
  Value load_broadcast(const Block& block, Value position, int64_t behind);
  Value b_vector(const Block& block, Value k, int64_t v, int64_t step);
  Value scale(const BufferRef& scales, Value row, Value column);
  Value scale_of_b(const Block& block, Value k, int64_t v);
  Value mask(const Block& block, int64_t v);
  Value acc_position(const Block& block, int64_t r, int64_t v);
  mlir::VectorType vector_type(const Block& block) { return mlir::VectorType::get({block.lanes}, sum_type()); }
  // Of the sums, and of the factors, in registers.
  mlir::Type sum_type() { return tile::compute_type(acc_.element); }
  mlir::Type factor_type() { return group_ > 1 ? builder_.getI32Type() : sum_type(); }
  void read_in_words();
  BufferRef in_words(const BufferRef& ref, int64_t k_dim);
  // For each row what a dot product of all of K adds to its sums too much (emit_dot.h), as vectors; none where nothing.
  llvm::SmallVector<Value> surplus(Value row, int64_t rows);

  Emitter& emitter_;
  Elements& elements_;
  mlir::ImplicitLocOpBuilder& builder_;
  tile::GemmOp op_;
  BufferRef a_, b_, acc_;
  Strips strips_{};
  int64_t register_rows_ = 1, register_columns_ = 1, lanes_ = 1;
  int64_t group_ = 1, k_ = 0;  // neighbours along K in a word; words along K
  DotFactors factors_;
  std::optional<DotEmitter> dot_;
  llvm::SmallVector<Value> surplus_;  // of the strip being emitted
};

mlir::LogicalResult Emitter::emit_gemm(tile::GemmOp op) {
  mlir::OpBuilder::InsertionGuard guard(builder_);
  return GemmEmitter(*this, op).emit();
}

mlir::LogicalResult GemmEmitter::emit() {
  auto tile_shape = op_->getAttrOfType<mlir::DenseI64ArrayAttr>("tile.register_tile");
  if (!tile_shape) return op_.emitOpError("has no register tile; run the pass that selects layouts first");
  register_rows_ = tile_shape[0];
  register_columns_ = tile_shape[1];
  lanes_ =
      std::min<int64_t>(emitter_.target_.lanes(static_cast<int>(tile::storage_bits(acc_.element))), register_columns_);
  read_in_words();
  strips_ = divide_in_strips(op_.m(), register_rows_);
  if (a_.panels && a_.panels->width > 1) {
    // Strips are the left factor's panels, the last of which may not be full.
    const int64_t m = op_.m(), whole = m / register_rows_ * register_rows_;
    strips_.high = register_rows_;
    emit_strips(0, m / register_rows_, register_rows_);
    emit_strips(whole, whole < m ? 1 : 0, m - whole);
  } else {
    emit_strips(0, strips_.tall, strips_.high);
    emit_strips(strips_.tall * strips_.high, strips_.count - strips_.tall, strips_.high - 1);
  }
  emitter_.end_prefetches(PrefetchHost::product);
  return mlir::success();
}

void GemmEmitter::read_in_words() {
  k_ = op_.k();
  auto group = op_->getAttrOfType<mlir::IntegerAttr>("tile.group");
  if (!group) return;
  group_ = group.getInt();
  k_ /= group_;
  factors_ = {.bf16 = a_.storage.isBF16(),
              .a_unsigned = a_.storage.isUnsignedInteger(),
              .b_unsigned = b_.storage.isUnsignedInteger()};
  dot_.emplace(builder_, emitter_.target_, factors_);
  a_ = in_words(a_, op_.getTransposeA() ? 0 : 1);
  b_ = in_words(b_, op_.getTransposeB() ? 1 : 0);
}

BufferRef GemmEmitter::in_words(const BufferRef& ref, int64_t k_dim) {
  BufferRef words = ref;
  words.base = elements_.address(ref, ref.offset ? ref.offset : elements_.index(int64_t{0}));
  words.offset = {};
  words.element = words.storage = builder_.getI32Type();
  if (words.panels) {
    words.panels->rows /= group_;
    words.panels->group = 1;
    return words;
  }
  // Along K a step is a word now; the rows' distance counts words.
  mlir::OpFoldResult& rows = words.strides[1 - k_dim];
  rows = builder_.getIndexAttr(*mlir::getConstantIntValue(rows) / group_);
  return words;
}

// `count` strips of `rows` rows from row `from` on.
void GemmEmitter::emit_strips(int64_t from, int64_t count, int64_t rows) {
  if (count == 0) return;
  mlir::OpBuilder::InsertionGuard guard(builder_);
  Value end = live_end(0, from, count, rows);
  if (count == 1 && !end) return emit_columns(elements_.index(from), rows);
  if (!end) end = elements_.index(from + count * rows);
  scf::ForOp loop = emitter_.make_loop(elements_.index(from), end, elements_.index(rows));
  emit_columns(loop.getInductionVar(), rows);
}

void GemmEmitter::emit_columns(Value row, int64_t rows) {
  surplus_ = surplus(row, rows);
  const int64_t n = op_.n(), whole = n / register_columns_ * register_columns_;
  if (whole > 0) {
    mlir::OpBuilder::InsertionGuard guard(builder_);
    Value end = live_end(1, 0, whole / register_columns_, register_columns_);
    if (!end) end = elements_.index(whole);
    scf::ForOp loop = emitter_.make_loop(elements_.index(int64_t{0}), end, elements_.index(register_columns_));
    emit_block(Block{row, loop.getInductionVar(), rows, register_columns_, lanes_});
  }
  if (whole == n) return;
  mlir::OpBuilder::InsertionGuard guard(builder_);
  Block rest{row, elements_.index(whole), rows, n - whole, lanes_};
  if (Value end = live_end(1, whole, 1, n - whole)) {
    rest.column = emitter_.make_loop(rest.column, end, elements_.index(n - whole)).getInductionVar();
  }
  emit_block(rest);
}

// Where `count` pieces of `size` from `from` on end, of those that the product's live part along an axis touches; null
// where all of it is live.
Value GemmEmitter::live_end(unsigned axis, int64_t from, int64_t count, int64_t size) {
  if (op_.getLive().empty()) return {};
  Value left = emitter_.value(op_.getLive()[axis]);
  if (mlir::getConstantIntValue(left) >= from + count * size) return {};
  if (axis == 2 && group_ > 1) left = builder_.create<arith::CeilDivSIOp>(left, elements_.index(group_));
  left = builder_.create<arith::SubIOp>(left, elements_.index(from));
  Value pieces = builder_.create<arith::CeilDivSIOp>(left, elements_.index(size));
  Value end = elements_.add(elements_.mul(pieces, builder_.getIndexAttr(size)), elements_.index(from));
  return builder_.create<arith::MinSIOp>(end, elements_.index(from + count * size));
}

Value GemmEmitter::mask(const Block& block, int64_t v) {
  const int64_t left = block.columns - v * block.lanes;
  if (left >= block.lanes) return {};
  llvm::SmallVector<bool> on;
  for (int64_t lane = 0; lane < block.lanes; ++lane) on.push_back(lane < left);
  auto type = mlir::VectorType::get({block.lanes}, builder_.getI1Type());
  return builder_.create<arith::ConstantOp>(mlir::DenseElementsAttr::get(type, llvm::ArrayRef<bool>(on)));
}

Value GemmEmitter::acc_position(const Block& block, int64_t r, int64_t v) {
  Value position = elements_.position(acc_, {block.row, block.column});
  const int64_t stride = *mlir::getConstantIntValue(acc_.strides[0]);
  return elements_.add(position, elements_.index(r * stride + v * block.lanes));
}

llvm::SmallVector<Value> GemmEmitter::a_column(const Block& block, Value k, int64_t step) {
  llvm::SmallVector<Value> column;
  const bool by_lane = emitter_.target_.fma_by_lane && a_.panels && a_.panels->width == register_rows_ &&
                       register_rows_ % block.lanes == 0 && a_.storage == factor_type();
  if (!by_lane) {
    for (int64_t r = 0; r < block.rows; ++r) column.push_back(a_element(block, k, r, step));
    return column;
  }
  const bool transposed = op_.getTransposeA();
  Value position = elements_.position(a_, transposed ? mlir::ValueRange{k, block.row} : mlir::ValueRange{block.row, k});
  Value rows;
  for (int64_t r = 0; r < block.rows; ++r) {
    if (r % block.lanes == 0) {
      Value where = elements_.add(position, elements_.index(step * a_.panels->width + r));
      rows = elements_.load(a_, where, block.lanes);
    }
    const llvm::SmallVector<int64_t> lane(static_cast<size_t>(block.lanes), r % block.lanes);
    column.push_back(builder_.create<mlir::vector::ShuffleOp>(rows, rows, lane));
  }
  return column;
}

Value GemmEmitter::load_broadcast(const Block& block, Value position, int64_t behind) {
  constexpr int64_t kReach = 2048;  // of the immediate, in bytes
  const Target& target = emitter_.target_;
  const int64_t bytes = 4;
  if (target.load_broadcast.empty() || tile::storage_bits(a_.storage) != 8 * bytes || behind * bytes >= kReach)
    return {};
  if (block.lanes != target.lanes(8 * bytes) || a_.storage != sum_type()) return {};
  auto type = mlir::VectorType::get({block.lanes}, builder_.getI32Type());
  Value offset = builder_.create<arith::ConstantIntOp>(behind * bytes, 32);
  Value loaded = builder_
                     .create<mlir::LLVM::CallIntrinsicOp>(type, llvm::StringRef(target.load_broadcast),
                                                          mlir::ValueRange{elements_.address(a_, position), offset})
                     .getResults();
  return type == vector_type(block) ? loaded : builder_.create<arith::BitcastOp>(vector_type(block), loaded);
}

Value GemmEmitter::a_element(const Block& block, Value k, int64_t r, int64_t step) {
  const bool transposed = op_.getTransposeA();
  Value position;
  if (a_.panels && a_.panels->width == register_rows_) {
    // The block's rows are one panel.
    position = elements_.position(a_, transposed ? mlir::ValueRange{k, block.row} : mlir::ValueRange{block.row, k});
    const int64_t behind = r + step * a_.panels->width;
    if (Value loaded = load_broadcast(block, position, behind)) return loaded;
    position = elements_.add(position, elements_.index(behind));
  } else if (a_.panels) {
    Value row = elements_.add(block.row, elements_.index(r)), column = elements_.add(k, elements_.index(step));
    position = elements_.position(a_, transposed ? mlir::ValueRange{column, row} : mlir::ValueRange{row, column});
  } else {
    position = elements_.position(a_, transposed ? mlir::ValueRange{k, block.row} : mlir::ValueRange{block.row, k});
    const int64_t row_stride = *mlir::getConstantIntValue(a_.strides[transposed ? 1 : 0]);
    const int64_t k_stride = *mlir::getConstantIntValue(a_.strides[transposed ? 0 : 1]);
    position = elements_.add(position, elements_.index(r * row_stride + step * k_stride));
  }
  return elements_.splat(elements_.converted(elements_.load(a_, position, 1), factor_type()), block.lanes);
}

Value GemmEmitter::b_vector(const Block& block, Value k, int64_t v, int64_t step) {
  const bool transposed = op_.getTransposeB();
  Value position =
      elements_.position(b_, transposed ? mlir::ValueRange{block.column, k} : mlir::ValueRange{k, block.column});
  const int64_t k_stride = b_.panels ? b_.panels->width : *mlir::getConstantIntValue(b_.strides[transposed ? 1 : 0]);
  position = elements_.add(position, elements_.index(step * k_stride + v * block.lanes));
  Value lanes = elements_.load(b_, position, block.lanes, b_.panels ? Value() : mask(block, v));
  if (dot_) return dot_->prepare_b(lanes);
  return elements_.converted(lanes, sum_type());
}

// The part of the prefetches that wait for this product that falls to one block.
llvm::SmallVector<PrefetchRun> GemmEmitter::prefetches(const Block& block) {
  const int64_t columns = llvm::divideCeil(op_.n(), register_columns_);
  auto divide = [&](Value a, int64_t b) { return builder_.createOrFold<arith::DivUIOp>(a, elements_.index(b)); };
  // Strips are counted by their first row; those with a row less make that a strip or so too few, which no hint minds.
  Value turn = elements_.add(elements_.mul(divide(block.row, strips_.high), builder_.getIndexAttr(columns)),
                             divide(block.column, register_columns_));
  return emitter_.prefetch_share(PrefetchHost::product, turn, strips_.count * columns);
}

// A prefetch whose condition does not hold asks for what is near, so that the product has no branches.
llvm::SmallVector<PrefetchRun> GemmEmitter::in_product(const Block& block, llvm::SmallVector<PrefetchRun> ahead) {
  for (PrefetchRun& run : ahead) {
    if (!run.op.getWhen()) continue;
    Value near = elements_.address(acc_, acc_position(block, 0, 0));
    run.start = builder_.create<arith::SelectOp>(emitter_.value(run.op.getWhen()), run.start, near);
  }
  return ahead;
}

llvm::SmallVector<Value> GemmEmitter::emit_products(const Block& block, Value from, int64_t count,
                                                    llvm::SmallVector<Value> accumulators,
                                                    llvm::ArrayRef<PrefetchRun> ahead) {
  const int64_t vectors = block.vectors();
  int64_t unroll = 4;
  while (count % unroll != 0) unroll /= 2;
  Value upper = op_.getScaleA() ? Value() : live_end(2, 0, count / unroll, unroll);
  if (!upper) upper = elements_.add(from, elements_.index(count));
  mlir::OpBuilder::InsertionGuard guard(builder_);
  scf::ForOp loop = emitter_.make_loop(from, upper, elements_.index(unroll), accumulators);
  emitter_.emit_prefetches_in_loop(ahead, loop.getInductionVar(), count, unroll);
  llvm::SmallVector<Value> running(loop.getRegionIterArgs());
  for (int64_t step = 0; step < unroll; ++step) {
    llvm::SmallVector<Value> row_of_b;
    for (int64_t v = 0; v < vectors; ++v) row_of_b.push_back(b_vector(block, loop.getInductionVar(), v, step));
    const llvm::SmallVector<Value> column_of_a = a_column(block, loop.getInductionVar(), step);
    for (int64_t r = 0; r < block.rows; ++r) {
      for (int64_t v = 0; v < vectors; ++v) {
        Value& accumulator = running[r * vectors + v];
        accumulator = dot_ ? dot_->dot(accumulator, column_of_a[r], row_of_b[v])
                           : elements_.fma(column_of_a[r], row_of_b[v], accumulator);
      }
    }
  }
  builder_.create<scf::YieldOp>(running);
  return llvm::SmallVector<Value>(loop.getResults());
}

// A block scale, in the type of the sums.
Value GemmEmitter::scale(const BufferRef& scales, Value row, Value column) {
  return elements_.converted(elements_.load(scales, elements_.position(scales, {row, column}), 1), sum_type());
}

// The scales of b along the lanes of vector `v`: one for all, or one for each lane.
Value GemmEmitter::scale_of_b(const Block& block, Value k, int64_t v) {
  const BufferRef& scales = emitter_.buffer(op_.getScaleB());
  auto type = op_.getScaleB().getType();
  const int64_t k_block = op_.k() / type.getDimSize(0), n_block = op_.n() / type.getDimSize(1);
  Value row = builder_.createOrFold<arith::DivUIOp>(k, elements_.index(k_block));
  auto scale_at = [&](int64_t lane) {
    Value column = elements_.add(block.column, elements_.index(std::min(v * block.lanes + lane, block.columns - 1)));
    Value index = builder_.createOrFold<arith::DivUIOp>(column, elements_.index(n_block));
    return scale(scales, row, index);
  };
  if (n_block % register_columns_ == 0) return elements_.splat(scale_at(0), block.lanes);
  Value joined = elements_.splat(scale_at(0), block.lanes);
  for (int64_t lane = 1; lane < block.lanes; ++lane) {
    joined = builder_.create<mlir::vector::InsertOp>(scale_at(lane), joined, lane);
  }
  return joined;
}

llvm::SmallVector<Value> GemmEmitter::surplus(Value row, int64_t rows) {
  if (!dot_ || !dot_->shifts_b() || op_->hasAttr("tile.tile_registers")) return {};
  // Rows lie in words side by side along K: several at once where their number allows.
  int64_t lanes = emitter_.target_.lanes(32);
  while (lanes >= 4 && k_ % lanes != 0) lanes /= 2;
  const bool single = lanes < 4;
  if (single) lanes = 4;
  auto type = mlir::VectorType::get({lanes}, builder_.getI32Type());
  llvm::SmallVector<Value> sums(static_cast<size_t>(rows), elements_.constant_like(type, 0));
  {
    mlir::OpBuilder::InsertionGuard guard(builder_);
    Value step = elements_.index(single ? 1 : lanes);
    scf::ForOp loop = emitter_.make_loop(elements_.index(int64_t{0}), elements_.index(k_), step, sums);
    for (int64_t r = 0; r < rows; ++r) {
      Value at = elements_.add(row, elements_.index(r)), k = loop.getInductionVar();
      Value position = elements_.position(a_, op_.getTransposeA() ? mlir::ValueRange{k, at} : mlir::ValueRange{at, k});
      Value words = elements_.splat(elements_.load(a_, position, single ? 1 : lanes), lanes);
      sums[r] = dot_->surplus_of_a(loop.getRegionIterArgs()[r], words);
    }
    builder_.create<scf::YieldOp>(sums);
    sums.assign(loop.getResults().begin(), loop.getResults().end());
  }
  for (Value& sum : sums) {
    sum = single ? elements_.lane(sum, 0) : elements_.across(tile::Combine::add, sum, false);
    sum = elements_.splat(sum, lanes_);
  }
  return sums;
}

// A block in AMX's tile registers.
void GemmEmitter::emit_tile_product(const Block& block) {
  using Kind = TileProduct::Kind;
  const auto& [bf16, a_unsigned, b_unsigned] = factors_;
  TileProduct product{.rows = block.rows, .columns = block.columns, .clear = op_.getClear()};
  product.kind = bf16         ? Kind::bf16
                 : a_unsigned ? (b_unsigned ? Kind::unsigned_unsigned : Kind::unsigned_signed)
                              : (b_unsigned ? Kind::signed_unsigned : Kind::signed_signed);
  mlir::Type pointer = emitter_.pointer_type(), i64 = builder_.getI64Type();
  auto type = builder_.getFunctionType({pointer, i64, pointer, i64, pointer, i64, i64}, {});
  const std::string name = product.name();
  if (!emitter_.module_.lookupSymbol(name)) {
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(emitter_.module_.getBody());
    builder_.create<mlir::func::FuncOp>(name, type).setPrivate();
  }
  Value zero = elements_.index(int64_t{0});
  auto first = [&](const BufferRef& ref, Value row, Value column, bool transposed) {
    if (transposed) std::swap(row, column);
    return elements_.address(ref, elements_.position(ref, {row, column}));
  };
  auto bytes = [&](int64_t words) -> Value { return builder_.create<arith::ConstantIntOp>(4 * words, 64); };
  const int64_t a_row = a_.panels ? a_.panels->rows : *mlir::getConstantIntValue(a_.strides[0]);
  const int64_t acc_row = *mlir::getConstantIntValue(acc_.strides[0]);
  const int64_t steps = 4 * k_ / TileProduct::kBytes;
  builder_.create<mlir::func::CallOp>(
      name, mlir::TypeRange{},
      mlir::ValueRange{first(a_, block.row, zero, op_.getTransposeA()), bytes(a_row),
                       first(b_, zero, block.column, op_.getTransposeB()), bytes(b_.panels->width),
                       first(acc_, block.row, block.column, false), bytes(acc_row),
                       builder_.create<arith::ConstantIntOp>(steps, 64)});
}

void GemmEmitter::emit_block(const Block& block) {
  if (op_->hasAttr("tile.tile_registers")) return emit_tile_product(block);
  const int64_t vectors = block.vectors(), k = op_.k();
  auto loaded = [&](int64_t r, int64_t v) {
    return elements_.load(acc_, acc_position(block, r, v), block.lanes, mask(block, v));
  };
  // Without scales the sums begin at zero and join the accumulator's tile at the end: so the block before need not have
  // been stored, nor this tile be in the first cache, for the multiplications to begin.
  const bool joins_at_end = !op_.getScaleA() && !op_.getClear(), starts_with_tile = op_.getScaleA() && !op_.getClear();
  llvm::SmallVector<Value> accumulators;
  Value zero = elements_.constant_like(vector_type(block), 0);
  for (int64_t r = 0; r < block.rows; ++r) {
    for (int64_t v = 0; v < vectors; ++v) {
      accumulators.push_back(starts_with_tile ? loaded(r, v) : zero);
      if (surplus_.empty()) continue;
      accumulators.back() = builder_.create<arith::SubIOp>(accumulators.back(), surplus_[r]);
    }
  }
  llvm::SmallVector<PrefetchRun> ahead = prefetches(block);
  Value start = elements_.index(int64_t{0});
  if (!op_.getScaleA()) {
    accumulators = emit_products(block, start, k_, accumulators, in_product(block, ahead));
  } else {
    for (const PrefetchRun& run : ahead) emitter_.emit_prefetch_run(run);
    const BufferRef& scales = emitter_.buffer(op_.getScaleA());
    auto a_type = op_.getScaleA().getType(), b_type = op_.getScaleB().getType();
    const int64_t a_block = k / a_type.getDimSize(1), b_block = k / b_type.getDimSize(0);
    const int64_t k_block = std::gcd(a_block, b_block), m_block = op_.m() / a_type.getDimSize(0);
    mlir::OpBuilder::InsertionGuard guard(builder_);
    scf::ForOp loop = emitter_.make_loop(start, elements_.index(k), elements_.index(k_block), accumulators);
    llvm::SmallVector<Value> zeros(accumulators.size(), zero);
    llvm::SmallVector<Value> partial = emit_products(block, loop.getInductionVar(), k_block, zeros);
    llvm::SmallVector<Value> running(loop.getRegionIterArgs());
    llvm::SmallVector<Value> b_scales;
    for (int64_t v = 0; v < vectors; ++v) b_scales.push_back(scale_of_b(block, loop.getInductionVar(), v));
    Value column = builder_.createOrFold<arith::DivUIOp>(loop.getInductionVar(), elements_.index(a_block));
    for (int64_t r = 0; r < block.rows; ++r) {
      Value row =
          builder_.createOrFold<arith::DivUIOp>(elements_.add(block.row, elements_.index(r)), elements_.index(m_block));
      Value a_scale = elements_.splat(scale(scales, row, column), block.lanes);
      for (int64_t v = 0; v < vectors; ++v) {
        Value& accumulator = running[r * vectors + v];
        accumulator = elements_.fma(partial[r * vectors + v],
                                    combined(builder_, tile::Combine::mul, a_scale, b_scales[v]), accumulator);
      }
    }
    builder_.create<scf::YieldOp>(running);
    accumulators.assign(loop.getResults().begin(), loop.getResults().end());
  }
  for (int64_t r = 0; r < block.rows; ++r) {
    for (int64_t v = 0; v < vectors; ++v) {
      Value sum = accumulators[r * vectors + v];
      if (joins_at_end) sum = combined(builder_, tile::Combine::add, loaded(r, v), sum);
      elements_.store(acc_, sum, acc_position(block, r, v), block.lanes, mask(block, v));
    }
  }
}

}  // namespace deep_accel::compile
