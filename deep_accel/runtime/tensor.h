// Tensor: a dtype, a shape, strides, and a share in a Buffer. Copying a Tensor copies the view, not the elements;
// slice(), select(), transpose() and the like are views too.
//
// Strides and offsets count elements. Packed types (f4e2m1, i4: two to a byte) can be viewed like any other; but only a
// view that starts at an even element has an address, so data() refuses the others, and with them launching a kernel.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "deep_accel/base/dtype.h"
#include "deep_accel/base/shape.h"
#include "deep_accel/runtime/buffer.h"

namespace deep_accel {

class Tensor {
 public:
  // No elements: shape [0].
  Tensor() = default;

  // New contiguous row-major tensors. Throw ShapeError where the shape is negative or too large, OutOfMemoryError.
  static Tensor empty(DType dtype, const Dims& shape);
  static Tensor zeros(DType dtype, const Dims& shape);
  static Tensor full(DType dtype, const Dims& shape, double value);
  // A copy of values, converted to the dtype. Throws ShapeError where their number differs from the shape's.
  static Tensor from_values(DType dtype, const Dims& shape, std::span<const double> values);

  // Somebody else's memory, not copied. `data` is the address of element [0, ..., 0]; strides (elements, may be
  // negative or 0) default to row-major. `release` runs once when the last view is gone. The caller answers for the
  // memory being there.
  static Tensor from_memory(void* data, DType dtype, const Dims& shape,
                            const std::optional<Dims>& strides = std::nullopt, std::function<void()> release = nullptr,
                            bool writable = true);
  // A view of a buffer. Throws ShapeError where it reaches outside.
  static Tensor from_buffer(std::shared_ptr<Buffer> buffer, DType dtype, const Dims& shape, const Dims& strides,
                            int64_t offset = 0);

  DType dtype() const { return dtype_; }
  const Dims& shape() const { return shape_; }
  const Dims& strides() const { return strides_; }
  int64_t offset() const { return offset_; }
  int rank() const { return shape_.size(); }
  // Elements, and the bytes that they take when contiguous.
  int64_t size() const { return size_; }
  int64_t bytes() const { return bytes_for(dtype_, size_); }
  // Axis may be negative: from the end.
  int64_t dim(int axis) const { return shape_[normalize_axis(axis, rank())]; }
  bool writable() const { return !buffer_ || buffer_->writable(); }
  const std::shared_ptr<Buffer>& buffer() const { return buffer_; }

  // Row-major without gaps (the strides of dimensions of size 1, and all strides of empty tensors, do not matter).
  bool is_contiguous() const;
  // Address of element [0, ..., 0]. Throws ShapeError for a packed type that starts within a byte.
  void* data() const;
  template <typename T>
  T* data() const {
    require_dtype(dtype_of<T>());
    return static_cast<T*>(data());
  }

  // One element as a double (slow; for tests, printing and reference code). Indices may be negative. Throw IndexError,
  // and ValueError where the memory is read-only.
  double at(std::span<const int64_t> index) const;
  double at(std::initializer_list<int64_t> index) const { return at(std::span(index.begin(), index.size())); }
  void set(std::span<const int64_t> index, double value) const;
  void set(std::initializer_list<int64_t> index, double value) const {
    set(std::span(index.begin(), index.size()), value);
  }
  // All elements in row-major order.
  std::vector<double> values() const;

  // Views. Throw IndexError for an axis or index outside, ShapeError where the wanted view does not exist.
  Tensor select(int64_t axis, int64_t index) const;  // one index of an axis, which disappears
  // start:stop:step as in Python: negative from the end, clamped; an absent end means all. Throws ValueError for step
  // 0.
  Tensor slice(int64_t axis, std::optional<int64_t> start, std::optional<int64_t> stop, int64_t step = 1) const;
  Tensor transpose(int64_t axis0 = -2, int64_t axis1 = -1) const;
  Tensor permute(const Dims& axes) const;
  // One size may be -1. Throws ShapeError that says to call contiguous() where only a copy could have that shape.
  Tensor reshape(const Dims& shape) const;
  Tensor expand(const Dims& shape) const;  // repeats axes of size 1 (stride 0), adds axes in front
  Tensor squeeze(int64_t axis) const;
  Tensor unsqueeze(int64_t axis) const;

  // This tensor where it is contiguous, else a contiguous copy.
  Tensor contiguous() const;
  // A new contiguous tensor with the same values.
  Tensor copy() const { return convert_to_new(dtype_); }
  // This tensor where it has that dtype, else a converted copy (base/numeric.h says how values convert).
  Tensor to(DType dtype) const { return dtype == dtype_ ? *this : convert_to_new(dtype); }
  // Writes the elements of another tensor into this one's memory, converting; shapes must be equal, or `source` must
  // broadcast. Right also where the two overlap. Throws ShapeError, and ValueError where this memory is read-only.
  void copy_from(const Tensor& source) const;
  void fill(double value) const;

  // Whether some byte belongs to elements of both. Exact, also for interleaved views.
  bool overlaps(const Tensor& other) const;

  // "f32[2, 3]", and with strides where not contiguous.
  std::string description() const;

 private:
  Tensor(std::shared_ptr<Buffer> buffer, DType dtype, const Dims& shape, const Dims& strides, int64_t offset);
  void require_dtype(DType dtype) const;
  void require_writable(const char* action) const;
  int64_t element_offset(std::span<const int64_t> index) const;
  Tensor convert_to_new(DType dtype) const;
  void* base() const { return buffer_ ? buffer_->data() : nullptr; }

  std::shared_ptr<Buffer> buffer_;
  DType dtype_ = DType::f32;
  Dims shape_{0};
  Dims strides_{1};
  int64_t offset_ = 0;  // elements from the buffer's first byte to element [0, ..., 0]
  int64_t size_ = 0;
};

}  // namespace deep_accel
