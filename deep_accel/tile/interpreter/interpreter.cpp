// From arguments to memories, and back.
#include "deep_accel/tile/interpreter/interpreter.h"

#include "deep_accel/runtime/bind.h"
#include "deep_accel/tile/interpreter/decode.h"
#include "deep_accel/tile/ir/program_impl.h"
#include "deep_accel/tile/signature.h"

namespace deep_accel::tile {

namespace {

using namespace interpreter;

KernelOp find_kernel(const Program& program, const std::string& name) {
  for (mlir::Operation& op : *program.impl().module->getBody()) {
    auto kernel = mlir::dyn_cast<KernelOp>(op);
    if (kernel && kernel.getSymName() == name) return kernel;
  }
  throw ValueError("the program has no kernel '" + name + "'");  // signature_of has said so already
}

// Where element `index` of a tensor lies, in elements from its data().
int64_t offset_in(const Tensor& tensor, llvm::ArrayRef<int64_t> index) {
  int64_t at = 0;
  for (size_t dim = 0; dim < index.size(); ++dim) at += index[dim] * tensor.strides()[static_cast<int>(dim)];
  return at;
}

std::shared_ptr<Memory> import_tensor(const Tensor& tensor, const ArgumentSpec& spec, ElementType element) {
  Indices shape(tensor.shape().begin(), tensor.shape().end());
  auto memory = make_memory("'" + spec.name + "'", element, shape);
  memory->is_global = true;
  memory->read_only = !spec.writes();
  if (spec.role == ArgumentSpec::Role::out) return memory;
  size_t number = 0;
  for_each_index(shape, [&](const Indices& index) {
    Cell& cell = memory->cells[number++];
    const int64_t at = offset_in(tensor, index);
    if (is_float(element.dtype)) {
      cell.scalar = Scalar::of_real(load_element(element.dtype, tensor.data(), at));
      cell.magnitude = std::abs(cell.scalar.real);
    } else {
      cell.scalar = Scalar::of_integer(load_integer(element.dtype, tensor.data(), at));
    }
    cell.written = memory->whole();
  });
  return memory;
}

void export_tensor(const Memory& memory, const Tensor& tensor) {
  size_t number = 0;
  for_each_index(memory.shape, [&](const Indices& index) {
    const Cell& cell = memory.cells[number++];
    if (!cell.dirty) return;
    const int64_t at = offset_in(tensor, index);
    if (is_float(memory.element.dtype)) {
      store_element(memory.element.dtype, tensor.data(), at, cell.scalar.real);
    } else {
      store_integer(memory.element.dtype, tensor.data(), at, cell.scalar.integer);
    }
  });
}

Scalar import_scalar(const Argument& argument, const ArgumentSpec& spec, const ScalarType& type) {
  if (!type.is_float) return Scalar::of_integer(wrap(argument.integer(), type.width));
  const bool integral = argument.kind() != Argument::Kind::floating;
  const uint64_t pattern =
      integral ? encode_integer(spec.dtype, argument.integer()) : encode(spec.dtype, argument.floating());
  return Scalar::of_real(decode(spec.dtype, pattern));
}

std::vector<double> bounds_of(const Memory& memory, bool unstable) {
  std::vector<double> bounds;
  bounds.reserve(memory.cells.size());
  for (const Cell& cell : memory.cells) bounds.push_back(unstable ? kUnknown : cell.dirty ? cell.scalar.error : 0);
  return bounds;
}

}  // namespace

InterpreterResult interpret(const Program& program, const std::string& name, std::span<const Argument> arguments,
                            const InterpreterOptions& options) {
  const KernelSignature signature = signature_of(program, name);
  std::vector<int64_t> params(static_cast<size_t>(signature.params_count));
  bind_arguments(signature, arguments, params.data());
  KernelOp kernel = find_kernel(program, signature.name);

  std::vector<Indices> sizes(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!signature.args[i].is_tensor) continue;
    sizes[i].assign(arguments[i].tensor().shape().begin(), arguments[i].tensor().shape().end());
  }
  Code code;
  Decoder decoder(kernel, code);
  mlir::Block& body = kernel.getBody().front();
  for (mlir::Value value : body.getArguments()) {
    mlir::isa<mlir::MemRefType>(value.getType()) ? decoder.view_slot(value) : decoder.slot(value);
  }
  decoder.decode(sizes);

  Machine machine(code, options);
  Thread thread = machine.make_thread();
  std::vector<std::shared_ptr<Memory>> memories(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const mlir::Value value = body.getArgument(static_cast<unsigned>(i));
    if (auto type = mlir::dyn_cast<mlir::MemRefType>(value.getType())) {
      memories[i] = import_tensor(arguments[i].tensor(), signature.args[i], element_type(type.getElementType()));
      thread.views[decoder.view_slot(value)] = whole_view(memories[i]);
    } else {
      thread.scalars[decoder.slot(value)] =
          import_scalar(arguments[i], signature.args[i], scalar_type(value.getType()));
    }
  }
  machine.run(thread, 0, code.instructions.size());

  InterpreterResult result = machine.result();
  result.bounds.resize(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!signature.args[i].writes()) continue;
    export_tensor(*memories[i], arguments[i].tensor());
    result.bounds[i] = bounds_of(*memories[i], !result.unstable.empty());
  }
  return result;
}

}  // namespace deep_accel::tile
