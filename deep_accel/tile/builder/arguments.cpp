// The kernel's beginning and end: its arguments with their sizes, and verification.
#include <cctype>

#include "deep_accel/tile/builder/state.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace deep_accel::tile {

namespace {

bool is_identifier(std::string_view name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) return false;
  return llvm::all_of(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
}

std::string_view role_name(ArgumentRole role) {
  return role == ArgumentRole::in ? "in" : role == ArgumentRole::out ? "out" : "inout";
}

// What the kernel does with a buffer and with views of it.
ArgumentRole observed_role(mlir::Value buffer) {
  bool reads = false, writes = false;
  llvm::SmallVector<mlir::Value> names{buffer};
  while (!names.empty()) {
    mlir::Value name = names.pop_back_val();
    for (mlir::Operation* user : name.getUsers()) {
      if (mlir::isa<mlir::ViewLikeOpInterface>(user)) {
        names.push_back(user->getResult(0));
      } else if (auto accessor = mlir::dyn_cast<TileOp>(user)) {
        for (const Access& access : accessor.accesses()) {
          if (access.buffer != name && access.buffer != buffer) continue;
          reads |= access.reads;
          writes |= access.writes;
        }
      } else {
        reads = true;  // print, prefetch
      }
    }
  }
  return writes ? (reads ? ArgumentRole::inout : ArgumentRole::out) : ArgumentRole::in;
}

void erase_dead(mlir::Block& block) {
  for (mlir::Operation& op : llvm::make_early_inc_range(llvm::reverse(block))) {
    for (mlir::Region& region : op.getRegions()) {
      for (mlir::Block& inner : region) erase_dead(inner);
    }
    if (mlir::isOpTriviallyDead(&op)) op.erase();
  }
}

}  // namespace

Builder::Builder(std::string_view name, Where where) : state_(std::make_shared<BuilderState>()) {
  state_->at(where);
  if (!is_identifier(name)) {
    state_->fail("Builder", "name", "an identifier (letters, digits, '_')", "'" + std::string(name) + "'",
                 "it becomes a symbol of the compiled code");
  }
  state_->builder.setInsertionPointToEnd(state_->module->getBody());
  state_->kernel = state_->create<KernelOp>(llvm::StringRef(name.data(), name.size()), llvm::ArrayRef<mlir::Type>{},
                                            llvm::ArrayRef<mlir::DictionaryAttr>{});
  state_->builder.setInsertionPointToStart(&state_->kernel.getBody().front());
}

Builder::~Builder() = default;
Builder::Builder(Builder&&) noexcept = default;
Builder& Builder::operator=(Builder&&) noexcept = default;

void Builder::set_place(std::optional<Place> place) { state_->set_place(std::move(place)); }
std::string Builder::place() const { return state_->place(); }

Scalar Builder::dim(std::string_view name, Where where) {
  state_->at(where);
  if (!is_identifier(name)) {
    state_->fail("dim", "name", "an identifier", "'" + std::string(name) + "'", "for example \"M\"");
  }
  return state_->dim(std::string(name));
}

TileBuffer Builder::input(std::string_view name, DType dtype, const Scalars& shape, Where where) {
  return argument(name, dtype, shape, ArgumentRole::in, where);
}
TileBuffer Builder::output(std::string_view name, DType dtype, const Scalars& shape, Where where) {
  return argument(name, dtype, shape, ArgumentRole::out, where);
}
TileBuffer Builder::inout(std::string_view name, DType dtype, const Scalars& shape, Where where) {
  return argument(name, dtype, shape, ArgumentRole::inout, where);
}

TileBuffer Builder::argument(std::string_view name, DType dtype, const Scalars& shape, ArgumentRole role, Where where) {
  return strided(name, dtype, shape, {}, role, where);
}

