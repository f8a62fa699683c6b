// See select_layouts.h. The register tile comes from a small model of the inner loop: for one step of k, a block of r
// rows and v vectors takes max(r v / ports, loads / 2, latency) cycles.
#include "deep_accel/compile/passes/select_layouts.h"

#include <cmath>

#include "deep_accel/compile/passes/decisions.h"
#include "deep_accel/compile/passes/dot_products.h"
#include "deep_accel/compile/target/tile_product.h"

namespace deep_accel::compile {

using mlir::Value;
namespace arith = mlir::arith;

namespace {

// Ops that see a tile element by element, whatever its layout.
bool sees_elements(mlir::Operation* user) {
  return mlir::isa<tile::LoadOp, tile::AsyncLoadOp, tile::StoreOp, tile::CopyOp, tile::TransposeOp, tile::GatherOp,
                   tile::ScatterOp, tile::Im2colOp, tile::ReadOp, tile::WriteOp, tile::CombineOp, tile::FillOp,
                   tile::ReduceOp, tile::ScanOp>(user);
}

// True where the tile is an alloc of its own whose only product is a factor of this kind, and all else sees elements.
bool may_change_layout(Value tile, bool as_right_factor, bool transposed) {
  if (!tile.getDefiningOp<tile::AllocOp>()) return false;
  return llvm::all_of(tile.getUses(), [&](mlir::OpOperand& use) {
    auto gemm = mlir::dyn_cast<tile::GemmOp>(use.getOwner());
    if (!gemm) return sees_elements(use.getOwner());
    if (gemm.getAcc() == tile || gemm.getScaleA() == tile || gemm.getScaleB() == tile) return false;
    const bool right = gemm.getB() == tile;
    if (gemm.getA() == tile && right) return false;
    return right == as_right_factor && (right ? gemm.getTransposeB() : gemm.getTransposeA()) == transposed;
  });
}

mlir::DenseI64ArrayAttr panels_of(tile::AllocOp alloc) {
  return alloc->getAttrOfType<mlir::DenseI64ArrayAttr>("tile.panels");
}

void set_panels(tile::AllocOp alloc, int64_t axis, int64_t width, int64_t group) {
  llvm::SmallVector<int64_t> numbers{axis, width};
  if (group > 1) numbers.push_back(group);
  alloc->setAttr("tile.panels", mlir::DenseI64ArrayAttr::get(alloc.getContext(), numbers));
}

// Whether an earlier product reads the left factor in words, as it lies.
bool read_in_words(Value left) {
  return llvm::any_of(left.getUsers(), [](mlir::Operation* user) { return user->hasAttr("tile.group"); });
}

// Whether no product has chosen a layout for the tile.
bool is_fresh(Value tile) {
  auto alloc = tile.getDefiningOp<tile::AllocOp>();
  return alloc && !alloc->hasAttr("tile.storage") && !alloc->hasAttr("tile.panels") && !read_in_words(tile);
}

std::string type_text(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

// A tile of the same shape beside `source`, filled from it before the product.
Value copy_beside(mlir::OpBuilder& builder, mlir::Location loc, Value source) {
  auto type = mlir::cast<mlir::MemRefType>(source.getType());
  auto fresh = tile::buffer_type(type.getShape(), type.getElementType(), tile::Space::shared);
  Value copy = builder.create<tile::AllocOp>(loc, fresh, builder.getStringAttr("packed"), nullptr);
  builder.create<tile::CopyOp>(loc, source, copy);
  return copy;
}

// The dense left factor of a sparse product, then the product.
void expand_sparse(tile::SparseGemmOp op) {
  mlir::ImplicitLocOpBuilder builder(op.getLoc(), op);
  auto type = op.getA().getType();
  const int64_t m = type.getDimSize(0), k = 2 * type.getDimSize(1);
  Value dense = builder.create<tile::AllocOp>(tile::buffer_type({m, k}, type.getElementType(), tile::Space::shared),
                                              builder.getStringAttr("expanded"), nullptr);
  mlir::Type compute = tile::compute_type(type.getElementType());
  Value zero = builder.create<arith::ConstantOp>(compute, builder.getZeroAttr(compute));
  builder.create<tile::FillOp>(dense, zero);
  auto map = builder.create<tile::MapOp>(
      llvm::ArrayRef<mlir::OpFoldResult>{builder.getIndexAttr(m), builder.getIndexAttr(k / 2)});
  {
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&map.getBody().front());
    Value i = map.getBody().getArgument(0), j = map.getBody().getArgument(1);
    Value value = builder.create<tile::ReadOp>(compute, op.getA(), mlir::ValueRange{i, j});
    Value place = builder.create<tile::ReadOp>(builder.getI32Type(), op.getPositions(), mlir::ValueRange{i, j});
    Value group = builder.create<arith::DivUIOp>(j, builder.create<arith::ConstantIndexOp>(2));
    Value column =
        builder.create<arith::AddIOp>(builder.create<arith::MulIOp>(group, builder.create<arith::ConstantIndexOp>(4)),
                                      builder.create<arith::IndexCastOp>(builder.getIndexType(), place));
    builder.create<tile::WriteOp>(value, dense, mlir::ValueRange{i, column});
  }
  builder.create<tile::GemmOp>(dense, op.getB(), op.getAcc(), Value(), Value(), mlir::ValueRange(), false,
                               op.getTransposeB(), op.getClear());
  op.erase();
}

}  // namespace

std::pair<int64_t, int64_t> register_tile(int64_t m, int64_t n, int64_t element_bits, const Target& target) {
  int64_t lanes = target.lanes(static_cast<int>(element_bits));
  while (lanes > n && lanes > 2) lanes /= 2;
  std::pair<int64_t, int64_t> best{1, lanes};
  double best_cost = INFINITY;
  for (int64_t vectors = 1; vectors <= 4; ++vectors) {
    for (int64_t rows = 1; rows <= 16; ++rows) {
      // Panels of the left factor are written in vectors, and read in vectors where lanes are taken of them.
      if (target.pack_left && m >= 4 && rows % 4 != 0) continue;
      // Accumulators, a row of b, a (one broadcast, or vectors whose lanes are taken), and one to spare; more where a
      // product and its sum are two instructions that overwrite a factor.
      const int64_t of_a = target.fma_by_lane ? (rows + lanes - 1) / lanes : 1;
      if (rows * vectors + vectors + of_a + (target.fma ? 1 : 4) > target.vector_registers) break;
      double cycles = 0;
      int kinds = 0;
      auto add_blocks = [&](int64_t r, int64_t row_blocks) {
        const int64_t all = (n + lanes - 1) / lanes;
        for (auto [v, blocks] : {std::pair{vectors, all / vectors}, std::pair{all % vectors, int64_t{1}}}) {
          if (r == 0 || v == 0 || blocks == 0 || row_blocks == 0) continue;
          const double products = static_cast<double>(r * v) / target.fma_ports;
          const double loads = static_cast<double>((target.fma_by_lane ? (r + lanes - 1) / lanes : r) + v) / 2;
          const double latency = target.fma_latency;
          // Loads that hide behind products still cost a little: the front end sees them, and b streams from the second
          // cache.
          cycles +=
              static_cast<double>(blocks * row_blocks) *
              (std::max({products, loads, latency}) + 0.1 * static_cast<double>(r) + 0.4 * static_cast<double>(v));
          ++kinds;
        }
      };
      add_blocks(rows, m / rows);
      add_blocks(m % rows, 1);
      // The table's own tile has been looked at in assembly: another one must be clearly better.
      const bool known = target.f32_register_tile == RegisterTile{static_cast<int>(rows), static_cast<int>(vectors)};
      const double cost = cycles * (1 + 0.01 * kinds) * (known ? 0.95 : 1);
      if (cost < best_cost) best_cost = cost, best = {rows, vectors * lanes};
    }
  }
  return best;
}

void select_layouts(tile::KernelOp kernel, const Target& target) {
  llvm::SmallVector<tile::SparseGemmOp> sparse;
  kernel.walk([&](tile::SparseGemmOp op) { sparse.push_back(op); });
  for (tile::SparseGemmOp op : sparse) expand_sparse(op);

  llvm::SmallVector<tile::GemmOp> products;
  kernel.walk([&](tile::GemmOp op) { products.push_back(op); });
  for (tile::GemmOp op : products) {
    mlir::OpBuilder builder(op);
    mlir::Type accumulation = tile::compute_type(op.getAcc().getType().getElementType());
    auto [rows, columns] = register_tile(op.m(), op.n(), tile::storage_bits(accumulation), target);
    const bool transposed = op.getTransposeB();
    int64_t group = dot_group(op, target);
    bool tile_registers = fits_tile_registers(op, group, target);
    if (tile_registers) {
      rows = TileProduct::kMostRows;
      columns = std::min(TileProduct::kMostColumns, (op.n() + 15) / 16 * 16);
    }
    if (!may_change_layout(op.getB(), true, transposed))
      op.getBMutable().assign(copy_beside(builder, op.getLoc(), op.getB()));
    auto b_alloc = op.getB().getDefiningOp<tile::AllocOp>();
    if (auto panels = panels_of(b_alloc)) {
      // Another product chose first.
      const int64_t theirs = panels.size() > 2 ? panels[2] : 1;
      if (theirs > group) {
        op.getBMutable().assign(copy_beside(builder, op.getLoc(), op.getB()));
        b_alloc = op.getB().getDefiningOp<tile::AllocOp>();
      } else {
        columns = panels[1];
        group = theirs;
      }
    }
    if (tile_registers && (group == 1 || columns % 16 != 0 || columns > TileProduct::kMostColumns)) {
      tile_registers = false;
      rows = register_tile(op.m(), op.n(), tile::storage_bits(accumulation), target).first;
    }
    set_panels(b_alloc, transposed ? 0 : 1, columns, group);

    // Narrow factors are decoded while they are packed, never in the inner loop; but for those that instructions take
    // as they are.
    auto decode = [&](Value factor) {
      auto alloc = factor.getDefiningOp<tile::AllocOp>();
      mlir::Type element = alloc.getType().getElementType();
      // Who else reads the tile finds all of its bits: wide factors are narrowed by the product itself.
      if (group == 1 && element != accumulation && tile::storage_bits(element) <= tile::storage_bits(accumulation)) {
        alloc->setAttr("tile.storage", mlir::TypeAttr::get(accumulation));
      }
    };
    decode(op.getB());
    // Packing a left factor pays where several panels of the right one go past it.
    const bool pack_left = target.pack_left && (op.n() > 2 * columns || group > 1) && op.m() > 1;
    const bool as_it_lies = group > 1 ? !pack_left && lies_in_words(op.getA(), op.getTransposeA(), group)
                                      : !pack_left && op.getA().getType().getElementType() == accumulation;
    if (!as_it_lies) {
      const bool shared = group == 1 ? read_in_words(op.getA()) : !is_fresh(op.getA());
      if (shared || !may_change_layout(op.getA(), false, op.getTransposeA()))
        op.getAMutable().assign(copy_beside(builder, op.getLoc(), op.getA()));
      decode(op.getA());
      auto alloc = op.getA().getDefiningOp<tile::AllocOp>();
      const int64_t axis = op.getTransposeA() ? 1 : 0;
      if (pack_left) {
        if (auto panels = panels_of(alloc)) rows = panels[1];
        set_panels(alloc, axis, rows, group);
      } else if (group > 1) {
        set_panels(alloc, axis, 1, 1);  // each row by itself, along K
      }
    }
    op->setAttr("tile.register_tile", builder.getDenseI64ArrayAttr({rows, columns}));
    if (group > 1) op->setAttr("tile.group", builder.getI64IntegerAttr(group));
    if (tile_registers) op->setAttr("tile.tile_registers", builder.getUnitAttr());
    std::string text = "product " + std::to_string(op.m()) + " x " + std::to_string(op.n()) + " x " +
                       std::to_string(op.k()) + ": register tile " + std::to_string(rows) + " x " +
                       std::to_string(columns) + " (" + target.name + "), " + tile::buffer_name(op.getB()) +
                       " packed in panels of " + std::to_string(columns);
    if (pack_left) text += ", " + tile::buffer_name(op.getA()) + " in panels of " + std::to_string(rows);
    if (group > 1)
      text += ", " + std::to_string(group) + " products an instruction (" + dot_name(op, target, tile_registers) + ")";
    if (b_alloc->hasAttr("tile.storage")) {
      text += ", decoded from " + type_text(b_alloc.getType().getElementType()) + " to " + type_text(accumulation);
    }
    note_decision(op, text);
  }
}

}  // namespace deep_accel::compile
