#include "deep_accel/compile/passes/liveness.h"

#include "deep_accel/compile/passes/layout.h"

namespace deep_accel::compile {

using mlir::Block;
using mlir::Operation;
using mlir::Region;
using mlir::Value;
namespace scf = mlir::scf;
using TileSet = llvm::BitVector;

namespace {

class Liveness {
 public:
  explicit Liveness(tile::GridOp grid) {
    grid.walk<mlir::WalkOrder::PreOrder>([&](tile::AllocOp alloc) {
      if (tile::is_global(alloc.getType()) || is_kept(alloc)) return;
      number_[alloc.getBuffer()] = static_cast<unsigned>(result_.tiles.size());
      result_.tiles.push_back(alloc);
    });
    result_.conflicts.assign(result_.tiles.size(), TileSet(count()));
    before(grid.getBody().front(), TileSet(count()));
  }

  Lifetimes take() { return std::move(result_); }

 private:
  unsigned count() const { return static_cast<unsigned>(result_.tiles.size()); }

  // What is live at the top of the block, given what is live at its end.
  TileSet before(Block& block, TileSet live) {
    for (Operation& op : llvm::reverse(block)) live = before(op, std::move(live));
    return live;
  }

  TileSet before(Operation& op, TileSet live) {
    return llvm::TypeSwitch<Operation*, TileSet>(&op)
        .Case([&](scf::IfOp branch) {
          TileSet then_live = before(*branch.thenBlock(), live);
          TileSet else_live = branch.elseBlock() ? before(*branch.elseBlock(), live) : live;
          return then_live |= else_live;
        })
        .Case([&](scf::ForOp loop) {
          return before_loop(*loop.getBody(), std::move(live), runs(loop.getLowerBound(), loop.getUpperBound()));
        })
        .Case([&](tile::PipelineOp loop) {
          return before_loop(loop.getBody().front(), std::move(live), runs(loop.getLower(), loop.getUpper()));
        })
        .Case([&](scf::WhileOp loop) {
          // The condition runs first, and once more after each run of the body.
          TileSet at_condition(count());
          while (true) {
            TileSet after_condition = live;
            after_condition |= before(*loop.getAfterBody(), at_condition);
            TileSet next = before(*loop.getBeforeBody(), std::move(after_condition));
            if (next == at_condition) return next;
            at_condition |= next;
          }
        })
        .Default([&](Operation*) { return before_statement(op, std::move(live)); });
  }

  static bool runs(Value lower, Value upper) {
    const auto first = tile::constant_index(lower), end = tile::constant_index(upper);
    return first && end && *first < *end;
  }

  // `at_least_once`: the body is known to run, so that what it covers is dead above the loop.
  TileSet before_loop(Block& body, TileSet live, bool at_least_once) {
    TileSet top(count());
    while (true) {
      TileSet end = live;
      end |= top;
      TileSet next = before(body, std::move(end));
      if (next == top) break;
      top |= next;
    }
    if (!at_least_once) top |= live;
    return top;
  }

  TileSet before_statement(Operation& op, TileSet live) {
    TileSet touched(count()), read(count()), covered(count());
    if (auto alloc = mlir::dyn_cast<tile::AllocOp>(op)) {
      if (auto known = number_.find(alloc.getBuffer()); known != number_.end()) live.reset(known->second);
      return live;
    }
    if (mlir::isa<tile::PrefetchOp>(op)) return live;
    if (mlir::isa<mlir::ViewLikeOpInterface>(op)) return live;
    if (auto tile_op = mlir::dyn_cast<tile::TileOp>(op)) {
      for (const tile::Access& access : tile_op.accesses()) add(access, touched, read, covered);
    } else if (auto wait = mlir::dyn_cast<tile::WaitOp>(op)) {
      // The load may still write its tile until here.
      for (Value token : wait.getTokens()) {
        auto load = token.getDefiningOp<tile::AsyncLoadOp>();
        if (load)
          add({load.getTile(), true, true, false}, touched, read, covered);
        else
          touched.set(), read.set();
      }
    } else {
      add_unknown(op, touched, read, covered);
    }
    // Tiles of the statement's own regions.
    op.walk([&](tile::AllocOp inner) {
      if (auto known = number_.find(inner.getBuffer()); known != number_.end()) touched.set(known->second);
    });

    TileSet around = live;
    around |= touched;
    for (unsigned index : touched.set_bits()) {
      result_.conflicts[index] |= around;
      for (unsigned other : around.set_bits()) result_.conflicts[other].set(index);
    }
    live.reset(covered);
    live |= read;
    return live;
  }

  void add(const tile::Access& access, TileSet& touched, TileSet& read, TileSet& covered) {
    Value root = tile::root_buffer(access.buffer);
    auto known = number_.find(root);
    if (known == number_.end()) {
      // A tile whose alloc cannot be seen, handed on by control flow, may be any.
      if (!tile::is_global(root.getType())) touched.set(), read.set();
      return;
    }
    touched.set(known->second);
    // A write of a part, as through a view, keeps the rest of what the tile holds: it does not end its life.
    if (access.covers && root == access.buffer) {
      covered.set(known->second);
    } else if (access.reads) {
      read.set(known->second);
    }
  }

  // An operation that does not say what it touches: all buffers that it or its regions name are read and written.
  void add_unknown(Operation& op, TileSet& touched, TileSet& read, TileSet& covered) {
    op.walk([&](Operation* inner) {
      for (Value operand : inner->getOperands()) {
        if (tile::is_buffer(operand.getType())) add({operand, true, true, false}, touched, read, covered);
      }
    });
  }

  Lifetimes result_;
  llvm::DenseMap<Value, unsigned> number_;
};

}  // namespace

Lifetimes find_lifetimes(tile::GridOp grid) { return Liveness(grid).take(); }

}  // namespace deep_accel::compile
