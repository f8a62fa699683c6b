// See strip_products.h.
#include "deep_accel/compile/passes/strip_products.h"

#include "deep_accel/compile/passes/decisions.h"
#include "deep_accel/compile/passes/factors.h"
#include "deep_accel/compile/passes/hazards.h"
#include "deep_accel/compile/passes/prefetch_host.h"
#include "deep_accel/compile/passes/strips.h"

namespace deep_accel::compile {

using mlir::Value;
namespace arith = mlir::arith;
namespace scf = mlir::scf;

namespace {

using Builder = mlir::ImplicitLocOpBuilder;

// A product and the load that fills its left factor.
struct StrippedProduct {
  tile::GemmOp gemm;
  tile::LoadOp load;
  llvm::SmallVector<tile::PrefetchOp> ahead;  // that wait for this product

  int64_t row_dim() { return gemm.getTransposeA() ? 1 : 0; }
};

// The load of the left factor where it can move to the product: nobody else sees the tile, and nothing between the two
// changes what is loaded.
tile::LoadOp movable_load(tile::GemmOp gemm) {
  tile::LoadOp load = filling_load(gemm, gemm.getA());
  if (!load || gemm.getScaleA() || !tile::is_global(load.getSource().getType())) return {};
  for (mlir::Operation* user : gemm.getA().getUsers()) {
    if (user != gemm && user != load) return {};
  }
  for (mlir::Operation* op = load->getNextNode(); op != gemm; op = op->getNextNode()) {
    if (may_write(op, load.getSource())) return {};
  }
  return load;
}

std::optional<StrippedProduct> find(tile::GemmOp gemm, const Strips& strips) {
  if (strips.count < 2) return std::nullopt;
  tile::LoadOp load = movable_load(gemm);
  if (!load) return std::nullopt;
  StrippedProduct product{gemm, load, {}};
  for (mlir::Operation* op = gemm->getPrevNode(); op && !mlir::isa<tile::GemmOp>(op); op = op->getPrevNode()) {
    auto prefetch = mlir::dyn_cast<tile::PrefetchOp>(op);
    if (prefetch && prefetch_host(prefetch) == PrefetchHost::product) product.ahead.push_back(prefetch);
  }
  return product;
}

// A run of strips of one height, in the code that is made for it.
struct StripLoop {
  Builder& builder;
  StrippedProduct product;
  const Strips& strips;
  int64_t height;
  Value number;  // of the strip
  Value row;     // its first

  Value constant(int64_t value) const { return builder.create<arith::ConstantIndexOp>(value); }
  Value add(Value a, Value b) const { return builder.createOrFold<arith::AddIOp>(a, b); }

  Value load_strip(Value whole) {
    tile::LoadOp load = product.load;
    auto type = mlir::cast<mlir::MemRefType>(whole.getType());
    llvm::SmallVector<int64_t> sizes(type.getShape());
    Value tile = whole;
    if (sizes[product.row_dim()] != height) {
      sizes[product.row_dim()] = height;
      llvm::SmallVector<Value> origin(2, constant(0));
      tile = builder.create<tile::SliceOp>(tile::slice_type(type, sizes, std::nullopt, 0), whole, origin, nullptr);
    }
    llvm::SmallVector<Value> indices(load.getIndices());
    Value& moved = indices[load.source_dim(product.row_dim())];
    moved = add(moved, row);
    builder.create<tile::LoadOp>(load.getSource(), indices, tile, load.getFill(), load.getDimsAttr());
    return tile;
  }

  void prefetch(tile::PrefetchOp ahead, llvm::ArrayRef<Value> indices, llvm::ArrayRef<int64_t> sizes) {
    auto op = builder.create<tile::PrefetchOp>(ahead.getSource(), indices, ahead.getWhen(), sizes);
    set_prefetch_host(op, PrefetchHost::product);
  }

  // The window of the next strip; after the last, of the next turn's first.
  void prefetch_next_strip(tile::PrefetchOp ahead) {
    const int64_t dim = product.load.source_dim(product.row_dim());
    Value next = add(row, constant(strips.high));
    Value last = builder.create<arith::CmpIOp>(arith::CmpIPredicate::sge, next, constant(strips.rows));
    next = builder.create<arith::SelectOp>(last, constant(0), next);
    llvm::SmallVector<Value> indices;
    for (auto [here, later] : llvm::zip_equal(product.load.getIndices(), ahead.getIndices())) {
      indices.push_back(here == later ? here : builder.create<arith::SelectOp>(last, later, here).getResult());
    }
    indices[dim] = add(indices[dim], next);
    llvm::SmallVector<int64_t> sizes(ahead.getSizes());
    sizes[dim] = strips.high;
    prefetch(ahead, indices, sizes);
  }

