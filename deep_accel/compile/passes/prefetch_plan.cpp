#include "deep_accel/compile/passes/prefetch_plan.h"

#include "deep_accel/base/text.h"

namespace deep_accel::compile {

using mlir::Operation;
using mlir::Value;
namespace arith = mlir::arith;
namespace scf = mlir::scf;

namespace {

// Hardware follows streams: after two or three lines of one it runs ahead by itself. It does not cross into a new row
// far away, so that short rows with long strides between them start a new stream each.
constexpr int64_t long_row_bytes = 512;      // of which the lines before the hardware has caught up are few
constexpr int64_t near_stride_bytes = 2048;  // rows within one page of each other are one stream
constexpr int64_t few_rows = 4;              // too few streams to matter
constexpr int64_t most_bytes = 256 << 10;    // a window beyond this would push itself out of the second-level cache
// A product hides the prefetch of a cache line behind this many multiply-adds for each of its elements.
constexpr double products_an_element = 32;

mlir::MemRefType type_of(Value buffer) { return mlir::cast<mlir::MemRefType>(buffer.getType()); }

// How a window lies in memory: runs of contiguous bytes, and the distance from one to the next (0 where unknown).
struct Rows {
  int64_t count;
  int64_t bytes;
  int64_t stride_bytes;
};

Rows rows_of(const FutureWindow& window) {
  const mlir::MemRefType type = type_of(window.source);
  llvm::SmallVector<int64_t> strides;
  int64_t offset;
  const bool strided = succeeded(mlir::getStridesAndOffset(type, strides, offset));
  const int64_t bits = tile::storage_bits(type.getElementType());
  int64_t run = 1, all = 1;
  size_t dim = window.sizes.size();
  for (int64_t size : window.sizes) all *= size;
  while (strided && dim > 0 && strides[dim - 1] == run) {
    --dim;
    run *= window.sizes[dim];
    // The next dimension goes on where this one ends only if the window takes it whole.
    if (window.sizes[dim] != type.getDimSize(dim)) break;
  }
  while (dim > 0 && window.sizes[dim - 1] == 1) --dim;
  const int64_t stride = strided && dim > 0 ? strides[dim - 1] : mlir::ShapedType::kDynamic;
  return {all / std::max<int64_t>(run, 1), run * bits / 8, mlir::ShapedType::isDynamic(stride) ? 0 : stride * bits / 8};
}

template <typename Load>
FutureWindow window_of(Load load, mlir::Block& body, const LoopHazards& hazards) {
  FutureWindow window{load, load.getSource(), llvm::to_vector(load.getIndices()), {}, {}, 0, {body, hazards}};
  window.sizes.assign(window.indices.size(), 1);
  const mlir::MemRefType tile = load.getTile().getType();
  const int64_t first = mlir::isa<tile::GatherOp>(load) ? 1 : 0;
  for (int64_t dim = first; dim < tile.getRank(); ++dim) window.sizes[load.source_dim(dim)] = tile.getDimSize(dim);
  return window;
}

// True where the addresses can be computed for a later iteration.
bool find_addresses(FutureWindow& window) {
  if (window.rows && !(window.slice.add_contents(window.rows, window.op) && window.slice.add(window.rows)))
    return false;
  return window.slice.add(window.source) &&
         llvm::all_of(window.indices, [&](Value index) { return window.slice.add(index); });
}

// The product of the body that reads the tile, where its arithmetic is long enough to hide the way of the next tile
// from memory.
tile::GemmOp product_that_hides(Value tile, mlir::Block& body) {
  tile::GemmOp reader;
  for (mlir::Operation* user : tile.getUsers()) {
    auto gemm = mlir::dyn_cast<tile::GemmOp>(user);
    if (gemm && gemm->getBlock() == &body && gemm.getAcc() != tile) reader = gemm;
  }
  if (!reader) return {};
  const auto elements = tile::element_count(mlir::cast<mlir::MemRefType>(tile.getType()));
  const double products = static_cast<double>(reader.m()) * static_cast<double>(reader.n() * reader.k());
  return products >= products_an_element * static_cast<double>(elements.value_or(0)) ? reader : tile::GemmOp();
}

PrefetchDecision decide(FutureWindow window, Value tile, const std::string& what, mlir::Block& body,
                        const LoopHazards& hazards) {
  auto no = [&](const std::string& why) { return PrefetchDecision{{}, {}, what + why}; };
  if (hazards.writes(window.source)) return no(" not prefetched: the loop writes it");
  if (!find_addresses(window)) return no(" not prefetched: " + window.slice.obstacle());
  if (!window.slice.varies()) return no(" not prefetched: it is the same in every iteration");

  const Rows rows = rows_of(window);
  const int64_t count = window.rows ? rows.count * type_of(window.rows).getDimSize(0) : rows.count;
  const int64_t total = count * rows.bytes;
  if (total > most_bytes) return no(" not prefetched: " + format_bytes(total) + " would not stay in the cache");
  if (window.rows || window.slice.reads_memory()) return {std::move(window), {}, what + " prefetched"};
  if (tile::GemmOp product = product_that_hides(tile, body)) {
    return {std::move(window), product, what + " prefetched line by line during the product"};
  }
  const std::string row_text = "rows of " + std::to_string(rows.bytes) + " bytes";
  if (rows.bytes >= long_row_bytes) return no(" left to the hardware: unit stride, " + row_text);
  if (count < few_rows) {
    return no(" left to the hardware: only " + std::to_string(count) + (count == 1 ? " row" : " rows"));
  }
  if (rows.stride_bytes != 0 && rows.stride_bytes <= near_stride_bytes) {
    return no(" left to the hardware: rows " + std::to_string(rows.stride_bytes) + " bytes apart");
  }
  return {std::move(window), {}, what + " prefetched (" + row_text + ", far apart)"};
}

}  // namespace

std::optional<PrefetchDecision> decide_prefetch(Operation* op, mlir::Block& body, const LoopHazards& hazards) {
  if (auto load = mlir::dyn_cast<tile::LoadOp>(op)) {
    if (!tile::is_global(load.getSource().getType())) return std::nullopt;
    return decide(window_of(load, body, hazards), load.getTile(), "load of " + tile::buffer_name(load.getSource()),
                  body, hazards);
  }
  if (auto gather = mlir::dyn_cast<tile::GatherOp>(op)) {
    if (!tile::is_global(gather.getSource().getType())) return std::nullopt;
    FutureWindow window = window_of(gather, body, hazards);
    window.rows = gather.getRows();
    window.axis = static_cast<int64_t>(gather.getAxis());
    return decide(std::move(window), gather.getTile(),
                  "gather of " + tile::buffer_name(gather.getSource()) + " by " + tile::buffer_name(gather.getRows()),
                  body, hazards);
  }
  if (auto im2col = mlir::dyn_cast<tile::Im2colOp>(op)) {
    return PrefetchDecision{
        {},
        {},
        "im2col of " + tile::buffer_name(im2col.getImage()) + " left to the hardware: neighbouring pixels overlap"};
  }
  return std::nullopt;
}

void FutureWindow::emit(mlir::OpBuilder& outer, mlir::IRMapping& mapping, PrefetchHost host) const {
  mlir::ImplicitLocOpBuilder builder(op->getLoc(), outer);
  slice.clone(builder, mapping);
  llvm::SmallVector<Value> at =
      llvm::map_to_vector(indices, [&](Value index) { return mapping.lookupOrDefault(index); });
  Value buffer = mapping.lookupOrDefault(source);
  auto prefetch = [&] {
    auto op = builder.create<tile::PrefetchOp>(buffer, at, Value(), sizes);
    if (host != PrefetchHost::none) set_prefetch_host(op, host);
  };
  if (!rows) return prefetch();

  Value tile = mapping.lookupOrDefault(rows);
  auto constant = [&](int64_t value) { return builder.create<arith::ConstantIndexOp>(value).getResult(); };
  auto loop = builder.create<scf::ForOp>(constant(0), constant(type_of(rows).getDimSize(0)), constant(1));
  builder.setInsertionPointToStart(loop.getBody());
  Value row = builder.create<tile::ReadOp>(tile::compute_type(type_of(rows).getElementType()), tile,
                                           mlir::ValueRange{loop.getInductionVar()});
  row = builder.create<arith::IndexCastOp>(builder.getIndexType(), row);
  at[axis] = builder.create<arith::AddIOp>(at[axis], row);
  prefetch();
}

}  // namespace deep_accel::compile
