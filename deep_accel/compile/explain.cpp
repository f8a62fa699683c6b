// The report for each kernel: decisions, buffers, products, loops, cost, and an estimate of the time beside the
// roofline.
//
// Cost counts one block: each operation's own cost times the trips of the loops around it, where those are constants.
// The roofline's time is max(flops / peak, bytes / bandwidth) of one thread. The estimate divides the flops of products
// by what the register tile can reach: rows and columns that fill the last tile only in part do the work of a full one,
// and fewer accumulators than ports x latency leave the multipliers waiting. A whole launch, whose sizes are given,
// counts each tensor once: what blocks read again they find in a cache. Blocks at an edge count as whole ones.
#include "deep_accel/compile/explain.h"

#include <cmath>

#include "deep_accel/compile/passes/strips.h"
#include "deep_accel/runtime/peaks.h"
#include "deep_accel/tile/ir/program_impl.h"
#include "llvm/Support/JSON.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace deep_accel::compile {
namespace {

namespace json = llvm::json;

// In operations and bytes a second, on one thread.
struct Roof {
  double flops = 0;
  double bytes = 0;
  bool measured = false;
};

Roof roof_of(const Target& target) {
  Roof roof{.flops = 2.0 * target.lanes(32) * target.fma_ports * target.clock_ghz * 1e9,
            .bytes = target.memory_gbs * 1e9};
  if (!target.fma) roof.flops /= 2;
  if (&target != &host_target()) return roof;
  if (std::optional<Peaks> peaks = known_peaks()) {
    roof = {.flops = peaks->f32_gflops_one * 1e9, .bytes = peaks->one.best() * 1e9, .measured = true};
  }
  return roof;
}

json::Value attribute_json(mlir::Attribute attribute) {
  if (!attribute) return nullptr;
  if (auto text = mlir::dyn_cast<mlir::StringAttr>(attribute)) return text.getValue();
  if (mlir::isa<mlir::UnitAttr>(attribute)) return true;
  if (auto flag = mlir::dyn_cast<mlir::BoolAttr>(attribute)) return flag.getValue();
  if (auto number = mlir::dyn_cast<mlir::IntegerAttr>(attribute)) return number.getValue().getSExtValue();
  json::Array values;
  if (auto numbers = mlir::dyn_cast<mlir::DenseI64ArrayAttr>(attribute)) {
    for (int64_t number : numbers.asArrayRef()) values.push_back(number);
    return values;
  }
  if (auto list = mlir::dyn_cast<mlir::ArrayAttr>(attribute)) {
    for (mlir::Attribute element : list) values.push_back(attribute_json(element));
    return values;
  }
  if (auto dictionary = mlir::dyn_cast<mlir::DictionaryAttr>(attribute)) {
    json::Object members;
    for (mlir::NamedAttribute member : dictionary) {
      members[member.getName().getValue()] = attribute_json(member.getValue());
    }
    return members;
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  attribute.print(stream);
  return text;
}

std::string type_text(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  type.print(stream);
  return text;
}

std::optional<int64_t> constant_trips(mlir::Operation* loop) {
  mlir::Value lower, upper, step;
  if (auto pipeline = mlir::dyn_cast<tile::PipelineOp>(loop)) {
    lower = pipeline.getLower(), upper = pipeline.getUpper(), step = pipeline.getStep();
  } else if (auto plain = mlir::dyn_cast<mlir::scf::ForOp>(loop)) {
    lower = plain.getLowerBound(), upper = plain.getUpperBound(), step = plain.getStep();
  } else {
    return 1;
  }
  auto first = mlir::getConstantIntValue(lower), last = mlir::getConstantIntValue(upper),
       stride = mlir::getConstantIntValue(step);
  if (!first || !last || !stride || *stride <= 0) return std::nullopt;
  return std::max<int64_t>(0, (*last - *first + *stride - 1) / *stride);
}

// How often an operation runs in one block. Loops of unknown length count as one, and clear `known`.
double trips_of(mlir::Operation* op, mlir::Operation* grid, bool& known) {
  double trips = 1;
  for (mlir::Operation* around = op->getParentOp(); around && around != grid; around = around->getParentOp()) {
    std::optional<int64_t> count = constant_trips(around);
    if (count) trips *= static_cast<double>(*count);
    known &= count.has_value();
  }
  return trips;
}

// The part of the multipliers' work that counts.
double efficiency(int64_t m, int64_t n, const Target& target, llvm::ArrayRef<int64_t> register_tile) {
  int64_t rows = target.f32_register_tile.rows;
  int64_t columns = int64_t{target.f32_register_tile.vectors} * target.lanes(32);
  if (register_tile.size() == 2 && register_tile[0] > 0 && register_tile[1] > 0) {
    rows = register_tile[0], columns = register_tile[1];
  }
  const double filled =
      n <= 0 ? 1.0 : static_cast<double>(n) / static_cast<double>((n + columns - 1) / columns * columns);
  const double height = static_cast<double>(divide_in_strips(std::max<int64_t>(m, 1), rows).high);
  const double accumulators = height * std::ceil(static_cast<double>(columns) / target.lanes(32));
  return filled * std::min(1.0, accumulators / (target.fma_ports * target.fma_latency));
}

// A product as it was written, with the register tile that the passes chose for it.
json::Object product_json(mlir::Operation* written, tile::GridOp decided, const Target& target, double& share) {
  int64_t m, n, k;
  mlir::Type accumulation;
  if (auto gemm = mlir::dyn_cast<tile::GemmOp>(written)) {
    m = gemm.m(), n = gemm.n(), k = gemm.k();
    accumulation = tile::compute_type(gemm.getAcc().getType().getElementType());
  } else {
    auto sparse = mlir::cast<tile::SparseGemmOp>(written);
    llvm::ArrayRef<int64_t> acc = sparse.getAcc().getType().getShape();
    m = acc[0], n = acc[1], k = 2 * sparse.getA().getType().getDimSize(1);
    accumulation = tile::compute_type(sparse.getAcc().getType().getElementType());
  }
  // Passes divide products and keep their place in the source.
  mlir::DenseI64ArrayAttr chosen;
  decided->walk([&](tile::GemmOp gemm) {
    if (!chosen && gemm.getLoc() == written->getLoc() && gemm.n() == n && gemm.k() == k) {
      chosen = gemm->getAttrOfType<mlir::DenseI64ArrayAttr>("tile.register_tile");
    }
  });
  share = efficiency(m, n, target, chosen ? chosen.asArrayRef() : llvm::ArrayRef<int64_t>());
  return json::Object{{"where", tile::location_text(written->getLoc())},
                      {"m", m},
                      {"n", n},
                      {"k", k},
                      {"register_tile", attribute_json(chosen)},
                      {"lanes", target.lanes(static_cast<int>(tile::storage_bits(accumulation)))},
                      {"efficiency", share}};
}

json::Object alloc_json(tile::AllocOp alloc) {
  auto type = mlir::cast<mlir::MemRefType>(alloc.getBuffer().getType());
  json::Object buffer{{"name", alloc.getName().value_or("")},
                      {"type", type_text(type)},
                      {"space", tile::stringifySpace(tile::space_of(type))},
                      {"where", tile::location_text(alloc.getLoc())},
                      {"bytes", (type.getNumElements() * tile::storage_bits(type.getElementType()) + 7) / 8}};
  for (const char* name : {"offset", "panels", "storage", "kept"}) {
    if (mlir::Attribute value = alloc->getAttr(std::string("tile.") + name)) buffer[name] = attribute_json(value);
  }
  return buffer;
}

// One block's, and the flops that the multipliers are busy for.
struct BlockCost {
  tile::Cost total;
  double busy_flops = 0;
  bool known = true;
};

// `shares` are the products' efficiencies in order.
BlockCost block_cost(tile::GridOp grid, llvm::ArrayRef<double> shares) {
  BlockCost block;
  size_t product = 0;
  grid->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
    auto costly = mlir::dyn_cast<tile::TileOp>(op);
    if (!costly) return mlir::WalkResult::advance();
    const double trips = trips_of(op, grid, block.known);
    const tile::Cost cost = costly.cost();
    double share = 1;
    if (mlir::isa<tile::GemmOp, tile::SparseGemmOp>(op) && product < shares.size()) share = shares[product++];
    block.total.flops += cost.flops * trips;
    block.total.bytes += cost.bytes * trips;
    block.busy_flops += cost.flops * trips / share;
    return mlir::WalkResult::skip();  // its cost counts what stands inside
  });
  return block;
}

