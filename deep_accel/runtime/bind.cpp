// Each check has its message beside it: the kernel, the argument, what was expected, what came, what to do.
#include "deep_accel/runtime/bind.h"

#include <bit>
#include <cmath>

#include "deep_accel/base/error.h"
#include "deep_accel/base/numeric.h"

namespace deep_accel {
namespace {

// What kernels see of tensors without elements: they may touch the first of those there are not, never use it.
alignas(64) std::byte instead_of_nothing[64];

constexpr int64_t kUnbound = -1;

struct Symbol {
  int64_t size = kUnbound;
  size_t argument = 0;  // which one bound it
  int dimension = 0;
};

class Binder {
 public:
  Binder(const KernelSignature& signature, std::span<const Argument> arguments)
      : signature_(signature), arguments_(arguments), symbols_(signature.symbols.size()) {
    for (size_t i = 0; i < signature.symbols.size(); ++i) symbols_[i] = {};
  }

  void run(int64_t* params) {
    if (arguments_.size() != signature_.args.size()) refuse_count();
    for (size_t i = 0; i < arguments_.size(); ++i) {
      const ArgumentSpec& spec = signature_.args[i];
      const Argument& argument = arguments_[i];
      if (!spec.is_tensor) {
        *params++ = scalar(i);
        continue;
      }
      if (argument.kind() != Argument::Kind::tensor) {
        throw TypeError(where(i) + "expected a tensor of " + std::string(name(spec.dtype)) + ", got a number");
      }
      const Tensor& tensor = argument.tensor();
      check_dtype_and_rank(i, tensor);
      for (int d = 0; d < tensor.rank(); ++d) check_size(i, d, tensor);
      check_strides(i, tensor);
      check_memory(i, tensor);
      *params++ = std::bit_cast<int64_t>(tensor.size() ? tensor.data() : static_cast<void*>(instead_of_nothing));
      for (int d = 0; d < tensor.rank(); ++d) *params++ = tensor.shape()[d];
      for (int d = 0; d < tensor.rank(); ++d) *params++ = tensor.strides()[d];
    }
    for (size_t i = 0; i < arguments_.size(); ++i) {
      if (signature_.args[i].writes()) check_overlap(i);
    }
  }

 private:
  const ArgumentSpec& spec(size_t i) const { return signature_.args[i]; }

  std::string where(size_t i) const { return "kernel '" + signature_.name + "': argument '" + spec(i).name + "': "; }

  [[noreturn]] void refuse_count() const {
    std::string names;
    for (const ArgumentSpec& spec : signature_.args) names += (names.empty() ? "" : ", ") + spec.name;
    throw TypeError("kernel '" + signature_.name + "': expected " + std::to_string(signature_.args.size()) +
                    " arguments (" + names + "), got " + std::to_string(arguments_.size()));
  }

  void check_dtype_and_rank(size_t i, const Tensor& tensor) const {
    if (tensor.dtype() != spec(i).dtype) {
      throw TypeError(where(i) + "expected a tensor of " + std::string(name(spec(i).dtype)) + ", got " +
                      tensor.description() + "; convert it with to()");
    }
    if (static_cast<size_t>(tensor.rank()) != spec(i).dims.size()) {
      throw ShapeError(where(i) + "expected " + std::to_string(spec(i).dims.size()) + " dimensions " +
                       expected_shape(i) + ", got " + tensor.description() + "; reshape it");
    }
  }

  std::string expected_shape(size_t i) const {
    std::string text = "[";
    for (const DimSpec& dim : spec(i).dims) {
      if (text.size() > 1) text += ", ";
      text += dim.kind == DimSpec::Kind::any     ? "?"
              : dim.kind == DimSpec::Kind::fixed ? std::to_string(dim.value)
                                                 : signature_.symbols[static_cast<size_t>(dim.value)];
    }
    return text + "]";
  }

  void check_size(size_t i, int dimension, const Tensor& tensor) {
    const DimSpec& dim = spec(i).dims[static_cast<size_t>(dimension)];
    int64_t size = tensor.shape()[dimension];
    if (dim.kind == DimSpec::Kind::any) return;
    if (dim.kind == DimSpec::Kind::fixed) {
      if (size == dim.value) return;
      throw ShapeError(where(i) + "dimension " + std::to_string(dimension) + " must be " + std::to_string(dim.value) +
                       ", got " + tensor.description() + "; this kernel was compiled for that size");
    }
    Symbol& symbol = symbols_[static_cast<size_t>(dim.value)];
    if (symbol.size == kUnbound) {
      symbol = {size, i, dimension};
    } else if (symbol.size != size) {
      throw ShapeError(where(i) + "dimension " + std::to_string(dimension) + " is " + std::to_string(size) + ", but '" +
                       signature_.symbols[static_cast<size_t>(dim.value)] + "' is " + std::to_string(symbol.size) +
                       ", from dimension " + std::to_string(symbol.dimension) + " of argument '" +
                       spec(symbol.argument).name + "' " + to_string(arguments_[symbol.argument].tensor().shape()) +
                       "; the two must be equal");
    }
  }

