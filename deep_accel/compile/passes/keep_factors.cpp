// See keep_factors.h.
#include "deep_accel/compile/passes/keep_factors.h"

#include "deep_accel/base/text.h"
#include "deep_accel/compile/passes/decisions.h"
#include "deep_accel/compile/passes/factors.h"
#include "deep_accel/compile/passes/hazards.h"
#include "deep_accel/compile/passes/layout.h"
#include "deep_accel/compile/passes/prefetch_host.h"
#include "deep_accel/compile/passes/window.h"

namespace deep_accel::compile {

using mlir::Value;
namespace arith = mlir::arith;
namespace scf = mlir::scf;

namespace {

using Builder = mlir::ImplicitLocOpBuilder;

// The part of the cache that all cores share which one worker may fill with what it keeps.
constexpr int64_t share_of_l3 = 8;
constexpr int64_t most_tiles = 256;

// A factor's tile, the load that fills it, and the products that read it.
struct Factor {
  tile::AllocOp tile;
  tile::LoadOp load;
  tile::GemmOp product;  // the first of them
  bool right;
  llvm::SmallVector<scf::ForOp> loops = {};  // that the load's window moves with, outermost first
};

bool moves_with(tile::LoadOp load, Value origin) { return depend_on(load->getOperands(), origin); }

// The axis in which a worker's next block differs; none where the grid has a single block.
std::optional<unsigned> fastest_axis(tile::GridOp grid, tile::Walk walk) {
  const auto count = static_cast<unsigned>(grid.getExtents().size());
  for (unsigned i = 0; i < count; ++i) {
    const unsigned axis = walk == tile::Walk::rows ? count - 1 - i : i;
    if (mlir::getConstantIntValue(grid.getExtents()[axis]) != 1) return axis;
  }
  return std::nullopt;
}

bool is_written(tile::GridOp grid, Value buffer) {
  return llvm::any_of(grid.getBody().front(), [&](mlir::Operation& op) { return may_write(&op, buffer); });
}

// True where whoever uses the load's tile stands behind it in its block.
bool only_read_after(tile::LoadOp load) {
  return llvm::all_of(load.getTile().getUsers(), [&](mlir::Operation* user) {
    return user == load || (user->getBlock() == load->getBlock() && load->isBeforeInBlock(user));
  });
}

// The loops around the load that its window moves with; none where something else than loops and branches is around it.
std::optional<llvm::SmallVector<scf::ForOp>> loops_around(tile::LoadOp load) {
  llvm::SmallVector<scf::ForOp> loops;
  for (mlir::Operation* op = load->getParentOp(); !mlir::isa<tile::GridOp>(op); op = op->getParentOp()) {
    if (mlir::isa<scf::IfOp>(op)) continue;
    auto loop = mlir::dyn_cast<scf::ForOp>(op);
    if (!loop) return std::nullopt;
    if (moves_with(load, loop.getInductionVar())) loops.insert(loops.begin(), loop);
  }
  return loops;
}

// The factors of the grid whose windows are loaded anew by each block, packed, from what the grid only reads.
llvm::SmallVector<Factor> find_factors(tile::GridOp grid) {
  llvm::SmallVector<Factor> factors;
  llvm::DenseSet<mlir::Operation*> seen;
  grid.walk([&](tile::GemmOp gemm) {
    for (const bool right : {true, false}) {
      Value tile = right ? gemm.getB() : gemm.getA();
      tile::LoadOp load = filling_load(gemm, tile);
      if (!load || !seen.insert(load).second) continue;
      auto alloc = tile.getDefiningOp<tile::AllocOp>();
      if (!alloc->hasAttr("tile.panels") || !tile::is_global(load.getSource().getType())) continue;
      if (load.getFill() && !mlir::matchPattern(load.getFill(), mlir::m_Constant())) continue;
      if (is_written(grid, load.getSource()) || !only_read_after(load)) continue;
      // Marks do not tell views of one block or iteration from those of another.
      if (grid->isAncestor(load.getSource().getParentRegion()->getParentOp())) continue;
      if (auto loops = loops_around(load)) factors.push_back({alloc, load, gemm, right, *loops});
    }
  });
  return factors;
}

llvm::SmallVector<Factor> shared_by_blocks(tile::GridOp grid, llvm::ArrayRef<Factor> factors, tile::Walk walk) {
  llvm::SmallVector<Factor> shared;
  const auto axis = fastest_axis(grid, walk);
  for (const Factor& factor : factors) {
    if (axis && !moves_with(factor.load, grid.getBody().getArgument(*axis))) shared.push_back(factor);
  }
  return shared;
}

// How much it is worth to keep the factors: left ones can be loaded in strips, which is cheap already.
int64_t worth(llvm::ArrayRef<Factor> factors) {
  int64_t sum = 0;
  for (const Factor& factor : factors) sum += factor.right ? 2 : 1;
  return sum;
}

tile::Walk walk_of(tile::GridOp grid) { return grid.getOrder() ? grid.getOrder()->getWalk() : tile::Walk::rows; }

// Replaces a factor's tile by `count` kept ones.
class Keeper {
 public:
  Keeper(Factor factor, int64_t count, Value blocks_in_turn)
      : factor_(factor), builder_(factor.tile.getLoc(), factor.tile), count_(count), blocks_(blocks_in_turn) {
    for (Value index : factor.load.getIndices()) {
      places_.push_back(!mlir::getConstantIntValue(index));
      marked_ += places_.back() ? 1 : 0;
    }
  }

