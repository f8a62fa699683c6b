// See fuse_maps.h. Two maps may be joined where every buffer that one of them writes and the other touches is touched
// by both at the same element in the same iteration; the operations between them must not stand in the way of moving
// one to the other.
#include "deep_accel/compile/passes/fuse_maps.h"

#include "deep_accel/compile/passes/dead_writes.h"
#include "deep_accel/compile/passes/map_elements.h"

namespace deep_accel::compile {

using mlir::Value;

namespace {

bool same_indices(mlir::ValueRange a, mlir::ValueRange b, tile::MapOp first, tile::MapOp second) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [&](auto pair) {
           return same_value(std::get<0>(pair), std::get<1>(pair), first, second);
         });
}

bool same_sizes(tile::MapOp a, tile::MapOp b) {
  return a.getStaticSizes() == b.getStaticSizes() && llvm::equal(a.getSizes(), b.getSizes());
}

bool iterations_match(tile::MapOp first, tile::MapOp second, llvm::ArrayRef<Element> before,
                      llvm::ArrayRef<Element> after) {
  for (const Element& a : before) {
    for (const Element& b : after) {
      if (tile::root_buffer(a.buffer) != tile::root_buffer(b.buffer) || (!a.writes && !b.writes)) continue;
      if (a.combines && b.combines) continue;  // both add to it; nobody looks in between
      if (a.combines || b.combines) return false;
      if (a.buffer != b.buffer || !same_indices(a.indices, b.indices, first, second)) return false;
    }
  }
  return true;
}

// What an operation may do to buffers, by root; nullopt: anything.
std::optional<llvm::SmallVector<tile::Access>> effects_of(mlir::Operation* op) {
  if (auto access = mlir::dyn_cast<tile::TileOp>(op)) {
    llvm::SmallVector<tile::Access> effects = access.accesses();
    bool other = false;
    op->walk([&](mlir::Operation* inner) {
      if (!mlir::isa<tile::TileOp>(inner) && inner->getNumRegions() == 0 && !mlir::isMemoryEffectFree(inner)) {
        other = true;
      }
      if (mlir::isa<tile::AtomicOp, tile::ExternOp>(inner)) other = true;
    });
    if (other) return std::nullopt;
    return effects;
  }
  if (mlir::isa<tile::AllocOp>(op) || (op->getNumRegions() == 0 && mlir::isMemoryEffectFree(op))) {
    return llvm::SmallVector<tile::Access>();
  }
  if (mlir::isa<tile::PrefetchOp>(op)) return llvm::SmallVector<tile::Access>();
  if (op->getNumRegions() == 0) return std::nullopt;
  llvm::SmallVector<tile::Access> all;
  for (mlir::Region& region : op->getRegions()) {
    for (mlir::Operation& inner : region.getOps()) {
      auto effects = effects_of(&inner);
      if (!effects) return std::nullopt;
      llvm::append_range(all, *effects);
    }
  }
  return all;
}

// Whether `map` and `op` may change places.
bool commute(llvm::ArrayRef<Element> map, mlir::Operation* op) {
  const auto effects = effects_of(op);
  if (!effects) return false;
  for (const Element& element : map) {
    for (const tile::Access& access : *effects) {
      if (tile::root_buffer(element.buffer) != tile::root_buffer(access.buffer)) continue;
      if (element.writes || access.writes) return false;
    }
  }
  return true;
}

// Where the joined map can stand: at the later one, at the earlier one, or nowhere.
enum class Place { none, later, earlier };

Place place_for(tile::MapOp first, tile::MapOp second, llvm::ArrayRef<Element> before, llvm::ArrayRef<Element> after) {
  bool sink = true, hoist = true;
  for (mlir::Operation* op = first->getNextNode(); op != second; op = op->getNextNode()) {
    if (!commute(before, op)) sink = false;
    if (!commute(after, op)) hoist = false;
    if (!sink && !hoist) return Place::none;
  }
  if (sink) return Place::later;
  // Hoisting needs what the later map uses to be there already.
  bool available = true;
  second->walk([&](mlir::Operation* op) {
    for (Value operand : op->getOperands()) {
      mlir::Operation* def = operand.getDefiningOp();
      if (def && def->getBlock() == first->getBlock() && !def->isBeforeInBlock(first)) available = false;
    }
  });
  return available ? Place::earlier : Place::none;
}

