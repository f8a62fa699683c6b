// Moving elements between tensors of any strides and dtypes; and whether two tensors share memory.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "deep_accel/base/error.h"
#include "deep_accel/base/numeric.h"
#include "deep_accel/runtime/tensor.h"
#include "deep_accel/runtime/workers.h"

namespace deep_accel {
namespace {

constexpr int64_t kChunk = 1024;         // elements that pass through a buffer on the stack
constexpr int64_t kSegment = 16 * 1024;  // elements of an inner row that are one piece of work

struct Axis {
  int64_t count, from, to;  // strides in elements of source and destination
};

// Both tensors as one loop nest over few axes, the destination's smallest stride innermost.
struct Nest {
  std::array<Axis, kMaxRank> axes;
  int rank = 0;

  Nest(const Dims& shape, const Dims& from, const Dims& to) {
    for (int i = 0; i < shape.size(); ++i) {
      if (shape[i] != 1) at(rank++) = {shape[i], from[i], to[i]};
    }
    // Insertion sort: stable, and without the allocation of std::stable_sort.
    for (int i = 1; i < rank; ++i) {
      for (int j = i; j > 0 && std::abs(at(j - 1).to) < std::abs(at(j).to); --j) std::swap(at(j - 1), at(j));
    }
    merge();
    if (rank == 0) at(rank++) = {1, 1, 1};
  }

  Axis& at(int i) { return axes[static_cast<size_t>(i)]; }

  void merge() {
    int kept = 0;
    for (int i = 1; i < rank; ++i) {
      Axis& outer = at(kept);
      const Axis& inner = at(i);
      if (outer.from == inner.from * inner.count && outer.to == inner.to * inner.count) {
        outer = {outer.count * inner.count, inner.from, inner.to};
      } else {
        at(++kept) = inner;
      }
    }
    if (rank) rank = kept + 1;
  }

  const Axis& inner() const { return axes[static_cast<size_t>(rank - 1)]; }

  // Offsets of row `row` of the outer axes.
  std::pair<int64_t, int64_t> row(int64_t row) const {
    int64_t from = 0, to = 0;
    for (int i = rank - 2; i >= 0; --i) {
      const Axis& axis = axes[static_cast<size_t>(i)];
      int64_t index = row % axis.count;
      row /= axis.count;
      from += index * axis.from;
      to += index * axis.to;
    }
    return {from, to};
  }
};

template <typename Word>
void gather_words(const char* source, int64_t stride, char* packed, int64_t count) {
  constexpr int64_t kWidth = sizeof(Word);
  for (int64_t i = 0; i < count; ++i) std::memcpy(packed + i * kWidth, source + i * stride * kWidth, sizeof(Word));
}

template <typename Word>
void scatter_words(const char* packed, char* destination, int64_t stride, int64_t count) {
  constexpr int64_t kWidth = sizeof(Word);
  for (int64_t i = 0; i < count; ++i) std::memcpy(destination + i * stride * kWidth, packed + i * kWidth, sizeof(Word));
}

void gather(DType dtype, const char* base, int64_t offset, int64_t stride, char* packed, int64_t count) {
  switch (bits(dtype)) {
    case 4:
      for (int64_t i = 0; i < count; ++i)
        store_pattern(dtype, packed, i, load_pattern(dtype, base, offset + i * stride));
      return;
    case 8:
      return gather_words<uint8_t>(base + offset, stride, packed, count);
    case 16:
      return gather_words<uint16_t>(base + offset * 2, stride, packed, count);
    case 32:
      return gather_words<uint32_t>(base + offset * 4, stride, packed, count);
    default:
      return gather_words<uint64_t>(base + offset * 8, stride, packed, count);
  }
}

void scatter(DType dtype, const char* packed, char* base, int64_t offset, int64_t stride, int64_t count) {
  switch (bits(dtype)) {
    case 4:
      for (int64_t i = 0; i < count; ++i)
        store_pattern(dtype, base, offset + i * stride, load_pattern(dtype, packed, i));
      return;
    case 8:
      return scatter_words<uint8_t>(packed, base + offset, stride, count);
    case 16:
      return scatter_words<uint16_t>(packed, base + offset * 2, stride, count);
    case 32:
      return scatter_words<uint32_t>(packed, base + offset * 4, stride, count);
    default:
      return scatter_words<uint64_t>(packed, base + offset * 8, stride, count);
  }
}

struct Side {
  DType dtype;
  char* base;
  int64_t offset, stride;