  void rewrite() {
    tile::AllocOp old = factor_.tile;
    auto type = old.getType();
    llvm::SmallVector<int64_t> shape{count_};
    llvm::append_range(shape, type.getShape());
    auto kept_type = tile::buffer_type(shape, type.getElementType(), tile::space_of(type));
    auto kept = builder_.create<tile::AllocOp>(kept_type, old.getNameAttr(), old.getAlignAttr());
    kept->setDiscardableAttrs(old->getDiscardableAttrDictionary());
    kept->setAttr("tile.kept", builder_.getStringAttr("tile"));
    auto marks_type =
        tile::buffer_type({count_, std::max<int64_t>(marked_, 1)}, builder_.getI64Type(), tile::space_of(type));
    auto marks = builder_.create<tile::AllocOp>(marks_type, builder_.getStringAttr("marks"), nullptr);
    marks->setAttr("tile.kept", builder_.getStringAttr("marks"));
    kept_ = kept.getBuffer(), marks_ = marks.getBuffer();

    tile::LoadOp load = factor_.load;
    builder_.setInsertionPoint(load);
    builder_.setLoc(load.getLoc());
    Value iteration = iteration_number(), number = tile_number(iteration);
    Value tile = tile_at(number), known = holds(number, load.getIndices());
    Value missing = builder_.create<arith::XOrIOp>(known, builder_.create<arith::ConstantIntOp>(1, 1));
    auto branch = builder_.create<scf::IfOp>(missing, /*withElseRegion=*/false);
    {
      mlir::OpBuilder::InsertionGuard guard(builder_);
      load->moveBefore(branch.thenBlock(), branch.thenBlock()->begin());
      builder_.setInsertionPointAfter(load);
      mark(number, load.getIndices());
    }
    prefetch_next(iteration);
    old.getBuffer().replaceAllUsesWith(tile);
    old.erase();
  }

 private:
  Value constant(int64_t value) { return builder_.create<arith::ConstantIndexOp>(value); }

  // Of the loops' iterations, counted together.
  Value iteration_number() {
    Value number;
    for (scf::ForOp loop : factor_.loops) {
      Value lower = loop.getLowerBound(), step = loop.getStep();
      Value here = builder_.createOrFold<arith::SubIOp>(loop.getInductionVar(), lower);
      here = builder_.createOrFold<arith::DivUIOp>(here, step);
      if (number) {
        Value length = builder_.createOrFold<arith::SubIOp>(loop.getUpperBound(), lower);
        Value trips = builder_.createOrFold<arith::CeilDivSIOp>(length, step);
        here = builder_.createOrFold<arith::AddIOp>(builder_.createOrFold<arith::MulIOp>(number, trips), here);
      }
      number = here;
    }
    return number ? number : constant(0);
  }

  // The last tile serves all iterations that have none of their own. Where no block follows that could use them, the
  // first tile does for all: it stays in the nearest cache.
  Value tile_number(Value iteration) {
    if (count_ == 1) return constant(0);
    Value several = builder_.create<arith::CmpIOp>(arith::CmpIPredicate::sgt, blocks_, constant(1));
    Value last = builder_.create<arith::SelectOp>(several, constant(count_ - 1), constant(0));
    return builder_.create<arith::MinUIOp>(iteration, last);
  }

  Value tile_at(Value number) {
    auto type = mlir::cast<mlir::MemRefType>(kept_.getType());
    const llvm::ArrayRef<int64_t> shape = type.getShape().drop_front();
    llvm::SmallVector<int64_t> dims;
    for (size_t dim = 1; dim <= shape.size(); ++dim) dims.push_back(static_cast<int64_t>(dim));
    llvm::SmallVector<Value> offsets(shape.size() + 1, constant(0));
    offsets[0] = number;
    return builder_.create<tile::SliceOp>(tile::slice_type(type, shape, llvm::ArrayRef<int64_t>(dims)), kept_, offsets,
                                          builder_.getDenseI64ArrayAttr(dims));
  }

  // A load's indices as marks: those that may differ.
  llvm::SmallVector<Value> marks_of(mlir::ValueRange indices) {
    llvm::SmallVector<Value> marks;
    for (auto [index, marked] : llvm::zip_equal(indices, places_)) {
      if (marked) marks.push_back(builder_.createOrFold<arith::IndexCastOp>(builder_.getI64Type(), index));
    }
    if (marks.empty()) marks.push_back(builder_.create<arith::ConstantIntOp>(0, 64));
    return marks;
  }

