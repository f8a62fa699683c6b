// Arithmetic on shapes that notices overflow.
#include "deep_accel/base/shape.h"

#include <algorithm>

#include "deep_accel/base/error.h"

namespace deep_accel {
namespace {

void check_rank(size_t rank) {
  if (rank > static_cast<size_t>(kMaxRank)) {
    throw ShapeError("a tensor has at most " + std::to_string(kMaxRank) + " dimensions; got " + std::to_string(rank));
  }
}

}  // namespace

Dims::Dims(std::span<const int64_t> values) {
  check_rank(values.size());
  std::copy(values.begin(), values.end(), values_.begin());
  size_ = static_cast<int>(values.size());
}

Dims Dims::filled(int rank, int64_t value) {
  check_rank(static_cast<size_t>(rank));
  Dims dims;
  dims.size_ = rank;
  std::fill(dims.begin(), dims.end(), value);
  return dims;
}

void Dims::insert(int position, int64_t value) {
  check_rank(static_cast<size_t>(size_) + 1);
  ++size_;
  std::copy_backward(begin() + position, end() - 1, end());
  values_[static_cast<size_t>(position)] = value;
}

void Dims::erase(int position) {
  std::copy(begin() + position + 1, end(), begin() + position);
  --size_;
}

bool operator==(const Dims& a, const Dims& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

std::string to_string(const Dims& dims) {
  std::string text = "[";
  for (int i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

int64_t checked_mul(int64_t a, int64_t b, const char* what) {
  int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) {
    throw ShapeError(std::string(what) + " does not fit 63 bits (" + std::to_string(a) + " * " + std::to_string(b) +
                     ")");
  }
  return result;
}

int64_t checked_add(int64_t a, int64_t b, const char* what) {
  int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) {
    throw ShapeError(std::string(what) + " does not fit 63 bits (" + std::to_string(a) + " + " + std::to_string(b) +
                     ")");
  }
  return result;
}

int64_t element_count(const Dims& shape) {
  int64_t count = 1;
  bool empty = false;
  for (int i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0) {
      throw ShapeError("dimension " + std::to_string(i) + " of shape " + to_string(shape) + " is negative");
    }
    empty |= shape[i] == 0;
    if (__builtin_mul_overflow(count, std::max<int64_t>(shape[i], 1), &count)) {
      throw ShapeError("shape " + to_string(shape) + " has more elements than fit 63 bits");
    }
  }
  return empty ? 0 : count;
}

Dims row_major_strides(const Dims& shape) {
  element_count(shape);  // refuses negative and overflowing shapes
  Dims strides = Dims::filled(shape.size(), 1);
  for (int i = shape.size() - 2; i >= 0; --i) strides[i] = strides[i + 1] * std::max<int64_t>(shape[i + 1], 1);
  return strides;
}

std::pair<int64_t, int64_t> reach(const Dims& shape, const Dims& strides) {
  int64_t low = 0, high = 0;
  for (int i = 0; i < shape.size(); ++i) {
    int64_t last = checked_mul(shape[i] - 1, strides[i], "the extent of a tensor");
    (last < 0 ? low : high) = checked_add(last < 0 ? low : high, last, "the extent of a tensor");
  }
  return {low, high};
}

Dims broadcast_shapes(const Dims& a, const Dims& b) {
  int rank = std::max(a.size(), b.size());
  Dims result = Dims::filled(rank, 1);
  for (int i = 0; i < rank; ++i) {
    int64_t x = i < rank - a.size() ? 1 : a[i - (rank - a.size())];
    int64_t y = i < rank - b.size() ? 1 : b[i - (rank - b.size())];
    if (x != y && x != 1 && y != 1) {
      throw ShapeError("shapes " + to_string(a) + " and " + to_string(b) + " do not broadcast: axis " +
                       std::to_string(i - rank) + " is " + std::to_string(x) + " and " + std::to_string(y) +
                       "; sizes must be equal or 1");
    }
    result[i] = x == 1 ? y : x;
  }
  return result;
}

int normalize_axis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    throw IndexError("axis " + std::to_string(axis) + " is outside a tensor of " + std::to_string(rank) +
                     " dimensions; expected " + std::to_string(-rank) + " to " + std::to_string(rank - 1));
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

}  // namespace deep_accel
