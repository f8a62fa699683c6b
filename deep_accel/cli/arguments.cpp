#include "deep_accel/cli/arguments.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <set>

#include "deep_accel/base/error.h"
#include "deep_accel/base/text.h"
#include "deep_accel/cli/npy.h"

namespace deep_accel::cli {
namespace {

// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

void fill_random(const Tensor& tensor, Random& random) {
  const DType dtype = tensor.dtype();
  std::vector<double> values(static_cast<size_t>(tensor.size()));
  for (double& value : values) {
    if (is_float(dtype)) {
      value = 2 * random.uniform() - 1;
    } else if (dtype == DType::boolean) {
      value = static_cast<double>(random.next() >> 63);
    } else {
      value = static_cast<double>(random.next() >> 60) - (is_signed(dtype) ? 8 : 0);
    }
  }
  tensor.copy_from(Tensor::from_values(dtype, tensor.shape(), values));
}

template <typename Number>
std::optional<Number> parse_number(const std::string& text) {
  Number value{};
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Argument parse_scalar(const ArgumentSpec& spec, const std::string& text) {
  if (is_float(spec.dtype)) {
    if (auto value = parse_number<double>(text)) return *value;
  } else if (spec.dtype == DType::boolean) {
    if (text == "0" || text == "false") return false;
    if (text == "1" || text == "true") return true;
  } else if (auto value = parse_number<int64_t>(text)) {
    return *value;
  }
  throw ValueError("--input " + spec.name + "=" + text + ": argument '" + spec.name + "' is a number of type " +
                   std::string(name(spec.dtype)));
}

class Preparation {
 public:
  Preparation(const KernelSignature& signature, const ArgumentRequest& request)
      : signature_(signature), request_(request), sizes_(signature.symbols.size()), random_(request.seed) {}

  PreparedArguments run() {
    read_dims();
    read_inputs();
    PreparedArguments prepared;
    for (size_t i = 0; i < sizes_.size(); ++i) {
      if (!sizes_[i]) sizes_[i] = request_.default_size;
      prepared.sizes[signature_.symbols[i]] = *sizes_[i];
    }
    for (const ArgumentSpec& spec : signature_.args) prepared.values.push_back(make(spec));
    return prepared;
  }

 private:
  void read_dims() {
    for (const auto& [symbol, size] : parse_sizes(request_.dims)) {
      sizes_[index_of(symbol, signature_.symbols, "dimension")] = size;
    }
  }

  void read_inputs() {
    std::vector<std::string> names;
    for (const ArgumentSpec& spec : signature_.args) names.push_back(spec.name);
    for (const std::string& text : request_.inputs) {
      const auto [argument, value] = split_assignment(text, "--input");
      const ArgumentSpec& spec = signature_.args[index_of(argument, names, "argument")];
      if (given_.contains(argument)) throw ValueError("--input gives " + argument + " twice");
      if (!spec.is_tensor) {
        given_.emplace(argument, parse_scalar(spec, value));
        continue;
      }
      if (spec.role == ArgumentSpec::Role::out) {
        throw ValueError("--input " + text + ": '" + argument + "' is an output; write it with --output");
      }
      const Tensor tensor = read_npy(value, spec.dtype);
      bind_sizes(spec, tensor.shape(), value);
      given_.emplace(argument, tensor);
    }
  }

  // What a file's shape says about the kernel's dimensions.
  void bind_sizes(const ArgumentSpec& spec, const Dims& shape, const std::string& path) {
    const std::string what = path + " has shape " + to_string(shape);
    if (static_cast<size_t>(shape.size()) != spec.dims.size()) {
      throw ShapeError(what + ", but argument '" + spec.name + "' has " + std::to_string(spec.dims.size()) + " axes");
    }
    for (int axis = 0; axis < shape.size(); ++axis) {
      const DimSpec& dim = spec.dims[static_cast<size_t>(axis)];
      std::optional<int64_t> expected;
      if (dim.kind == DimSpec::Kind::fixed) expected = dim.value;
      if (dim.kind == DimSpec::Kind::symbol) {
        std::optional<int64_t>& size = sizes_[static_cast<size_t>(dim.value)];
        if (!size) size = shape[axis];
        expected = size;
      }
      if (expected && *expected != shape[axis]) {
        throw ShapeError(what + ", but axis " + std::to_string(axis) + " of argument '" + spec.name + "' must be " +
                         std::to_string(*expected));
      }
    }
  }

  Argument make(const ArgumentSpec& spec) {
    const auto found = given_.find(spec.name);
    if (!spec.is_tensor) {
      if (found != given_.end()) return found->second;
      if (is_float(spec.dtype)) return 1.0;
      if (spec.dtype == DType::boolean) return true;
      return int64_t{1};
    }
    if (found != given_.end() && spec.contiguous) return found->second;
    Dims shape;
    if (found != given_.end()) {
      shape = found->second.tensor().shape();
    } else {
      for (const DimSpec& dim : spec.dims) shape.push_back(size_of(dim));
    }
    Tensor tensor = allocate(spec, shape);
    if (found != given_.end()) {
      tensor.copy_from(found->second.tensor());
    } else if (spec.role != ArgumentSpec::Role::out) {
      fill_random(tensor, random_);
    }
    return tensor;
  }

  int64_t size_of(const DimSpec& dim) const {
    switch (dim.kind) {
      case DimSpec::Kind::fixed:
        return dim.value;
      case DimSpec::Kind::symbol:
        return *sizes_[static_cast<size_t>(dim.value)];
      case DimSpec::Kind::any:
        break;
    }
    return request_.default_size;
  }

  // Zeros, with the strides that the signature fixes.
  static Tensor allocate(const ArgumentSpec& spec, const Dims& shape) {
    if (spec.contiguous) return Tensor::zeros(spec.dtype, shape);
    Dims strides = row_major_strides(shape);
    int64_t last = 0;
    for (int axis = 0; axis < shape.size(); ++axis) {
      const DimSpec& stride = spec.strides[static_cast<size_t>(axis)];
      if (stride.kind == DimSpec::Kind::fixed) strides[axis] = stride.value;
      if (strides[axis] < 0) throw UnsupportedError("argument '" + spec.name + "' has a negative stride");
      last = checked_add(last, checked_mul(shape[axis] > 0 ? shape[axis] - 1 : 0, strides[axis], "an offset"),
                         "an offset");
    }
    const Tensor whole = Tensor::zeros(spec.dtype, {checked_add(last, 1, "a size")});
    return Tensor::from_buffer(whole.buffer(), spec.dtype, shape, strides);
  }

  static size_t index_of(const std::string& wanted, const std::vector<std::string>& names, const std::string& what) {
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i] == wanted) return i;
    }
    throw ValueError("the kernel has no " + what + " '" + wanted + "'" + did_you_mean(wanted, names) +
                     (names.empty() ? "; it has none" : "; it has " + join(names)));
  }

  const KernelSignature& signature_;
  const ArgumentRequest& request_;
  std::vector<std::optional<int64_t>> sizes_;
  std::map<std::string, Argument> given_;
  Random random_;
};

}  // namespace

std::pair<std::string, std::string> split_assignment(const std::string& text, const std::string& option) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw ValueError(option + " " + text + ": expected NAME=VALUE");
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::map<std::string, int64_t> parse_sizes(const std::vector<std::string>& dims) {
  std::map<std::string, int64_t> sizes;
  for (const std::string& text : dims) {
    const auto [symbol, value] = split_assignment(text, "--dim");
    const auto size = parse_number<int64_t>(value);
    if (!size || *size < 0) throw ValueError("--dim " + text + ": a size is a whole number of at least 0");
    if (!sizes.emplace(symbol, *size).second) throw ValueError("--dim gives " + symbol + " twice");
  }
  return sizes;
}

PreparedArguments prepare_arguments(const KernelSignature& signature, const ArgumentRequest& request) {
  return Preparation(signature, request).run();
}

}  // namespace deep_accel::cli