  Value holds(Value number, mlir::ValueRange indices) {
    Value all;
    for (auto [place, mark] : llvm::enumerate(marks_of(indices))) {
      Value found = builder_.create<tile::ReadOp>(builder_.getI64Type(), marks_,
                                                  mlir::ValueRange{number, constant(static_cast<int64_t>(place))});
      Value same = builder_.create<arith::CmpIOp>(arith::CmpIPredicate::eq, found, mark);
      all = all ? builder_.create<arith::AndIOp>(all, same).getResult() : same;
    }
    return all;
  }

  void mark(Value number, mlir::ValueRange indices) {
    for (auto [place, mark] : llvm::enumerate(marks_of(indices))) {
      builder_.create<tile::WriteOp>(mark, marks_, mlir::ValueRange{number, constant(static_cast<int64_t>(place))});
    }
  }

  // What a product prefetches for the next iteration: the kept tile where that has the window, else the window.
  void prefetch_next(Value iteration) {
    tile::GemmOp product = factor_.product;
    llvm::SmallVector<tile::PrefetchOp> ahead;
    for (auto op : product->getBlock()->getOps<tile::PrefetchOp>()) {
      if (prefetch_host(op) != PrefetchHost::product || op.getWhen()) continue;
      if (op.getSource() == factor_.load.getSource()) ahead.push_back(op);
    }
    for (tile::PrefetchOp op : ahead) {
      builder_.setInsertionPoint(product);
      Value next = tile_number(builder_.create<arith::AddIOp>(iteration, constant(1)));
      Value known = holds(next, op.getIndices());
      Value missing = builder_.create<arith::XOrIOp>(known, builder_.create<arith::ConstantIntOp>(1, 1));
      op->moveBefore(product);
      op.getWhenMutable().assign(missing);
      auto type = mlir::cast<mlir::MemRefType>(factor_.tile.getType());
      llvm::SmallVector<Value> origin(static_cast<size_t>(type.getRank()), constant(0));
      auto packed = builder_.create<tile::PrefetchOp>(tile_at(next), origin, known, type.getShape());
      set_prefetch_host(packed, PrefetchHost::product);
    }
  }

  Factor factor_;
  Builder builder_;
  int64_t count_;
  Value blocks_;                    // how many blocks of a turn share the windows
  llvm::SmallVector<bool> places_;  // which of the load's indices are marks
  int64_t marked_ = 0;
  Value kept_, marks_;
};

// How many iterations the loops have, where that is known.
std::optional<int64_t> iterations(llvm::ArrayRef<scf::ForOp> loops) {
  int64_t product = 1;
  for (scf::ForOp loop : loops) {
    const auto lower = mlir::getConstantIntValue(loop.getLowerBound()),
               upper = mlir::getConstantIntValue(loop.getUpperBound()),
               step = mlir::getConstantIntValue(loop.getStep());
    if (!lower || !upper || !step || *step <= 0) return std::nullopt;
    product *= std::max<int64_t>(llvm::divideCeil(std::max<int64_t>(*upper - *lower, 0), *step), 1);
    if (product > most_tiles) return most_tiles;
  }
  return product;
}

void keep_in(tile::GridOp grid, const Target& target) {
  const llvm::SmallVector<Factor> all = find_factors(grid);
  if (all.empty()) return;
  tile::Walk walk = walk_of(grid);
  llvm::SmallVector<Factor> factors = shared_by_blocks(grid, all, walk);
  if (!grid.getOrder()) {
    llvm::SmallVector<Factor> by_columns = shared_by_blocks(grid, all, tile::Walk::columns);
    if (worth(by_columns) > worth(factors)) {
      walk = tile::Walk::columns;
      factors = std::move(by_columns);
      grid.setOrderAttr(tile::OrderAttr::get(grid.getContext(), walk, 0));
      note_decision(grid, "blocks in columns, so that neighbours in time share right factors");
    }
  }
  const int64_t room = target.l3 / share_of_l3 / std::max<int64_t>(static_cast<int64_t>(factors.size()), 1);
  for (Factor factor : factors) {
    const int64_t bytes = physical_bytes(factor.tile);
    const int64_t wanted = iterations(factor.loops).value_or(most_tiles);
    const int64_t count = std::min({room / bytes, wanted, most_tiles});
    // One tile for many iterations would never hold what is asked for.
    if (count < 1 || (count == 1 && wanted > 1)) continue;
    const std::string name = tile::buffer_name(factor.tile.getBuffer());
    Keeper(factor, count, grid.getExtents()[*fastest_axis(grid, walk)]).rewrite();
    note_decision(grid, name + " kept for the blocks that follow: " + std::to_string(count) +
                            (count == 1 ? " tile of " : " tiles of ") + format_bytes(bytes));
  }
}

}  // namespace

void keep_factors(tile::KernelOp kernel, const Target& target) {
  kernel.walk([&](tile::GridOp grid) { keep_in(grid, target); });
}

}  // namespace deep_accel::compile