TileBuffer Builder::strided(std::string_view name, DType dtype, const Scalars& shape,
                            const std::vector<std::optional<int64_t>>& strides, ArgumentRole role, Where where) {
  BuilderState& s = *state_;
  s.at(where);
  const std::string own_name(name);
  if (!s.regions.empty()) s.fail("argument '" + own_name + "': arguments are declared before the grid begins");
  if (!is_identifier(name)) s.fail("argument", "name", "an identifier", "'" + own_name + "'", "for example \"A\"");
  for (const auto& argument : s.arguments) {
    if (argument.name == own_name) s.fail("argument '" + own_name + "' is declared twice; give it another name");
  }
  if (!strides.empty() && strides.size() != shape.size()) {
    s.fail<ShapeError>(own_name, "strides", "one for each of the " + std::to_string(shape.size()) + " dimensions",
                       std::to_string(strides.size()), "leave those free that may be anything");
  }
  BuilderState::Argument argument{own_name, true, role, {}, {}};
  llvm::SmallVector<int64_t> sizes;
  std::vector<std::pair<std::string, Scalar>> to_check;  // free sizes that an expression determines
  for (auto [axis, size] : llvm::enumerate(shape)) {
    if (size.is_floating()) {
      s.fail<TypeError>(own_name, "shape", "integers", "a fraction", "sizes are whole numbers");
    }
    if (auto known = size.constant()) {
      if (*known < 0) s.fail<ShapeError>(own_name, "shape", "sizes of at least 0", std::to_string(*known), "check it");
      sizes.push_back(*known);
      argument.dims.emplace_back();
      argument.shape.push_back(s.builder.getIndexAttr(*known));
      continue;
    }
    s.require_visible(size);
    sizes.push_back(mlir::ShapedType::kDynamic);
    if (auto dim = BuilderState::unwrap(size).getDefiningOp<DimOp>()) {
      argument.dims.push_back(dim.getName().str());
    } else {
      argument.dims.push_back(own_name + "." + std::to_string(axis));
      to_check.emplace_back(argument.dims.back(), size);
    }
    argument.shape.push_back(BuilderState::unwrap(size));
  }
  mlir::MemRefLayoutAttrInterface layout;
  if (!strides.empty()) {
    llvm::SmallVector<int64_t> values;
    for (const auto& stride : strides) values.push_back(stride.value_or(mlir::ShapedType::kDynamic));
    layout = mlir::StridedLayoutAttr::get(s.context.get(), 0, values);
  }
  auto type =
      mlir::MemRefType::get(sizes, s.storage_type(dtype), layout, SpaceAttr::get(s.context.get(), Space::global));
  mlir::Value value = s.kernel.getBody().front().addArgument(type, s.location());
  s.arguments.push_back(std::move(argument));
  for (auto& [dim, size] : to_check) {
    assert_(s.dim(dim) == size,
            "argument '" + own_name + "': size " + dim.substr(dim.rfind('.') + 1) + " does not fit the other sizes",
            where);
  }
  return s.wrap_buffer(value);
}

Scalar Builder::scalar(std::string_view name, ScalarType type, Where where) {
  state_->at(where);
  if (!is_identifier(name)) {
    state_->fail("argument", "name", "an identifier", "'" + std::string(name) + "'", "for example \"alpha\"");
  }
  if (!state_->regions.empty())
    state_->fail("argument '" + std::string(name) + "' must be declared before the grid begins");
  state_->arguments.push_back({std::string(name), false, ArgumentRole::in, {}, {}});
  return state_->wrap(state_->kernel.getBody().front().addArgument(state_->mlir_type(type), state_->location()));
}