// What the maps of a phase became: equal ones (the interior and the edge of a window) once, with their number.
json::Array loops_json(mlir::ModuleOp lowered, const std::string& function) {
  auto found = lowered.lookupSymbol<mlir::func::FuncOp>(function);
  auto loops = found ? found->getAttrOfType<mlir::ArrayAttr>("tile.loops") : nullptr;
  llvm::MapVector<mlir::Attribute, int64_t> counts;
  for (mlir::Attribute loop : loops ? loops.getValue() : llvm::ArrayRef<mlir::Attribute>()) ++counts[loop];
  json::Array result;
  for (auto [loop, count] : counts) {
    json::Value shape = attribute_json(loop);
    (*shape.getAsObject())["count"] = count;
    for (json::Value& size : *shape.getAsObject()->getArray("sizes")) {
      if (mlir::ShapedType::isDynamic(size.getAsInteger().value_or(0))) size = nullptr;
    }
    result.push_back(std::move(shape));
  }
  return result;
}

// What a launch of all the phases does, where the sizes say it.
struct LaunchCost {
  double flops = 0, busy_flops = 0;
  bool known = true;

  void add(tile::GridOp grid, const BlockCost& block) {
    double blocks = 1;
    for (mlir::Value extent : grid.getExtents()) {
      auto number = mlir::getConstantIntValue(extent);
      known &= number.has_value();
      blocks *= static_cast<double>(number.value_or(1));
    }
    known &= block.known;
    flops += blocks * block.total.flops;
    busy_flops += blocks * block.busy_flops;
  }
};