  // This strip's share of a window, along its first dimension of some size.
  void prefetch_share(tile::PrefetchOp ahead) {
    llvm::SmallVector<int64_t> sizes(ahead.getSizes());
    llvm::SmallVector<Value> indices(ahead.getIndices());
    const size_t dim = static_cast<size_t>(llvm::find_if(sizes, [](int64_t size) { return size > 1; }) - sizes.begin());
    if (dim < sizes.size()) {
      const int64_t whole = sizes[dim], share = llvm::divideCeil(whole, strips.count);
      Value begin = builder.createOrFold<arith::MulIOp>(number, constant(share));
      begin = builder.createOrFold<arith::MinSIOp>(begin, constant(whole - share));
      indices[dim] = add(indices[dim], begin);
      sizes[dim] = share;
    }
    prefetch(ahead, indices, sizes);
  }

  void prefetch_ahead() {
    for (tile::PrefetchOp ahead : llvm::reverse(product.ahead)) {
      if (ahead.getSource() == product.load.getSource() && ahead.getSizes().size() == ahead.getIndices().size()) {
        prefetch_next_strip(ahead);
      } else {
        prefetch_share(ahead);
      }
    }
  }

  void multiply(Value tile) {
    tile::GemmOp gemm = product.gemm;
    auto type = mlir::cast<mlir::MemRefType>(gemm.getAcc().getType());
    Value acc = builder.create<tile::SliceOp>(tile::slice_type(type, {height, gemm.n()}), gemm.getAcc(),
                                              mlir::ValueRange{row, constant(0)}, nullptr);
    mlir::IRMapping mapping;
    mapping.map(gemm.getA(), tile);
    mapping.map(gemm.getAcc(), acc);
    Value whole = constant(height);
    auto strip = mlir::cast<tile::GemmOp>(builder.clone(*gemm, mapping));
    if (!gemm.getLive().empty()) strip.getLiveMutable()[0].set(whole);
  }
};

void emit_strips(Builder& builder, const StrippedProduct& product, const Strips& strips, Value whole, int64_t from,
                 int64_t to, int64_t first_row, int64_t height) {
  if (from == to) return;
  auto constant = [&](int64_t value) -> Value { return builder.create<arith::ConstantIndexOp>(value); };
  Value end = constant(to);
  if (tile::GemmOp gemm = product.gemm; !gemm.getLive().empty()) {
    // Up to the strip that holds the last live row.
    Value rows = builder.create<arith::SubIOp>(gemm.getLive()[0], constant(first_row));
    Value strips_left = builder.create<arith::CeilDivSIOp>(rows, constant(height));
    end = builder.create<arith::MinSIOp>(end, builder.create<arith::AddIOp>(strips_left, constant(from)));
  }
  auto loop = builder.create<scf::ForOp>(constant(from), end, constant(1));
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar();
  Value row = builder.createOrFold<arith::MulIOp>(number, constant(height));
  row = builder.createOrFold<arith::AddIOp>(row, constant(first_row - from * height));
  StripLoop strip{builder, product, strips, height, number, row};
  Value tile = strip.load_strip(whole);
  strip.prefetch_ahead();
  strip.multiply(tile);
}

void rewrite(StrippedProduct product, const Strips& strips) {
  tile::GemmOp gemm = product.gemm;
  tile::LoadOp load = product.load;
  auto alloc = gemm.getA().getDefiningOp<tile::AllocOp>();
  Builder builder(alloc.getLoc(), alloc);
  llvm::SmallVector<int64_t> shape(alloc.getType().getShape());
  shape[product.row_dim()] = strips.high;
  auto type = tile::buffer_type(shape, alloc.getType().getElementType(), tile::space_of(alloc.getType()));
  auto small = builder.create<tile::AllocOp>(type, alloc.getNameAttr(), alloc.getAlignAttr());
  small->setDiscardableAttrs(alloc->getDiscardableAttrDictionary());
  note_decision(gemm, tile::buffer_name(alloc.getBuffer()) + " loaded in strips of " + std::to_string(strips.high) +
                          " rows, as the product needs them");

  builder.setInsertionPoint(gemm);
  builder.setLoc(gemm.getLoc());
  emit_strips(builder, product, strips, small.getBuffer(), 0, strips.tall, 0, strips.high);
  emit_strips(builder, product, strips, small.getBuffer(), strips.tall, strips.count, strips.tall * strips.high,
              strips.high - 1);
  for (tile::PrefetchOp ahead : product.ahead) ahead->erase();
  gemm.erase();
  load.erase();
  alloc.erase();
}

}  // namespace

void strip_products(tile::KernelOp kernel) {
  llvm::SmallVector<tile::GemmOp> products;
  kernel.walk([&](tile::GemmOp op) { products.push_back(op); });
  for (tile::GemmOp gemm : products) {
    const auto register_tile = gemm->getAttrOfType<mlir::DenseI64ArrayAttr>("tile.register_tile");
    const Strips strips = divide_in_strips(gemm.m(), register_tile[0]);
    if (auto product = find(gemm, strips)) rewrite(*product, strips);
  }
}

}  // namespace deep_accel::compile
