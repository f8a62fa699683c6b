// Shapes and strides: a list of up to kMaxRank integers that needs no memory of its own, and arithmetic on it that
// notices overflow.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace deep_accel {

inline constexpr int kMaxRank = 12;

class Dims {
 public:
  constexpr Dims() = default;
  Dims(std::initializer_list<int64_t> values) : Dims(std::span<const int64_t>(values.begin(), values.size())) {}
  Dims(const std::vector<int64_t>& values) : Dims(std::span<const int64_t>(values)) {}
  // Throws ShapeError above kMaxRank.
  Dims(std::span<const int64_t> values);
  static Dims filled(int rank, int64_t value);

  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t& operator[](int i) { return values_[static_cast<size_t>(i)]; }
  int64_t operator[](int i) const { return values_[static_cast<size_t>(i)]; }
  const int64_t* data() const { return values_.data(); }
  const int64_t* begin() const { return values_.data(); }
  const int64_t* end() const { return values_.data() + size_; }
  int64_t* begin() { return values_.data(); }
  int64_t* end() { return values_.data() + size_; }

  void push_back(int64_t value) { insert(size_, value); }
  // Throws ShapeError above kMaxRank.
  void insert(int position, int64_t value);
  void erase(int position);

  operator std::span<const int64_t>() const { return {values_.data(), static_cast<size_t>(size_)}; }
  std::vector<int64_t> to_vector() const { return {begin(), end()}; }
  friend bool operator==(const Dims& a, const Dims& b);

 private:
  std::array<int64_t, kMaxRank> values_{};
  int size_ = 0;
};

// "[2, 3]"
std::string to_string(const Dims& dims);

// Throw ShapeError where 63 bits do not hold the result; `what` says in the message what was computed.
int64_t checked_mul(int64_t a, int64_t b, const char* what);
int64_t checked_add(int64_t a, int64_t b, const char* what);

// The product of the sizes; 1 for rank 0. Throws ShapeError where a size is negative or the product does not fit.
// A size of 0 does not excuse the others: [0, 2^40, 2^40] is refused too, since its strides do not fit.
int64_t element_count(const Dims& shape);

// Strides in elements of a contiguous row-major tensor. Sizes of 0 count as 1.
Dims row_major_strides(const Dims& shape);

// The lowest and highest element offset that the indices reach, relative to element [0, ..., 0]. No size is 0.
std::pair<int64_t, int64_t> reach(const Dims& shape, const Dims& strides);

// The shape to which both broadcast by NumPy's rules. Throws ShapeError that names the axis.
Dims broadcast_shapes(const Dims& a, const Dims& b);

// An axis counted from the end where negative. Throws IndexError.
int normalize_axis(int64_t axis, int rank);

}  // namespace deep_accel