json::Object phase_json(tile::GridOp written, tile::GridOp decided, json::Array loops, const Target& target,
                        const Roof& roof, LaunchCost& launch) {
  json::Array buffers, gemms;
  llvm::SmallVector<double> shares;
  decided->walk([&](tile::AllocOp alloc) { buffers.push_back(alloc_json(alloc)); });
  written->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
    if (!mlir::isa<tile::GemmOp, tile::SparseGemmOp>(op)) return;
    gemms.push_back(product_json(op, decided, target, shares.emplace_back(1)));
  });
  const BlockCost block = block_cost(written, shares);
  launch.add(written, block);
  const double compute = block.total.flops / roof.flops, memory = block.total.bytes / roof.bytes;
  json::Value decisions = attribute_json(decided->getAttr("tile.decisions"));
  if (!decisions.getAsArray()) decisions = json::Array();
  return json::Object{
      {"axes", static_cast<int64_t>(written.getExtents().size())},
      {"decisions", std::move(decisions)},
      {"arena_bytes", attribute_json(decided->getAttr("tile.arena_bytes"))},
      {"buffer_bytes", attribute_json(decided->getAttr("tile.buffer_bytes"))},
      {"kept_bytes", attribute_json(decided->getAttr("tile.kept_bytes"))},
      {"buffers", std::move(buffers)},
      {"gemms", std::move(gemms)},
      {"loops", std::move(loops)},
      {"cost", json::Object{{"flops", block.total.flops}, {"bytes", block.total.bytes}, {"loops_known", block.known}}},
      {"bound", compute >= memory ? "compute" : "memory"},
      {"roofline_seconds", std::max(compute, memory)},
      {"estimated_seconds", std::max(block.busy_flops / roof.flops, memory)}};
}

