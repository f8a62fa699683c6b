// Making tensors and viewing them. Elements move in tensor_copy.cpp.
#include "deep_accel/runtime/tensor.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "deep_accel/base/error.h"
#include "deep_accel/base/numeric.h"

namespace deep_accel {
namespace {

void check_ranks(const Dims& shape, const Dims& strides) {
  if (shape.size() != strides.size()) {
    throw ShapeError("strides " + to_string(strides) + " do not match shape " + to_string(shape) +
                     ": expected one for each dimension");
  }
}

// Strides with which the elements of (shape, strides) appear as `wanted`, if there are any. Neighbouring dimensions of
// the old shape that form one run of equal steps are cut anew.
std::optional<Dims> reshaped_strides(const Dims& shape, const Dims& strides, const Dims& wanted) {
  Dims result = Dims::filled(wanted.size(), 1);
  int old_axis = 0, new_axis = 0;
  while (old_axis < shape.size() || new_axis < wanted.size()) {
    // The shortest stretches of both with equal products.
    int old_end = old_axis, new_end = new_axis;
    int64_t old_count = old_end < shape.size() ? shape[old_end++] : 1;
    int64_t new_count = new_end < wanted.size() ? wanted[new_end++] : 1;
    while (old_count != new_count) {
      if (old_count < new_count) {
        old_count *= shape[old_end++];
      } else {
        new_count *= wanted[new_end++];
      }
    }
    int64_t stride = 1;
    bool first = true;
    for (int i = old_end - 1; i >= old_axis; --i) {
      if (shape[i] == 1) continue;
      if (!first && strides[i] != stride) return std::nullopt;
      if (first) stride = strides[i];
      int64_t run = stride * shape[i];
      if (first) {
        // The stretch's innermost stride; below it grows with the new sizes.
        for (int j = new_end - 1; j >= new_axis; --j) {
          result[j] = stride;
          stride *= wanted[j];
        }
        first = false;
      }
      stride = run;
    }
    old_axis = old_end;
    new_axis = new_end;
  }
  return result;
}

}  // namespace

Tensor::Tensor(std::shared_ptr<Buffer> buffer, DType dtype, const Dims& shape, const Dims& strides, int64_t offset)
    : buffer_(std::move(buffer)),
      dtype_(dtype),
      shape_(shape),
      strides_(strides),
      offset_(offset),
      size_(element_count(shape)) {}

Tensor Tensor::empty(DType dtype, const Dims& shape) {
  int64_t bytes = bytes_for(dtype, element_count(shape));
  return {Buffer::allocate(bytes), dtype, shape, row_major_strides(shape), 0};
}

Tensor Tensor::zeros(DType dtype, const Dims& shape) {
  Tensor result = empty(dtype, shape);
  if (result.size_ && !result.buffer_->zeroed()) std::memset(result.base(), 0, static_cast<size_t>(result.bytes()));
  return result;
}

Tensor Tensor::full(DType dtype, const Dims& shape, double value) {
  Tensor result = zeros(dtype, shape);
  result.fill(value);
  return result;
}

Tensor Tensor::from_values(DType dtype, const Dims& shape, std::span<const double> values) {
  Tensor result = zeros(dtype, shape);
  if (result.size_ != static_cast<int64_t>(values.size())) {
    throw ShapeError("shape " + to_string(shape) + " holds " + std::to_string(result.size_) + " elements, but " +
                     std::to_string(values.size()) + " values were given");
  }
  convert(DType::f64, values.data(), dtype, result.base(), result.size_);
  return result;
}

Tensor Tensor::from_memory(void* data, DType dtype, const Dims& shape, const std::optional<Dims>& strides,
                           std::function<void()> release, bool writable) {
  int64_t count = element_count(shape);
  Dims steps = strides ? *strides : row_major_strides(shape);
  check_ranks(shape, steps);
  if (count == 0) return {Buffer::wrap(data, 0, std::move(release), writable), dtype, shape, steps, 0};
  if (!data) throw ValueError("the memory of a tensor of shape " + to_string(shape) + " is null");
  auto [low, high] = reach(shape, steps);
  // The buffer starts at its lowest element; of a packed type at the byte of it.
  if (is_packed(dtype)) low -= low & 1;
  int64_t bytes =
      bytes_for(dtype, checked_add(high, checked_add(-low, 1, "the extent of a tensor"), "the extent of a tensor"));
  char* start = static_cast<char*>(data) - bytes_for(dtype, -low);
  return {Buffer::wrap(start, bytes, std::move(release), writable), dtype, shape, steps, -low};
}

Tensor Tensor::from_buffer(std::shared_ptr<Buffer> buffer, DType dtype, const Dims& shape, const Dims& strides,
                           int64_t offset) {
  check_ranks(shape, strides);
  if (element_count(shape) > 0) {
    auto [low, high] = reach(shape, strides);
    int64_t first = checked_add(offset, low, "the extent of a tensor");
    int64_t last = checked_add(offset, high, "the extent of a tensor");
    int64_t end = bytes_for(dtype, checked_add(std::max<int64_t>(last, -1), 1, "the extent of a tensor"));
    if (first < 0 || !buffer || end > buffer->size()) {
      throw ShapeError("a tensor of shape " + to_string(shape) + ", strides " + to_string(strides) + " and offset " +
                       std::to_string(offset) + " reaches outside its buffer of " +
                       std::to_string(buffer ? buffer->size() : 0) + " bytes");
    }
  }
  return {std::move(buffer), dtype, shape, strides, offset};
}

bool Tensor::is_contiguous() const {
  if (size_ <= 1) return true;
  int64_t expected = 1;
  for (int i = rank() - 1; i >= 0; --i) {
    if (shape_[i] == 1) continue;
    if (strides_[i] != expected) return false;
    expected *= shape_[i];
  }
  return true;
}

void* Tensor::data() const {
  if (is_packed(dtype_)) {
    if (size_ > 0 && offset_ % 2) {
      throw ShapeError("this " + description() + " starts within a byte (two elements of " + std::string(name(dtype_)) +
                       " share one); start slices at even elements, or call copy()");
    }
    return static_cast<char*>(base()) + offset_ / 2;
  }
  return static_cast<char*>(base()) + offset_ * (bits(dtype_) / 8);
}

void Tensor::require_dtype(DType dtype) const {
  if (dtype != dtype_) {
    throw TypeError("the tensor is " + std::string(name(dtype_)) + ", but its elements were asked for as " +
                    std::string(name(dtype)) + "; convert it with to()");
  }
}

void Tensor::require_writable(const char* action) const {
  if (!writable())
    throw ValueError(std::string("cannot ") + action + " a read-only tensor; copy() gives one that can be written");
}

int64_t Tensor::element_offset(std::span<const int64_t> index) const {
  if (static_cast<int>(index.size()) != rank()) {
    throw IndexError("a tensor of " + std::to_string(rank()) + " dimensions needs as many indices; got " +
                     std::to_string(index.size()));
  }
  int64_t offset = offset_;
  for (int i = 0; i < rank(); ++i) {
    int64_t value = index[static_cast<size_t>(i)];
    if (value < -shape_[i] || value >= shape_[i]) {
      throw IndexError("index " + std::to_string(value) + " is outside dimension " + std::to_string(i) + " of " +
                       std::to_string(shape_[i]));
    }
    offset += (value < 0 ? value + shape_[i] : value) * strides_[i];
  }
  return offset;
}

double Tensor::at(std::span<const int64_t> index) const { return load_element(dtype_, base(), element_offset(index)); }

void Tensor::set(std::span<const int64_t> index, double value) const {
  require_writable("set an element of");
  store_element(dtype_, base(), element_offset(index), value);
}

Tensor Tensor::select(int64_t axis, int64_t index) const {
  int a = normalize_axis(axis, rank());
  if (index < -shape_[a] || index >= shape_[a]) {
    throw IndexError("index " + std::to_string(index) + " is outside dimension " + std::to_string(a) + " of " +
                     std::to_string(shape_[a]));
  }
  if (index < 0) index += shape_[a];
  Dims shape = shape_, strides = strides_;
  shape.erase(a);
  strides.erase(a);
  return {buffer_, dtype_, shape, strides, size_ ? offset_ + index * strides_[a] : offset_};
}

Tensor Tensor::slice(int64_t axis, std::optional<int64_t> start, std::optional<int64_t> stop, int64_t step) const {
  int a = normalize_axis(axis, rank());
  if (step == 0) throw ValueError("the step of a slice cannot be 0");
  int64_t n = shape_[a];
  // Python's rules: with a negative step the range runs from n - 1 down to before 0.
  int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? n : n - 1;
  auto clamp = [&](int64_t value) { return std::clamp(value < 0 ? value + n : value, lowest, highest); };
  int64_t first = start ? clamp(*start) : step > 0 ? 0 : n - 1;
  int64_t last = stop ? clamp(*stop) : step > 0 ? n : -1;
  int64_t count = 0;
  if (step > 0 && last > first) count = (last - first - 1) / step + 1;
  if (step < 0 && first > last)
    count = static_cast<int64_t>(static_cast<uint64_t>(first - last - 1) / (0 - static_cast<uint64_t>(step))) + 1;
  Dims shape = shape_, strides = strides_;
  shape[a] = count;
  if (count > 1) strides[a] = strides_[a] * step;
  int64_t offset = size_ && count ? offset_ + first * strides_[a] : offset_;
  return {buffer_, dtype_, shape, strides, offset};
}

Tensor Tensor::transpose(int64_t axis0, int64_t axis1) const {
  int a = normalize_axis(axis0, rank()), b = normalize_axis(axis1, rank());
  Tensor result = *this;
  std::swap(result.shape_[a], result.shape_[b]);
  std::swap(result.strides_[a], result.strides_[b]);
  return result;
}

Tensor Tensor::permute(const Dims& axes) const {
  if (axes.size() != rank()) {
    throw ShapeError("permute needs each of " + std::to_string(rank()) + " axes once; got " + to_string(axes));
  }
  Tensor result = *this;
  unsigned seen = 0;
  for (int i = 0; i < rank(); ++i) {
    int a = normalize_axis(axes[i], rank());
    if (seen & (1u << a)) throw ShapeError("permute needs each axis once; got " + to_string(axes));
    seen |= 1u << a;
    result.shape_[i] = shape_[a];
    result.strides_[i] = strides_[a];
  }
  return result;
}

Tensor Tensor::reshape(const Dims& shape) const {
  Dims wanted = shape;
  int unknown = -1;
  for (int i = 0; i < wanted.size(); ++i) {
    if (wanted[i] != -1) continue;
    if (unknown >= 0) throw ShapeError("only one size of a shape can be -1; got " + to_string(shape));
    unknown = i;
    wanted[i] = 1;
  }
  int64_t known = element_count(wanted);
  if (unknown >= 0) {
    if (known == 0 || size_ % known) {
      throw ShapeError("cannot infer the -1 of " + to_string(shape) + " for " + std::to_string(size_) + " elements");
    }
    wanted[unknown] = size_ / known;
  } else if (known != size_) {
    throw ShapeError("cannot reshape " + std::to_string(size_) + " elements of " + to_string(shape_) + " to " +
                     to_string(shape) + ", which has " + std::to_string(known));
  }
  if (size_ == 0) return {buffer_, dtype_, wanted, row_major_strides(wanted), offset_};
  std::optional<Dims> strides = reshaped_strides(shape_, strides_, wanted);
  if (!strides) {
    throw ShapeError("a view of " + description() + " cannot have shape " + to_string(wanted) +
                     "; call contiguous() first, which copies");
  }
  return {buffer_, dtype_, wanted, *strides, offset_};
}

Tensor Tensor::expand(const Dims& shape) const {
  int added = shape.size() - rank();
  auto refuse = [&](const std::string& why) {
    throw ShapeError("cannot expand " + to_string(shape_) + " to " + to_string(shape) + ": " + why);
  };
  if (added < 0) refuse("it has fewer dimensions");
  Dims strides = Dims::filled(shape.size(), 0);
  for (int i = 0; i < rank(); ++i) {
    if (shape_[i] == shape[added + i]) {
      strides[added + i] = strides_[i];
    } else if (shape_[i] != 1) {
      refuse("dimension " + std::to_string(i) + " of " + std::to_string(shape_[i]) + " is not 1");
    }
  }
  return {buffer_, dtype_, shape, strides, offset_};
}

Tensor Tensor::squeeze(int64_t axis) const {
  int a = normalize_axis(axis, rank());
  if (shape_[a] != 1) {
    throw ShapeError("cannot squeeze dimension " + std::to_string(a) + " of " + to_string(shape_) + ": it is not 1");
  }
  Tensor result = *this;
  result.shape_.erase(a);
  result.strides_.erase(a);
  return result;
}

Tensor Tensor::unsqueeze(int64_t axis) const {
  int a = normalize_axis(axis, rank() + 1);
  Tensor result = *this;
  result.shape_.insert(a, 1);
  result.strides_.insert(a, 1);
  return result;
}

Tensor Tensor::contiguous() const { return is_contiguous() ? *this : copy(); }

Tensor Tensor::convert_to_new(DType dtype) const {
  // Zeroed where packed: the last nibble of an odd count would be left as it was.
  Tensor result = is_packed(dtype) ? zeros(dtype, shape_) : empty(dtype, shape_);
  result.copy_from(*this);
  return result;
}

std::vector<double> Tensor::values() const {
  std::vector<double> result(static_cast<size_t>(size_));
  if (size_) from_memory(result.data(), DType::f64, shape_).copy_from(*this);
  return result;
}

std::string Tensor::description() const {
  std::string text = std::string(name(dtype_)) + to_string(shape_);
  if (!is_contiguous()) text += " with strides " + to_string(strides_);
  return text;
}

}  // namespace deep_accel
