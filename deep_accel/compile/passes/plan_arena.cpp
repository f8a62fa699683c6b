// Places the tiles of each grid in an arena: best fit by decreasing size, over the conflicts that liveness finds.
#include "deep_accel/base/round_up.h"
#include "deep_accel/base/text.h"
#include "deep_accel/compile/passes/decisions.h"
#include "deep_accel/compile/passes/layout.h"
#include "deep_accel/compile/passes/liveness.h"
#include "deep_accel/compile/passes/passes.h"

namespace deep_accel::compile {
namespace {

constexpr int64_t usual_alignment = 64;  // a cache line, and the widest vector
constexpr int64_t page = 4096;
constexpr int64_t most_sharers_named = 4;
constexpr int64_t most_tiles_named = 5;

struct Slot {
  tile::AllocOp alloc;
  int64_t bytes = 0;
  int64_t alignment = usual_alignment;
  int64_t offset = -1;

  int64_t end() const { return offset + bytes; }
  bool overlaps(const Slot& other) const { return offset < other.end() && other.offset < end(); }
};

// The smallest gap between the taken intervals that holds the slot; behind all of them where there is none.
int64_t best_offset(const Slot& slot, llvm::SmallVector<std::pair<int64_t, int64_t>> taken) {
  llvm::sort(taken);
  int64_t best = -1, best_gap = 0, free_from = 0;
  for (auto [begin, end] : taken) {
    const int64_t start = round_up(free_from, slot.alignment);
    const int64_t gap = begin - free_from;
    if (start + slot.bytes <= begin && (best < 0 || gap < best_gap)) best = start, best_gap = gap;
    free_from = std::max(free_from, end);
  }
  return best >= 0 ? best : round_up(free_from, slot.alignment);
}

llvm::SmallVector<Slot> place(const Lifetimes& lifetimes) {
  llvm::SmallVector<Slot> slots;
  llvm::SmallVector<unsigned> order;
  for (tile::AllocOp alloc : lifetimes.tiles) {
    order.push_back(static_cast<unsigned>(slots.size()));
    slots.push_back({alloc, physical_bytes(alloc),
                     std::max<int64_t>(usual_alignment, static_cast<int64_t>(alloc.getAlign().value_or(0)))});
  }
  llvm::sort(order,
             [&](unsigned a, unsigned b) { return std::tuple(-slots[a].bytes, a) < std::tuple(-slots[b].bytes, b); });
  for (unsigned index : order) {
    llvm::SmallVector<std::pair<int64_t, int64_t>> taken;
    for (unsigned other : lifetimes.conflicts[index].set_bits()) {
      if (other != index && slots[other].offset >= 0) taken.emplace_back(slots[other].offset, slots[other].end());
    }
    slots[index].offset = best_offset(slots[index], std::move(taken));
  }
  return slots;
}

// "'p' shares bytes 0..65535 with 'q', 's'"
void note_sharing(tile::GridOp grid, llvm::ArrayRef<Slot> slots) {
  for (auto [index, placed] : llvm::enumerate(slots)) {
    Slot slot = placed;
    llvm::SmallVector<std::string> others;
    for (Slot other : slots.take_front(index)) {
      if (slot.bytes > 0 && other.bytes > 0 && slot.overlaps(other)) others.push_back(tile::buffer_name(other.alloc));
    }
    if (others.empty()) continue;
    const size_t unnamed = others.size() > most_sharers_named ? others.size() - most_sharers_named : 0;
    others.truncate(others.size() - unnamed);
    std::string text = tile::buffer_name(slot.alloc) + " shares bytes " + std::to_string(slot.offset) + ".." +
                       std::to_string(slot.end() - 1) + " with " + llvm::join(others, ", ");
    if (unnamed > 0) text += " and " + std::to_string(unnamed) + " more";
    note_decision(grid, text);
  }
}

mlir::LogicalResult too_large(tile::GridOp grid, llvm::SmallVector<Slot> slots, int64_t arena, int64_t limit) {
  llvm::sort(slots, [](const Slot& a, const Slot& b) {
    return std::tuple(-a.bytes, a.offset) < std::tuple(-b.bytes, b.offset);
  });
  mlir::InFlightDiagnostic error = grid.emitError("the tiles of a block need ")
                                   << format_bytes(arena) << ", but the arena of a worker holds " << format_bytes(limit)
                                   << "; make the largest tiles smaller, or loop over parts of them";
  for (Slot& slot : llvm::MutableArrayRef(slots).take_front(most_tiles_named)) {
    error.attachNote(slot.alloc.getLoc())
        << tile::buffer_name(slot.alloc) << " takes " << format_bytes(slot.bytes) << ": " << slot.alloc.getType();
  }
  return mlir::failure();
}

// Tiles that outlive the block lie side by side before the others, marks first. Returns where they end.
int64_t place_kept(tile::GridOp grid) {
  mlir::Builder builder(grid.getContext());
  int64_t end = 0;
  for (const bool marks : {true, false}) {
    grid.walk([&](tile::AllocOp alloc) {
      if (!is_kept(alloc) || is_marks(alloc) != marks) return;
      alloc->setAttr("tile.offset", builder.getI64IntegerAttr(end));
      end = round_up(end + physical_bytes(alloc), marks ? usual_alignment : page);
    });
    if (marks && end > 0) grid->setAttr("tile.marks_bytes", builder.getI64IntegerAttr(end));
  }
  return end;
}

mlir::LogicalResult plan(tile::GridOp grid, int64_t limit) {
  const llvm::SmallVector<Slot> slots = place(find_lifetimes(grid));
  mlir::Builder builder(grid.getContext());
  const int64_t kept = place_kept(grid);
  if (kept > 0) grid->setAttr("tile.kept_bytes", builder.getI64IntegerAttr(kept));
  int64_t arena = 0, sum = 0;
  for (Slot slot : slots) {
    arena = std::max(arena, slot.end());
    sum = round_up(sum, slot.alignment) + slot.bytes;
    slot.alloc->setAttr("tile.offset", builder.getI64IntegerAttr(kept + slot.offset));
  }
  arena = round_up(arena, usual_alignment), sum = round_up(sum, usual_alignment);
  grid->setAttr("tile.arena_bytes", builder.getI64IntegerAttr(arena));
  grid->setAttr("tile.buffer_bytes", builder.getI64IntegerAttr(sum));
  if (arena > limit) return too_large(grid, slots, arena, limit);
  note_sharing(grid, slots);
  return mlir::success();
}

class PlanArena : public mlir::PassWrapper<PlanArena, mlir::OperationPass<>> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PlanArena)

  explicit PlanArena(int64_t limit) { limit_ = limit; }
  PlanArena(const PlanArena& other) : PassWrapper(other) {}

  llvm::StringRef getArgument() const final { return "plan-arena"; }
  llvm::StringRef getDescription() const final { return "place the tiles of each block in one arena, sharing memory"; }

  void runOnOperation() final {
    const auto result = getOperation()->walk([&](tile::GridOp grid) {
      return failed(plan(grid, limit_)) ? mlir::WalkResult::interrupt() : mlir::WalkResult::skip();
    });
    if (result.wasInterrupted()) signalPassFailure();
  }

 private:
  Option<int64_t> limit_{*this, "limit", llvm::cl::desc("bytes that the arena of a worker may have")};
};

}  // namespace

std::unique_ptr<mlir::Pass> make_plan_arena_pass(int64_t limit_bytes) {
  return std::make_unique<PlanArena>(limit_bytes);
}

}  // namespace deep_accel::compile