// Bytes of the tensors; nullopt where a size is not given.
std::optional<double> tensor_bytes(tile::KernelOp kernel, const std::map<std::string, int64_t>& sizes) {
  double bytes = 0;
  for (auto [index, argument] : llvm::enumerate(kernel.getArgumentTypes())) {
    auto type = mlir::dyn_cast<mlir::MemRefType>(argument);
    if (!type) continue;
    double bits = static_cast<double>(tile::storage_bits(type.getElementType()));
    for (auto [size, name] : llvm::zip(type.getShape(), kernel.arg_dims(static_cast<unsigned>(index)))) {
      auto given = sizes.find(name.str());
      if (mlir::ShapedType::isDynamic(size) && given == sizes.end()) return std::nullopt;
      bits *= static_cast<double>(mlir::ShapedType::isDynamic(size) ? given->second : size);
    }
    bytes += bits / 8;
  }
  return bytes;
}

// Null where the sizes do not say how much there is to do.
json::Value launch_json(const LaunchCost& launch, std::optional<double> bytes,
                        const std::map<std::string, int64_t>& sizes, const Roof& roof) {
  if (!launch.known || !bytes) return nullptr;
  json::Object given;
  for (const auto& [name, size] : sizes) given[name] = size;
  const double compute = launch.flops / roof.flops, memory = *bytes / roof.bytes;
  return json::Object{{"sizes", std::move(given)},
                      {"flops", launch.flops},
                      {"tensor_bytes", *bytes},
                      {"bound", compute >= memory ? "compute" : "memory"},
                      {"roofline_seconds", std::max(compute, memory)},
                      {"estimated_seconds", std::max(launch.busy_flops / roof.flops, memory)}};
}

llvm::SmallVector<tile::GridOp> grids_of(tile::KernelOp kernel) {
  return llvm::to_vector(kernel.getBody().getOps<tile::GridOp>());
}

json::Object target_json(const Target& target, const Roof& roof) {
  return json::Object{{"name", target.name},
                      {"triple", target.triple},
                      {"cpu", target.cpu},
                      {"vector_bits", target.vector_bits},
                      {"vector_registers", target.vector_registers},
                      {"fma", target.fma},
                      {"l1d", target.l1d},
                      {"l2", target.l2},
                      {"l3", target.l3},
                      {"register_tile", json::Array{target.f32_register_tile.rows, target.f32_register_tile.vectors}},
                      {"peak_flops", roof.flops},
                      {"bandwidth", roof.bytes},
                      {"peaks", roof.measured ? "measured" : "nominal"}};
}

}  // namespace

std::string explanation(Stages stages, const std::map<std::string, int64_t>& sizes, const Target& target) {
  const Roof roof = roof_of(target);
  json::Array kernels;
  for (auto [before, after] :
       llvm::zip(stages.written.getOps<tile::KernelOp>(), stages.decided.getOps<tile::KernelOp>())) {
    json::Array phases;
    LaunchCost launch;
    for (auto [grid, result] : llvm::zip(grids_of(before), grids_of(after))) {
      const std::string function = before.getSymName().str() + "_phase" + std::to_string(phases.size());
      phases.push_back(phase_json(grid, result, loops_json(stages.lowered, function), target, roof, launch));
    }
    kernels.push_back(json::Object{{"name", before.getSymName()},
                                   {"where", tile::location_text(before.getLoc())},
                                   {"phases", std::move(phases)},
                                   {"launch", launch_json(launch, tensor_bytes(before, sizes), sizes, roof)}});
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << llvm::formatv(
      "{0:2}", json::Value(json::Object{{"target", target_json(target, roof)}, {"kernels", std::move(kernels)}}));
  return text;
}

}  // namespace deep_accel::compile