  bool direct() const { return stride == 1 && !(is_packed(dtype) && offset % 2); }
  char* address() const { return base + (is_packed(dtype) ? offset / 2 : offset * (bits(dtype) / 8)); }
};

void copy_row(Side from, Side to, int64_t count) {
  if (from.direct() && to.direct()) return convert(from.dtype, from.address(), to.dtype, to.address(), count);
  alignas(64) char gathered[kChunk * 8] = {};
  alignas(64) char converted[kChunk * 8];
  for (int64_t start = 0; start < count; start += kChunk) {
    int64_t length = std::min(kChunk, count - start);
    const char* values = gathered;
    if (from.direct()) {
      values = from.address();
    } else {
      gather(from.dtype, from.base, from.offset, from.stride, gathered, length);
    }
    if (to.direct()) {
      convert(from.dtype, values, to.dtype, to.address(), length);
    } else {
      if (from.dtype != to.dtype) {
        convert(from.dtype, values, to.dtype, converted, length);
        values = converted;
      }
      scatter(to.dtype, values, to.base, to.offset, to.stride, length);
    }
    from.offset += length * from.stride;
    to.offset += length * to.stride;
  }
}

}  // namespace

void Tensor::copy_from(const Tensor& source) const {
  require_writable("copy into");
  if (source.shape_ != shape_) {
    if (broadcast_shapes(source.shape_, shape_) != shape_) {
      throw ShapeError("cannot copy " + to_string(source.shape_) + " into " + to_string(shape_) +
                       ": the destination would have to grow");
    }
    return copy_from(source.expand(shape_));
  }
  if (size_ == 0) return;
  if (overlaps(source)) {
    // The same elements, one to one: nothing to do. Else the source is saved first.
    if (dtype_ == source.dtype_ && buffer_ == source.buffer_ && offset_ == source.offset_ &&
        strides_ == source.strides_)
      return;
    return copy_from(source.copy());
  }
  Nest nest(shape_, source.strides_, strides_);
  const Axis& inner = nest.inner();
  int64_t segments = (inner.count + kSegment - 1) / kSegment;
  auto work = [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      auto [from, to] = nest.row(item / segments);
      int64_t start = item % segments * kSegment;
      copy_row(
          {source.dtype_, static_cast<char*>(source.base()), source.offset_ + from + start * inner.from, inner.from},
          {dtype_, static_cast<char*>(base()), offset_ + to + start * inner.to, inner.to},
          std::min(kSegment, inner.count - start));
    }
  };
  int64_t items = size_ / inner.count * segments;
  if (is_packed(dtype_) || size_ < 8 * kSegment) {
    work(0, items);  // two threads must not write into one byte; and small work is not worth waking others
  } else {
    parallel_for(items, std::max<int64_t>(1, 2 * kSegment / std::min(inner.count, kSegment)), work);
  }
}

void Tensor::fill(double value) const {
  require_writable("fill");
  if (size_ == 0) return;
  uint64_t one = 0;
  store_element(dtype_, &one, 0, value);
  // One element, repeated by expand().
  copy_from(from_memory(&one, dtype_, {}).expand(shape_));
}

namespace {

// Whether low <= base + sum of coefficient_k * i_k <= high for some 0 <= i_k < count_k; coefficients positive and
// falling. Only few values of each i_k can still be made up for by the smaller coefficients, so the search is short in
// practice; where it is not, the answer is yes, which is the safe one.
struct Solver {
  struct Term {
    int64_t coefficient, count;
  };
  std::array<Term, 2 * kMaxRank> terms;
  int size = 0;
  int budget = 20000;

  bool solve(int k, int64_t base, int64_t low, int64_t high) {
    if (--budget < 0) return true;
    if (k == size) return low <= base && base <= high;
    int64_t rest = 0;
    for (int j = k + 1; j < size; ++j)
      rest += terms[static_cast<size_t>(j)].coefficient * (terms[static_cast<size_t>(j)].count - 1);
    auto [coefficient, count] = terms[static_cast<size_t>(k)];
    // coefficient * i must lie in [low - base - rest, high - base].
    int64_t most = high - base;
    int64_t least = low - base - rest;
    if (most < 0) return false;
    int64_t first = least <= 0 ? 0 : (least + coefficient - 1) / coefficient;
    int64_t last = std::min(count - 1, most / coefficient);
    for (int64_t i = first; i <= last; ++i) {
      if (solve(k + 1, base + coefficient * i, low, high)) return true;
    }
    return false;
  }
};

}  // namespace

bool Tensor::overlaps(const Tensor& other) const {
  if (size_ == 0 || other.size_ == 0) return false;
  // In half bytes, so that packed types fit in. For those, bytes matter: elements of one byte count as shared.
  auto width = [](const Tensor& t) { return static_cast<int64_t>(bits(t.dtype_) / 4); };
  auto start = [&](const Tensor& t) { return t.offset_ * width(t); };
  bool packed = is_packed(dtype_) || is_packed(other.dtype_);
  // First and last byte. Where those are apart the tensors are, which the margin of packed types below does not see.
  auto ends = [&](const Tensor& t) {
    const auto [low, high] = reach(t.shape_, t.strides_);
    const auto base = reinterpret_cast<intptr_t>(t.base());
    return std::pair(base + ((t.offset_ + low) * width(t) >> 1), base + (((t.offset_ + high + 1) * width(t) - 1) >> 1));
  };
  const auto [first, last] = ends(*this);
  const auto [other_first, other_last] = ends(other);
  if (last < other_first || other_last < first) return false;
  // b - a, where b moves forwards with the other's indices and backwards with ours.
  int64_t base =
      (static_cast<char*>(other.base()) - static_cast<char*>(this->base())) * 2 + start(other) - start(*this);
  Solver solver;
  auto add = [&](const Tensor& t, int64_t sign) {
    for (int i = 0; i < t.rank(); ++i) {
      int64_t coefficient = sign * t.strides_[i] * width(t);
      if (t.shape_[i] == 1 || coefficient == 0) continue;
      if (coefficient < 0) base += coefficient * (t.shape_[i] - 1);
      solver.terms[static_cast<size_t>(solver.size++)] = {std::abs(coefficient), t.shape_[i]};
    }
  };
  add(*this, -1);
  add(other, 1);
  int64_t low = -(width(other) - 1) - packed, high = width(*this) - 1 + packed;
  std::sort(solver.terms.begin(), solver.terms.begin() + solver.size,
            [](const Solver::Term& a, const Solver::Term& b) { return a.coefficient > b.coefficient; });
  return solver.solve(0, base, low, high);
}

}  // namespace deep_accel
