// Buffers of a kernel that is being built: its tensors in global memory, its tiles, and views of both.
#pragma once

#include <memory>
#include <optional>
#include <source_location>
#include <string>

#include "deep_accel/base/dtype.h"
#include "deep_accel/tile/scalar.h"

namespace deep_accel::tile {

// Where a buffer lives: a tensor that outlives the kernel; a tile that the whole block sees; a tile of the block that
// lives in registers where it can; memory private to a thread of Builder::threads.
enum class MemorySpace : uint8_t { global, shared, fragment, local };

std::string_view name(MemorySpace space);

// One element, not yet read. Converts to the scalar (which reads it), and can be assigned to (which writes it).
class Element {
 public:
  using Where = std::source_location;

  Element(std::shared_ptr<BuilderState> state, const void* buffer, Scalars indices, Where where)
      : state_(std::move(state)), buffer_(buffer), indices_(std::move(indices)), where_(where) {}
  Element(const Element&) = default;

  operator Scalar() const { return read(); }
  Scalar read() const;
  const Element& operator=(const Operand& value) const;
  const Element& operator=(const Element& value) const { return *this = Operand(value.read(), where_); }
  const Element& operator+=(const Operand& value) const { return *this = Operand(read() + value, value.where()); }
  const Element& operator-=(const Operand& value) const { return *this = Operand(read() - value, value.where()); }
  const Element& operator*=(const Operand& value) const { return *this = Operand(read() * value, value.where()); }
  const Element& operator/=(const Operand& value) const { return *this = Operand(read() / value, value.where()); }

 private:
  std::shared_ptr<BuilderState> state_;
  const void* buffer_;
  Scalars indices_;
  Where where_;
};

class TileBuffer {
 public:
  TileBuffer(std::shared_ptr<BuilderState> state, const void* value) : state_(std::move(state)), value_(value) {}

  DType dtype() const;
  MemorySpace space() const;
  int rank() const;
  // Sizes: literals where they are known.
  Scalars shape() const;
  Scalar dim(int axis) const;
  // As the user knows it: the argument's or the allocation's name, "" where it has none.
  std::string name() const;

  // Elements. Outside of the buffer's bounds they may be neither read nor written.
  Element operator()(const Operand& i) const { return at({i.scalar()}, i.where()); }
  Element operator()(const Operand& i, const Operand& j) const { return at({i.scalar(), j.scalar()}, i.where()); }
  Element operator()(const Operand& i, const Operand& j, const Operand& k) const {
    return at({i.scalar(), j.scalar(), k.scalar()}, i.where());
  }
  Element operator()(const Operand& i, const Operand& j, const Operand& k, const Operand& l) const {
    return at({i.scalar(), j.scalar(), k.scalar(), l.scalar()}, i.where());
  }
  Element at(Scalars indices, std::source_location where = std::source_location::current()) const;

  // For the builder.
  const std::shared_ptr<BuilderState>& state() const { return state_; }
  const void* value() const { return value_; }

 private:
  std::shared_ptr<BuilderState> state_;
  const void* value_;
};

}  // namespace deep_accel::tile
