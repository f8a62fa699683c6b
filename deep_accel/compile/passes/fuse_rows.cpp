// See fuse_rows.h.
#include "deep_accel/compile/passes/fuse_rows.h"

#include "deep_accel/compile/passes/decisions.h"
#include "deep_accel/compile/passes/map_elements.h"
#include "deep_accel/compile/passes/prefetch_host.h"
#include "deep_accel/compile/passes/window.h"

namespace deep_accel::compile {

using mlir::OpFoldResult;
using mlir::Value;
namespace arith = mlir::arith;
namespace scf = mlir::scf;

namespace {

constexpr int64_t long_row = 256;                // elements; shorter ones are not worth a loop of their own
constexpr int64_t first_cache_bytes = 16 << 10;  // half of it: what stays there anyway need not be cut

// The dimension in which an access follows the map's rows: there its index is the row, perhaps behind an offset.
std::optional<size_t> row_dim(tile::MapOp map, mlir::ValueRange indices) {
  Value row = map.getBody().getArgument(0);
  for (auto [dim, index] : llvm::enumerate(indices)) {
    if (index == row) return dim;
    auto sum = index.getDefiningOp<arith::AddIOp>();
    if (!sum) continue;
    for (int side = 0; side < 2; ++side) {
      mlir::Operation* offset = sum->getOperand(1 - side).getDefiningOp();
      if (sum->getOperand(side) == row && !(offset && map->isProperAncestor(offset))) return dim;
    }
  }
  return std::nullopt;
}

bool rows_match(tile::MapOp first, tile::MapOp second) {
  const auto before = elements_of(first), after = elements_of(second);
  for (const Element& a : *before) {
    for (const Element& b : *after) {
      if (tile::root_buffer(a.buffer) != tile::root_buffer(b.buffer) || (!a.writes && !b.writes)) continue;
      if (a.buffer != b.buffer) return false;
      const auto dim = row_dim(first, a.indices);
      if (!dim || row_dim(second, b.indices) != dim || !same_value(a.indices[*dim], b.indices[*dim], first, second)) {
        return false;
      }
    }
  }
  return true;
}

// What a map costs for each element, in units of a simple instruction.
int64_t weight(tile::MapOp map) {
  int64_t sum = 0;
  map.getBody().walk([&](mlir::Operation* op) {
    if (mlir::isa<mlir::math::MathDialect>(op->getDialect()) && !mlir::isa<mlir::math::AbsFOp, mlir::math::FmaOp>(op)) {
      sum += 12;
    } else if (mlir::isa<arith::DivFOp>(op)) {
      sum += 5;
    } else {
      ++sum;
    }
  });
  return sum;
}

// Elements of a row, where static.
std::optional<int64_t> row_elements(tile::MapOp map) {
  int64_t elements = 1;
  for (int64_t size : map.getStaticSizes().drop_front()) {
    if (mlir::ShapedType::isDynamic(size)) return std::nullopt;
    elements *= size;
  }
  return elements;
}

// Two long passes at least, over more than the first cache holds; of a single row, for the sake of the next one.
bool worth_it(llvm::ArrayRef<tile::MapOp> run) {
  int64_t passes = 0, bytes = 0;
  for (tile::MapOp map : run) {
    const auto row = row_elements(map);
    const int64_t rows = map.getStaticSizes().front();
    if (!row || *row < long_row) continue;
    ++passes;
    bytes = std::max(bytes, mlir::ShapedType::isDynamic(rows) ? first_cache_bytes : rows * *row * 4);
  }
  return passes >= 2 && bytes >= first_cache_bytes;
}

// The same computation for `to` in place of `from`; null where it is more than scalar arithmetic on what is at hand.
Value substituted(mlir::OpBuilder& builder, Value value, Value from, Value to) {
  if (value == from) return to;
  mlir::Operation* def = value.getDefiningOp();
  if (!def || !depend_on(value, from)) return value;
  if (def->getNumRegions() != 0 || !mlir::isMemoryEffectFree(def)) return {};
  mlir::IRMapping mapping;
  for (Value operand : def->getOperands()) {
    Value copy = substituted(builder, operand, from, to);
    if (!copy) return {};
    mapping.map(operand, copy);
  }
  return builder.clone(*def, mapping)->getResult(0);
}

// For each window of global memory that the maps read along their last axis, and that moves with `index` (a map's own
// first axis where `index` is null): a prefetch of the window for `next`.
llvm::SmallVector<tile::PrefetchOp> prefetch_next(mlir::ImplicitLocOpBuilder& builder, llvm::ArrayRef<tile::MapOp> run,
                                                  Value index, Value next) {
  llvm::SmallVector<Value> done;
  llvm::SmallVector<tile::PrefetchOp> prefetches;
  for (tile::MapOp map : run) {
    const int64_t elements = map.getStaticSizes().back();
    if (mlir::ShapedType::isDynamic(elements) || elements < long_row) continue;
    if (map.rank() != (index ? 1 : 2)) continue;
    Value moving = index ? index : map.getBody().getArgument(0), along = map.getBody().getArguments().back();
    for (tile::ReadOp read : map.getBody().front().getOps<tile::ReadOp>()) {
      Value buffer = read.getBuffer();
      const auto layout = tile::layout_of(read.getBuffer().getType());
      if (!tile::is_global(buffer.getType()) || !layout || layout->strides.back() != 1) continue;
      if (llvm::is_contained(done, buffer)) continue;
      const mlir::ValueRange at = read.getIndices();
      if (!depend_on(at, moving)) continue;
      if (depend_on(at.drop_back(), along)) continue;
      // Where the window begins, for the next one: the place of the axis' first element.
      Value zero = builder.create<arith::ConstantIndexOp>(0);
      llvm::SmallVector<Value> indices;
      for (Value i : at) {
        Value later = substituted(builder, i, moving, next);
        indices.push_back(later ? substituted(builder, later, along, zero) : Value());
      }
      if (llvm::is_contained(indices, Value())) continue;
      llvm::SmallVector<int64_t> sizes(indices.size(), 1);
      sizes.back() = elements;
      auto prefetch = builder.create<tile::PrefetchOp>(buffer, indices, Value(), sizes);
      set_prefetch_host(prefetch, PrefetchHost::map);
      prefetches.push_back(prefetch);
      done.push_back(buffer);
    }
  }
  return prefetches;
}

tile::MapOp costliest(llvm::ArrayRef<tile::MapOp> run) {
  const auto cost = [](tile::MapOp map) {
    const int64_t last = map.getStaticSizes().back();
    return weight(map) * (mlir::ShapedType::isDynamic(last) || last < long_row ? 0 : last);
  };
  return *std::max_element(run.begin(), run.end(), [&](tile::MapOp a, tile::MapOp b) { return cost(a) < cost(b); });
}

// The map without its first axis.
void move_in(mlir::ImplicitLocOpBuilder& builder, tile::MapOp map, Value row) {
  mlir::Block& body = map.getBody().front();
  body.getArgument(0).replaceAllUsesWith(row);
  builder.setLoc(map.getLoc());
  if (map.rank() == 1) {
    builder.getInsertionBlock()->getOperations().splice(builder.getInsertionPoint(), body.getOperations());
  } else {
    auto inner = builder.create<tile::MapOp>(llvm::ArrayRef<OpFoldResult>(map.mixed_sizes()).drop_front());
    mlir::Block& into = inner.getBody().front();
    for (auto [from, to] : llvm::zip_equal(body.getArguments().drop_front(), into.getArguments())) {
      from.replaceAllUsesWith(to);
    }
    into.getOperations().splice(into.begin(), body.getOperations());
  }
  map.erase();
}

void fuse(llvm::ArrayRef<tile::MapOp> run) {
  tile::MapOp first = run.front(), last = run.back();
  mlir::ImplicitLocOpBuilder builder(first.getLoc(), last);
  OpFoldResult size = first.mixed_sizes().front();
  const auto fixed = mlir::getConstantIntValue(size);
  auto constant = [&](int64_t value) -> Value { return builder.create<arith::ConstantIndexOp>(value); };
  note_decision(first, std::to_string(run.size()) + " maps run row by row, so that a row stays in the first cache");
  auto loop = builder.create<scf::ForOp>(constant(0), fixed ? constant(*fixed) : mlir::cast<Value>(size), constant(1));
  builder.setInsertionPointToStart(loop.getBody());
  Value next = builder.create<arith::AddIOp>(loop.getInductionVar(), constant(1));
  const auto prefetches = prefetch_next(builder, run, Value(), next);
  const tile::MapOp host = costliest(run);
  mlir::Operation* end = loop.getBody()->getTerminator();
  builder.setInsertionPoint(end);
  for (tile::MapOp map : run) {
    if (map == host) {
      for (tile::PrefetchOp prefetch : prefetches) prefetch->moveBefore(end);
    }
    move_in(builder, map, loop.getInductionVar());
  }
}

// Blocks of one row each, without an axis for it: the next block of the grid has the next row.
void prefetch_for_next_block(mlir::Block& block) {
  llvm::SmallVector<tile::MapOp> passes;
  for (auto map : block.getOps<tile::MapOp>()) {
    const int64_t size = map.getStaticSizes()[0];
    if (map.rank() == 1 && !mlir::ShapedType::isDynamic(size) && size >= 4 * long_row) passes.push_back(map);
  }
  if (passes.size() < 2) return;
  tile::MapOp host = costliest(passes);
  mlir::Operation* around = host->getParentOp();
  while (mlir::isa<scf::IfOp>(around)) around = around->getParentOp();
  auto grid = mlir::dyn_cast<tile::GridOp>(around);
  if (!grid || grid.getBody().getNumArguments() == 0) return;
  mlir::ImplicitLocOpBuilder builder(host.getLoc(), host);
  Value number = grid.getBody().getArguments().back();
  Value next = builder.create<arith::AddIOp>(number, builder.create<arith::ConstantIndexOp>(1));
  const auto prefetches = prefetch_next(builder, passes, number, next);
  if (!prefetches.empty()) note_decision(host, "the next block's inputs are prefetched during the costliest map");
}

bool same_rows(tile::MapOp a, tile::MapOp b) {
  return mlir::isEqualConstantIntOrValue(a.mixed_sizes().front(), b.mixed_sizes().front());
}

void fuse_in(mlir::Block& block) {
  llvm::SmallVector<llvm::SmallVector<tile::MapOp>> runs(1);
  for (mlir::Operation& op : block) {
    auto map = mlir::dyn_cast<tile::MapOp>(op);
    if (map && elements_of(map)) {
      auto& run = runs.back();
      const bool fits =
          llvm::all_of(run, [&](tile::MapOp other) { return same_rows(other, map) && rows_match(other, map); });
      if (fits) {
        run.push_back(map);
      } else {
        runs.push_back({map});
      }
    } else if (mlir::isa<tile::AllocOp>(op) || (op.getNumRegions() == 0 && mlir::isMemoryEffectFree(&op))) {
      // Scalars move above the run: they do not depend on maps.
    } else {
      runs.emplace_back();
    }
  }
  for (auto& run : runs) {
    if (!worth_it(run)) continue;
    for (mlir::Operation* op = run.front()->getNextNode(); op != run.back();) {
      mlir::Operation* next = op->getNextNode();
      if (!mlir::isa<tile::MapOp>(op)) op->moveBefore(run.front());
      op = next;
    }
    fuse(run);
  }
  prefetch_for_next_block(block);
}

}  // namespace

void fuse_rows(tile::KernelOp kernel) {
  llvm::SetVector<mlir::Block*> blocks;
  kernel.walk([&](tile::MapOp map) { blocks.insert(map->getBlock()); });
  for (mlir::Block* block : blocks) fuse_in(*block);
}

}  // namespace deep_accel::compile
