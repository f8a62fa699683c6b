#include "deep_accel/compile/verify/cases.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "deep_accel/base/error.h"
#include "deep_accel/base/text.h"
#include "deep_accel/tile/ir/program_impl.h"
#include "deep_accel/tile/signature.h"

namespace deep_accel::compile {

namespace {

tile::KernelOp find_kernel(const tile::Program& program, const std::string& name) {
  for (mlir::Operation& op : *program.impl().module->getBody()) {
    auto kernel = mlir::dyn_cast<tile::KernelOp>(op);
    if (kernel && kernel.getSymName() == name) return kernel;
  }
  return {};
}

// The kernel argument whose elements a buffer holds: itself, or what was loaded into the tile.
std::optional<size_t> origin_of(mlir::Value buffer) {
  mlir::Value root = tile::root_buffer(buffer);
  if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(root)) return argument.getArgNumber();
  for (mlir::Operation* user : root.getUsers()) {
    mlir::Value source;
    if (auto load = mlir::dyn_cast<tile::LoadOp>(user); load && load.getTile() == root) source = load.getSource();
    if (auto load = mlir::dyn_cast<tile::AsyncLoadOp>(user); load && load.getTile() == root) source = load.getSource();
    if (auto argument = source ? mlir::dyn_cast<mlir::BlockArgument>(tile::root_buffer(source)) : nullptr) {
      return argument.getArgNumber();
    }
  }
  return std::nullopt;
}

std::vector<mlir::Operation*> all_operations(tile::KernelOp kernel) {
  std::vector<mlir::Operation*> operations;
  kernel->walk([&](mlir::Operation* op) { operations.push_back(op); });
  return operations;
}

void note_indices(KernelFacts& facts, mlir::Value rows, mlir::Value buffer, int64_t axis) {
  const auto argument = origin_of(rows);
  if (!argument) return;
  auto& targets = facts.index_arguments[*argument];
  auto target = mlir::dyn_cast<mlir::BlockArgument>(tile::root_buffer(buffer));
  if (target && target == buffer) targets.push_back({target.getArgNumber(), static_cast<int>(axis)});
}

void read_bounds(KernelFacts& facts, tile::KernelOp kernel) {
  auto sizes = kernel->getAttrOfType<mlir::DictionaryAttr>("tile.sizes");
  if (!sizes) return;
  for (mlir::NamedAttribute entry : sizes) {
    std::vector<int64_t> numbers;
    if (auto list = mlir::dyn_cast<mlir::ArrayAttr>(entry.getValue())) {
      for (mlir::Attribute number : list) {
        if (auto integer = mlir::dyn_cast<mlir::IntegerAttr>(number)) numbers.push_back(integer.getInt());
      }
    } else if (auto dense = mlir::dyn_cast<mlir::DenseI64ArrayAttr>(entry.getValue())) {
      numbers.assign(dense.asArrayRef().begin(), dense.asArrayRef().end());
    }
    const bool right = (numbers.size() == 2 || numbers.size() == 3) && numbers[0] >= 0 && numbers[0] <= numbers[1] &&
                       (numbers.size() == 2 || numbers[2] > 0);
    if (!right) {
      throw ValueError(tile::location_text(kernel.getLoc()) + ": tile.sizes of '" + entry.getName().str() +
                       "' must be [least, most] or [least, most, multiple]");
    }
    facts.bounds[entry.getName().str()] = {numbers[0], numbers[1], numbers.size() == 3 ? numbers[2] : 1};
  }
}

int64_t clamped(const KernelFacts& facts, const std::string& name, int64_t size) {
  const auto found = facts.bounds.find(name);
  if (found == facts.bounds.end()) return size;
  const KernelFacts::Bounds& bounds = found->second;
  size = std::clamp(size, bounds.least, bounds.most);
  const int64_t below = size / bounds.multiple * bounds.multiple;
  return below >= bounds.least ? below : below + bounds.multiple;
}

int64_t pick(const std::vector<int64_t>& from, std::mt19937_64& random) { return from[random() % from.size()]; }

bool is_integer_scalar(const ArgumentSpec& spec) { return !spec.is_tensor && !is_float(spec.dtype); }

}  // namespace