void join(tile::MapOp first, tile::MapOp second, Place place) {
  mlir::Block &from = first.getBody().front(), &into = second.getBody().front();
  for (auto [a, b] : llvm::zip_equal(from.getArguments(), into.getArguments())) a.replaceAllUsesWith(b);
  into.getOperations().splice(into.begin(), from.getOperations());
  if (place == Place::earlier) second->moveBefore(first);
  first.erase();
}

bool keeps_value(mlir::Type element) { return tile::compute_type(element) == element; }

// A read that follows a write of the same element in the body takes the written value.
void forward_writes(tile::MapOp map) {
  llvm::SmallVector<tile::WriteOp> known;
  for (mlir::Operation& op : llvm::make_early_inc_range(map.getBody().front())) {
    if (auto read = mlir::dyn_cast<tile::ReadOp>(op)) {
      for (tile::WriteOp write : known) {
        if (write.getBuffer() != read.getBuffer() || !keeps_value(write.getBuffer().getType().getElementType()) ||
            !same_indices(write.getIndices(), read.getIndices(), map, map)) {
          continue;
        }
        read.getValue().replaceAllUsesWith(write.getValue());
        read.erase();
        break;
      }
    } else if (auto write = mlir::dyn_cast<tile::WriteOp>(op)) {
      llvm::erase_if(known, [&](tile::WriteOp other) {
        return tile::root_buffer(other.getBuffer()) == tile::root_buffer(write.getBuffer());
      });
      known.push_back(write);
    } else if (auto combine = mlir::dyn_cast<tile::CombineOp>(op)) {
      llvm::erase_if(known, [&](tile::WriteOp other) {
        return tile::root_buffer(other.getBuffer()) == tile::root_buffer(combine.getBuffer());
      });
    }
  }
}

// A map of the block that may be joined, and what it touches.
struct Candidate {
  tile::MapOp map;
  llvm::SmallVector<Element> elements;
  llvm::SmallPtrSet<Value, 4> roots;  // of the buffers

  explicit Candidate(tile::MapOp op) : map(op) { look(); }

  void look() {
    roots.clear();
    auto found = elements_of(map);
    joinable = found && found->size() <= kMostElements;
    if (!found) return;
    elements = std::move(*found);
    for (const Element& element : elements) roots.insert(tile::root_buffer(element.buffer));
  }

  // What touches more has no registers left to keep anything in.
  static constexpr size_t kMostElements = 64;
  bool joinable = false;
};

// Maps with nothing in common gain nothing by being one, but their tiles would be needed at the same time.
bool share_a_buffer(const Candidate& a, const Candidate& b) {
  return llvm::any_of(a.roots, [&](Value root) { return b.roots.contains(root); });
}

Place place_for_joined(const Candidate& first, const Candidate& second) {
  if (!first.joinable || !second.joinable || !same_sizes(first.map, second.map) || !share_a_buffer(first, second) ||
      !iterations_match(first.map, second.map, first.elements, second.elements)) {
    return Place::none;
  }
  return place_for(first.map, second.map, first.elements, second.elements);
}

// How many maps may stand between two that are joined: values that wait longer are better left in memory, and the pass
// takes time that grows with it.
constexpr size_t kReach = 32;

// One pass over the block, each map with those before it, the nearest first; true where something was joined, which may
// have cleared the way for others.
bool fuse_all(mlir::Block& block) {
  std::vector<Candidate> maps;
  for (tile::MapOp map : block.getOps<tile::MapOp>()) maps.emplace_back(map);
  bool joined = false;
  for (size_t later = 1; later < maps.size(); ++later) {
    const size_t first = later > kReach ? later - kReach : 0;
    for (size_t earlier = later; earlier-- > first;) {
      const Place place = place_for_joined(maps[earlier], maps[later]);
      if (place == Place::none) continue;
      join(maps[earlier].map, maps[later].map, place);
      forward_writes(maps[later].map);
      maps[later].look();
      joined = true;
      // The joined map takes the place of one of the two; those before it are asked again.
      if (place == Place::earlier) {
        maps[earlier] = std::move(maps[later]);
        maps.erase(maps.begin() + static_cast<long>(later));
        later = earlier;
      } else {
        maps.erase(maps.begin() + static_cast<long>(earlier));
        --later;
      }
      earlier = later;
    }
  }
  return joined;
}

}  // namespace

void fuse_maps(tile::KernelOp kernel) {
  llvm::SetVector<mlir::Block*> blocks;
  kernel.walk([&](tile::MapOp map) { blocks.insert(map->getBlock()); });
  for (mlir::Block* block : blocks) {
    while (fuse_all(*block)) {
    }
  }
  drop_dead_writes(kernel);
}

}  // namespace deep_accel::compile