  void check_strides(size_t i, const Tensor& tensor) const {
    if (spec(i).contiguous) {
      if (tensor.is_contiguous()) return;
      throw ShapeError(where(i) + "expected row-major memory without gaps, got " + tensor.description() +
                       (spec(i).writes() ? "; give a contiguous tensor" : "; call contiguous() on it"));
    }
    for (int d = 0; d < tensor.rank(); ++d) {
      const DimSpec& stride = spec(i).strides[static_cast<size_t>(d)];
      bool matters = tensor.size() > 0 && tensor.shape()[d] > 1;
      if (stride.kind == DimSpec::Kind::fixed && matters && stride.value != tensor.strides()[d]) {
        throw ShapeError(where(i) + "expected stride " + std::to_string(stride.value) + " in dimension " +
                         std::to_string(d) + ", got " + std::string(name(tensor.dtype())) + to_string(tensor.shape()) +
                         " with strides " + to_string(tensor.strides()) +
                         (spec(i).writes() ? "; give a tensor that is laid out so" : "; call contiguous() on it"));
      }
    }
  }

  void check_memory(size_t i, const Tensor& tensor) const {
    if (tensor.size() == 0) return;
    if (is_packed(tensor.dtype()) && tensor.offset() % 2) {
      throw ShapeError(where(i) +
                       "the view starts within a byte (two elements share one); start slices at even elements, or "
                       "call copy()");
    }
    int64_t width = is_packed(tensor.dtype()) ? 1 : bits(tensor.dtype()) / 8;
    if (reinterpret_cast<uintptr_t>(tensor.data()) % static_cast<uintptr_t>(width)) {
      throw ValueError(where(i) + "its memory is not aligned to " + std::to_string(width) +
                       " bytes; call copy() on it");
    }
    if (!spec(i).writes()) return;
    if (!tensor.writable()) {
      throw ValueError(where(i) +
                       "the kernel writes it, but its memory is read-only; give a tensor that can be written");
    }
    for (int d = 0; d < tensor.rank(); ++d) {
      if (tensor.strides()[d] == 0 && tensor.shape()[d] > 1) {
        throw ValueError(where(i) + "the kernel writes it, but dimension " + std::to_string(d) +
                         " repeats the same elements (stride 0, from expand()); give a tensor of its own memory");
      }
    }
  }

  void check_overlap(size_t i) const {
    const Tensor& output = arguments_[i].tensor();
    for (size_t j = 0; j < arguments_.size(); ++j) {
      // Pairs of outputs are looked at once.
      if (j == i || !spec(j).is_tensor || (spec(j).writes() && j < i)) continue;
      if (output.overlaps(arguments_[j].tensor())) {
        throw ValueError(where(i) + "the kernel writes it, but it shares memory with argument '" + spec(j).name +
                         "'; give one of them memory of its own (copy())");
      }
    }
  }

  int64_t scalar(size_t i) const {
    const Argument& argument = arguments_[i];
    DType dtype = spec(i).dtype;
    std::string wanted(name(dtype));
    if (argument.kind() == Argument::Kind::tensor) {
      throw TypeError(where(i) + "expected a number of " + wanted + ", got a tensor " +
                      argument.tensor().description());
    }
    if (is_float(dtype)) {
      if (argument.kind() == Argument::Kind::floating) return static_cast<int64_t>(encode(dtype, argument.floating()));
      return static_cast<int64_t>(encode_integer(dtype, argument.integer()));
    }
    if (argument.kind() == Argument::Kind::floating) {
      throw TypeError(where(i) + "expected a number of " + wanted + ", got the floating point number " +
                      std::to_string(argument.floating()) + "; round it first");
    }
    int64_t value = argument.integer();
    if (decode_integer(dtype, encode_integer(dtype, value)) != value) {
      throw ValueError(where(i) + std::to_string(value) + " does not fit " + wanted);
    }
    return value;
  }

  const KernelSignature& signature_;
  std::span<const Argument> arguments_;
  SmallArray<Symbol, 32> symbols_;
};

}  // namespace

void bind_arguments(const KernelSignature& signature, std::span<const Argument> arguments, int64_t* params) {
  Binder(signature, arguments).run(params);
}

}  // namespace deep_accel
