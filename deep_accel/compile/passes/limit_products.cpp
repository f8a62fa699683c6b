// See limit_products.h.
#include "deep_accel/compile/passes/limit_products.h"

#include "deep_accel/compile/passes/decisions.h"
#include "deep_accel/compile/passes/factors.h"
#include "deep_accel/compile/passes/map_elements.h"
#include "deep_accel/compile/passes/window.h"
#include "mlir/IR/Dominance.h"

namespace deep_accel::compile {

using mlir::Value;
namespace arith = mlir::arith;

namespace {

using Builder = mlir::ImplicitLocOpBuilder;

// A dimension of a window: it begins at `index` of a dimension of the buffer, which may end inside it.
struct Edge {
  Value index;
  Value buffer;
  int64_t dim;
};

bool same_edge(const Edge& a, const Edge& b) {
  if (!same_value(a.index, b.index)) return false;
  if (a.buffer == b.buffer && a.dim == b.dim) return true;
  mlir::Attribute size = size_name(a.buffer, a.dim);
  return size && size == size_name(b.buffer, b.dim);
}

// Follows what becomes of a tile's elements along one dimension, up to the stores that drop those beyond an edge.
class Fate {
 public:
  // The edge beyond which no element of the tile matters to anybody; nullopt where there is none.
  std::optional<Edge> of(Value tile, int64_t dim) {
    if (!follow(tile, dim)) return std::nullopt;
    return edge_;
  }

 private:
  bool follow(Value tile, int64_t dim) {
    if (!tile.getDefiningOp<tile::AllocOp>()) return false;
    if (llvm::is_contained(seen_, std::make_pair(tile, dim))) return true;
    seen_.emplace_back(tile, dim);
    return llvm::all_of(tile.getUses(), [&](mlir::OpOperand& use) { return follow_use(use, dim); });
  }

  bool follow_use(mlir::OpOperand& use, int64_t dim) {
    Value tile = use.get();
    return llvm::TypeSwitch<mlir::Operation*, bool>(use.getOwner())
        .Case([&](tile::FillOp) { return true; })
        .Case([&](tile::LoadOp load) { return load.getTile() == tile; })
        .Case([&](tile::GemmOp gemm) { return follow_product(gemm, use, dim); })
        .Case([&](tile::StoreOp store) {
          const int64_t to = store.dest_dim(dim);
          return ends_at({store.getIndices()[to], store.getDest(), to});
        })
        .Case([&](tile::CopyOp copy) { return copy.getDest() == tile || follow(copy.getDest(), dim); })
        .Case([&](tile::ReduceOp reduce) {
          if (reduce.getSource() != tile) return true;
          const auto along = static_cast<int64_t>(reduce.getDim());
          if (along == dim) return false;
          const bool keeps = reduce.getDest().getType().getRank() == reduce.getSource().getType().getRank();
          return follow(reduce.getDest(), keeps || dim < along ? dim : dim - 1);
        })
        .Case([&](tile::ReadOp read) { return follow_map(read, read.getIndices(), dim); })
        .Case([&](tile::WriteOp write) { return follow_map(write, write.getIndices(), dim); })
        .Default([](mlir::Operation*) { return false; });
  }

  // Rows of the left factor become rows of the sums, columns of the right one their columns.
  bool follow_product(tile::GemmOp gemm, mlir::OpOperand& use, int64_t dim) {
    if (&use == &gemm.getAccMutable()) return true;
    const bool left = &use == &gemm.getAMutable();
    if (!left && &use != &gemm.getBMutable()) return false;
    const int64_t kept = left == gemm.getTransposeA() ? 1 : 0;
    return dim == kept && follow(gemm.getAcc(), left ? 0 : 1);
  }

  // Maps that only read and write elements: what they write at the axis of this dimension has the same fate. Elements
  // beyond the edge may hold anything, so that no index may come from them, nor may a computation mind its operands.
  bool follow_map(mlir::Operation* access, mlir::ValueRange indices, int64_t dim) {
    auto map = mlir::dyn_cast<tile::MapOp>(access->getParentOp());
    if (!map) return false;
    Value axis = indices[dim];
    auto argument = mlir::dyn_cast<mlir::BlockArgument>(axis);
    if (!argument || argument.getOwner()->getParentOp() != map) return false;
    for (mlir::Operation& op : map.getBody().front()) {
      if (auto read = mlir::dyn_cast<tile::ReadOp>(op)) {
        if (!are_places(read.getIndices(), map)) return false;
      } else if (auto write = mlir::dyn_cast<tile::WriteOp>(op)) {
        const mlir::ValueRange to = write.getIndices();
        const auto place = std::distance(to.begin(), llvm::find(to, axis));
        if (place == static_cast<int64_t>(to.size()) || !are_places(to, map) || !follow(write.getBuffer(), place)) {
          return false;
        }
      } else if (op.getNumRegions() != 0 || !mlir::isPure(&op)) {
        return false;
      }
    }
    return true;
  }