Program Builder::finish() {
  BuilderState& s = *state_;
  if (s.finished) s.fail("finish: the kernel is finished already; one Builder makes one kernel");
  if (!s.regions.empty()) {
    s.fail("finish: a " + std::string(BuilderState::kind_name(s.regions.back().kind)) + " is still open");
  }
  erase_dead(s.kernel.getBody().front());
  for (const auto& [name, dim] : s.dims) {
    if (dim.value && llvm::none_of(s.arguments, [&](const auto& a) { return llvm::is_contained(a.dims, name); })) {
      s.fail<ShapeError>("dimension '" + name +
                         "' stands in no argument's shape, so a launch could not know it; use it as "
                         "the size of an argument, or pass it as a scalar");
    }
  }
  mlir::Block& body = s.kernel.getBody().front();
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<mlir::Attribute> attributes;
  mlir::Builder& b = s.builder;
  for (auto [argument, value] : llvm::zip(s.arguments, body.getArguments())) {
    types.push_back(value.getType());
    llvm::SmallVector<mlir::NamedAttribute> entries{b.getNamedAttr("tile.name", b.getStringAttr(argument.name))};
    if (argument.is_tensor) {
      llvm::SmallVector<llvm::StringRef> dims(argument.dims.begin(), argument.dims.end());
      const ArgumentRole role = argument.role == ArgumentRole::automatic ? observed_role(value) : argument.role;
      const std::string_view text = role_name(role);
      entries.push_back(b.getNamedAttr("tile.dims", b.getStrArrayAttr(dims)));
      entries.push_back(b.getNamedAttr("tile.role", b.getStringAttr(llvm::StringRef(text.data(), text.size()))));
    }
    attributes.push_back(b.getDictionaryAttr(entries));
  }
  s.kernel.setFunctionTypeAttr(mlir::TypeAttr::get(b.getFunctionType(types, {})));
  if (!attributes.empty()) s.kernel.setArgAttrsAttr(b.getArrayAttr(attributes));

  DiagnosticCollector diagnostics(s.context.get());
  if (mlir::failed(mlir::verify(s.module.get())) || mlir::failed(verify_program(s.module.get()))) {
    throw ValueError(diagnostics.text());
  }
  s.finished = true;
  auto impl = std::make_shared<Program::Impl>();
  impl->context = s.context;
  impl->module = std::move(s.module);
  return Program(std::move(impl));
}

// Buffers
// ---------------------------------------------------------------------------------------------------------------

std::string_view name(MemorySpace space) {
  switch (space) {
    case MemorySpace::global:
      return "global";
    case MemorySpace::shared:
      return "shared";
    case MemorySpace::fragment:
      return "fragment";
    case MemorySpace::local:
      return "local";
  }
  return "";
}

DType TileBuffer::dtype() const { return dtype_of(BuilderState::unwrap(*this).getType().getElementType()); }

MemorySpace TileBuffer::space() const {
  return static_cast<MemorySpace>(space_of(BuilderState::unwrap(*this).getType()));
}

int TileBuffer::rank() const { return static_cast<int>(BuilderState::unwrap(*this).getType().getRank()); }

Scalars TileBuffer::shape() const {
  auto value = BuilderState::unwrap(*this);
  if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(mlir::Value(value))) {
    Scalars sizes;
    for (mlir::OpFoldResult size : state_->arguments[argument.getArgNumber()].shape) {
      const auto known = mlir::getConstantIntValue(size);
      sizes.push_back(known ? Scalar(*known) : state_->wrap(mlir::cast<mlir::Value>(size)));
    }
    return sizes;
  }
  Scalars shape;
  for (int64_t size : value.getType().getShape()) shape.push_back(size);
  return shape;
}

Scalar TileBuffer::dim(int axis) const {
  const int own_rank = rank();
  if (axis < -own_rank || axis >= own_rank) {
    state_->fail<IndexError>("dim: axis " + std::to_string(axis) + " is outside of " + BuilderState::describe(*this));
  }
  return shape()[static_cast<size_t>(axis < 0 ? axis + own_rank : axis)];
}

std::string TileBuffer::name() const {
  mlir::Value root = root_buffer(BuilderState::unwrap(*this));
  if (auto alloc = root.getDefiningOp<AllocOp>()) return alloc.getName() ? alloc.getName()->str() : "";
  if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(root)) return state_->arguments[argument.getArgNumber()].name;
  return "";
}

}  // namespace deep_accel::tile