KernelFacts facts_of(const tile::Program& program, const std::string& kernel_name) {
  KernelFacts facts;
  facts.signature = tile::signature_of(program, kernel_name);
  tile::KernelOp kernel = find_kernel(program, facts.signature.name);
  read_bounds(facts, kernel);
  for (mlir::Operation* op : all_operations(kernel)) {
    if (auto alloc = mlir::dyn_cast<tile::AllocOp>(op)) {
      for (int64_t size : alloc.getBuffer().getType().getShape()) {
        if (size > 1 && size <= 1024) facts.tiles.insert(size);
      }
    } else if (auto gather = mlir::dyn_cast<tile::GatherOp>(op)) {
      note_indices(facts, gather.getRows(), gather.getSource(), static_cast<int64_t>(gather.getAxis()));
    } else if (auto scatter = mlir::dyn_cast<tile::ScatterOp>(op)) {
      note_indices(facts, scatter.getRows(), scatter.getDest(), static_cast<int64_t>(scatter.getAxis()));
    } else if (auto read = mlir::dyn_cast<tile::ReadOp>(op)) {
      const bool addresses = llvm::any_of(read.getValue().getUsers(), [](mlir::Operation* user) {
        return mlir::isa<mlir::arith::IndexCastOp, mlir::arith::IndexCastUIOp, mlir::index::CastSOp,
                         mlir::index::CastUOp>(user);
      });
      if (const auto argument = addresses ? origin_of(read.getBuffer()) : std::nullopt) {
        facts.index_arguments.try_emplace(*argument);
      }
    }
  }
  return facts;
}

Sizes draw_sizes(const KernelFacts& facts, const VerifyOptions& options, int number, std::mt19937_64& random) {
  std::vector<std::string> names = facts.signature.symbols;
  for (const ArgumentSpec& spec : facts.signature.args) {
    if (is_integer_scalar(spec)) names.push_back(spec.name);
  }
  for (const auto& [name, size] : options.sizes) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw ValueError("kernel '" + facts.signature.name + "' has no size named '" + name + "'" +
                       did_you_mean(name, names) + "; it has: " + (names.empty() ? "none" : join(names)));
    }
    if (size < 0) throw ValueError("size '" + name + "' is " + std::to_string(size) + "; sizes are not negative");
  }
  std::vector<int64_t> edges = {1, 2, 3, 5, 7, 17, 31, 67};
  for (int64_t tile : facts.tiles) edges.insert(edges.end(), {tile - 1, tile, tile + 1});
  const int64_t ordinary = facts.tiles.empty() ? 100 : *facts.tiles.rbegin();
  const size_t zero = facts.signature.symbols.empty() ? 0 : random() % facts.signature.symbols.size();
  Sizes sizes;
  for (size_t i = 0; i < names.size(); ++i) {
    int64_t size = pick(edges, random);
    if (number == 0) size = 2 * ordinary + 3 + static_cast<int64_t>(i);
    if (number == 1) size = 1;
    if (number == 2 && i == zero) size = 0;
    if (i >= facts.signature.symbols.size()) size = static_cast<int64_t>(random() % 9);
    sizes[names[i]] = clamped(facts, names[i], size);
  }
  for (const auto& [name, size] : options.sizes) sizes[name] = size;
  return sizes;
}

bool shrink(const KernelFacts& facts, const VerifyOptions& options, Sizes& sizes) {
  auto largest = sizes.end();
  for (auto at = sizes.begin(); at != sizes.end(); ++at) {
    if (options.sizes.contains(at->first) || clamped(facts, at->first, at->second / 2) >= at->second) continue;
    if (largest == sizes.end() || at->second > largest->second) largest = at;
  }
  if (largest == sizes.end()) return false;
  largest->second = clamped(facts, largest->first, largest->second / 2);
  return true;
}