  // True for indices that are a map's own or come from outside of it.
  static bool are_places(mlir::ValueRange indices, tile::MapOp map) {
    return llvm::all_of(indices, [&](Value index) {
      return mlir::isa<mlir::BlockArgument>(index) || !map->isProperAncestor(index.getDefiningOp());
    });
  }

  bool ends_at(const Edge& edge) {
    if (edge_) return same_edge(*edge_, edge);
    edge_ = edge;
    return true;
  }

  std::optional<Edge> edge_;
  llvm::SmallVector<std::pair<Value, int64_t>> seen_;
};

// Whether what a load reads outside of its source is zero.
bool fills_with_zeros(tile::LoadOp load) {
  return !load.getFill() || mlir::matchPattern(load.getFill(), mlir::m_AnyZeroFloat()) ||
         mlir::matchPattern(load.getFill(), mlir::m_Zero());
}

std::optional<Edge> depth_of(tile::GemmOp gemm) {
  if (gemm.getScaleA()) return std::nullopt;
  tile::LoadOp a = filling_load(gemm, gemm.getA()), b = filling_load(gemm, gemm.getB());
  if (!a || !b || !fills_with_zeros(a) || !fills_with_zeros(b)) return std::nullopt;
  const int64_t a_dim = a.source_dim(gemm.getTransposeA() ? 0 : 1), b_dim = b.source_dim(gemm.getTransposeB() ? 1 : 0);
  const Edge in_a{a.getIndices()[a_dim], a.getSource(), a_dim}, in_b{b.getIndices()[b_dim], b.getSource(), b_dim};
  return same_edge(in_a, in_b) ? std::optional(in_a) : std::nullopt;
}

// True where the dimension is known to go on to the end of the window.
bool is_whole(const Edge& edge, int64_t size) {
  auto type = mlir::cast<mlir::MemRefType>(edge.buffer.getType());
  if (type.isDynamicDim(static_cast<unsigned>(edge.dim))) return false;
  const auto maximum = known_maximum(edge.index);
  return maximum && *maximum + size <= type.getDimSize(static_cast<unsigned>(edge.dim));
}

// An index where the product stands: itself, or computed once more.
Value available(Builder& builder, Value index, mlir::Operation* at, mlir::DominanceInfo& dominance) {
  if (dominance.properlyDominates(index, at)) return index;
  mlir::Operation* def = index.getDefiningOp();
  if (!def || def->getNumRegions() != 0 || !mlir::isMemoryEffectFree(def)) return {};
  mlir::IRMapping mapping;
  for (Value operand : def->getOperands()) {
    Value copy = available(builder, operand, at, dominance);
    if (!copy) return {};
    mapping.map(operand, copy);
  }
  return builder.clone(*def, mapping)->getResult(0);
}

void limit(tile::GemmOp gemm, mlir::DominanceInfo& dominance) {
  Builder builder(gemm.getLoc(), gemm);
  const std::optional<Edge> edges[] = {Fate().of(gemm.getAcc(), 0), Fate().of(gemm.getAcc(), 1), depth_of(gemm)};
  const int64_t sizes[] = {gemm.m(), gemm.n(), gemm.k()};
  const char* names[] = {"rows", "columns", "depth"};
  llvm::SmallVector<Value> live;
  std::string limited;
  for (size_t axis = 0; axis < 3; ++axis) {
    Value whole = builder.create<arith::ConstantIndexOp>(sizes[axis]);
    live.push_back(whole);
    const auto& edge = edges[axis];
    if (!edge || is_whole(*edge, sizes[axis]) || !dominance.properlyDominates(edge->buffer, gemm)) continue;
    Value index = available(builder, edge->index, gemm, dominance);
    if (!index) continue;
    Value end =
        mlir::getValueOrCreateConstantIndexOp(builder, gemm.getLoc(), extent_of(builder, edge->buffer, edge->dim));
    Value left = builder.create<arith::SubIOp>(end, index);
    live.back() = builder.create<arith::MinSIOp>(left, whole);
    limited += (limited.empty() ? "" : ", ") + std::string(names[axis]);
  }
  if (limited.empty()) return;
  gemm.getLiveMutable().assign(live);
  note_decision(gemm, "products end with the tensors: " + limited);
}

}  // namespace

void limit_products(tile::KernelOp kernel) {
  llvm::SmallVector<tile::GemmOp> products;
  kernel.walk([&](tile::GemmOp op) {
    if (op.getLive().empty()) products.push_back(op);
  });
  mlir::DominanceInfo dominance(kernel);
  for (tile::GemmOp gemm : products) limit(gemm, dominance);
}

}  // namespace deep_accel::compile