namespace {

// Flavours of data, so that each kernel meets ordinary numbers, exact small ones, zeros and large ones.
double draw_real(int flavour, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  const uint64_t die = random() % 100;
  switch (flavour % 4) {
    case 1:
      return static_cast<double>(random() % 9) - 4;
    case 2:
      return die < 10 ? 0 : die < 13 ? 100 * normal(random) : normal(random);
    case 3:
      return std::uniform_real_distribution<double>(0, 1)(random);
    default:
      return normal(random);
  }
}

int64_t draw_integer(DType dtype, std::mt19937_64& random) {
  switch (dtype) {
    case DType::boolean:
      return static_cast<int64_t>(random() % 2);
    case DType::i4:
      return static_cast<int64_t>(random() % 16) - 8;
    case DType::u8:
      return static_cast<int64_t>(random() % 256);
    case DType::i8:
      return static_cast<int64_t>(random() % 256) - 128;
    default:
      return static_cast<int64_t>(random() % 2001) - 1000;
  }
}

int64_t size_of(const KernelFacts& facts, const DimSpec& dim, const Sizes& sizes) {
  if (dim.kind == DimSpec::Kind::fixed) return dim.value;
  if (dim.kind == DimSpec::Kind::any) return 5;
  return sizes.at(facts.signature.symbols[static_cast<size_t>(dim.value)]);
}

// Indices run from `least` to below the smallest extent that they may count in.
std::pair<int64_t, int64_t> index_range(const KernelFacts& facts, size_t argument, const Sizes& sizes) {
  int64_t extent = INT64_MAX, least = 0;
  const auto& targets = facts.index_arguments.at(argument);
  for (const KernelFacts::Target& target : targets) {
    const DimSpec& dim = facts.signature.args[target.argument].dims[static_cast<size_t>(target.dimension)];
    extent = std::min(extent, size_of(facts, dim, sizes));
    least = -1;  // a row outside, which gathers and scatters allow
  }
  if (targets.empty()) {
    for (const std::string& name : facts.signature.symbols) extent = std::min(extent, sizes.at(name));
  }
  return {least, std::max<int64_t>(extent == INT64_MAX ? 1 : extent, 1)};
}

Tensor empty_like(const KernelFacts& facts, const ArgumentSpec& spec, const Sizes& sizes) {
  Dims shape;
  for (const DimSpec& dim : spec.dims) shape.push_back(size_of(facts, dim, sizes));
  if (spec.contiguous || shape.empty()) return Tensor::empty(spec.dtype, shape);
  // Strides that the kernel fixes are kept; the others leave a gap after each row.
  Dims strides = row_major_strides(shape);
  int64_t reach = 1;
  for (int d = shape.size(); d-- > 0;) {
    const DimSpec& stride = spec.strides[static_cast<size_t>(d)];
    strides[d] = stride.kind == DimSpec::Kind::fixed ? stride.value : reach;
    reach = std::max(reach, strides[d] * std::max<int64_t>(shape[d], 1)) + (d == shape.size() - 1 ? 2 : 0);
  }
  const Tensor memory = Tensor::empty(spec.dtype, {std::max<int64_t>(reach, 1)});
  return Tensor::from_buffer(memory.buffer(), spec.dtype, shape, strides);
}

void fill_tensor(const Tensor& tensor, const std::function<double()>& draw) {
  if (tensor.size() == 0) return;
  Dims index = Dims::filled(tensor.rank(), 0);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    int64_t rest = i;
    for (int d = tensor.rank(); d-- > 0;) {
      index[d] = rest % tensor.shape()[d];
      rest /= tensor.shape()[d];
    }
    tensor.set(index, draw());
  }
}

}  // namespace

std::vector<Argument> draw_arguments(const KernelFacts& facts, const Sizes& sizes, int number,
                                     std::mt19937_64& random) {
  std::vector<Argument> arguments;
  for (size_t i = 0; i < facts.signature.args.size(); ++i) {
    const ArgumentSpec& spec = facts.signature.args[i];
    if (!spec.is_tensor) {
      if (is_float(spec.dtype)) {
        arguments.emplace_back(round(8 * (0.5 + static_cast<double>(random() % 1000) / 1000)) / 8);
      } else {
        const int64_t value = sizes.at(spec.name);
        arguments.emplace_back(spec.dtype == DType::boolean ? value % 2 : value);
      }
      continue;
    }
    Tensor tensor = empty_like(facts, spec, sizes);
    if (spec.role == ArgumentSpec::Role::out) {
      fill_tensor(tensor, [] { return -77.0; });  // junk that every type holds or saturates to
    } else if (facts.index_arguments.contains(i) && !is_float(spec.dtype)) {
      const auto [least, end] = index_range(facts, i, sizes);
      fill_tensor(tensor, [&, least = least, end = end] {
        return static_cast<double>(least + static_cast<int64_t>(random() % static_cast<uint64_t>(end - least)));
      });
    } else {
      fill_tensor(tensor, [&] {
        return is_float(spec.dtype) ? draw_real(number, random) : static_cast<double>(draw_integer(spec.dtype, random));
      });
    }
    arguments.emplace_back(tensor);
  }
  return arguments;
}

std::vector<Argument> copy_outputs(const KernelFacts& facts, const std::vector<Argument>& arguments) {
  std::vector<Argument> copies;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ArgumentSpec& spec = facts.signature.args[i];
    if (!spec.writes()) {
      copies.push_back(arguments[i]);
      continue;
    }
    const Tensor& source = arguments[i].tensor();
    if (source.is_contiguous()) {
      copies.emplace_back(source.copy());
      continue;
    }
    const Tensor memory =
        Tensor::empty(source.dtype(), {std::max<int64_t>(source.buffer()->size() * 8 / bits(source.dtype()), 1)});
    Tensor copy = Tensor::from_buffer(memory.buffer(), source.dtype(), source.shape(), source.strides());
    copy.copy_from(source);
    copies.emplace_back(copy);
  }
  return copies;
}

Interpreted interpret_case(const tile::Program& program, const KernelFacts& facts,
                           const std::vector<Argument>& arguments, int64_t max_steps, tile::Order order) {
  Interpreted interpreted{copy_outputs(facts, arguments), {}};
  tile::InterpreterOptions options;
  options.max_steps = max_steps;
  options.order = order;
  options.print = [](std::string_view) {};
  interpreted.result = tile::interpret(program, facts.signature.name, interpreted.arguments, options);
  return interpreted;
}

double apart(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double distance = std::abs(a - b);
  return std::isnan(distance) ? HUGE_VAL : distance;
}

}  // namespace deep_accel::compile
