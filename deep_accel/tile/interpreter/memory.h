// Buffers of the interpreter: elements with their error bounds, what has been written, and views.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "deep_accel/tile/interpreter/races.h"
#include "deep_accel/tile/interpreter/value.h"
#include "llvm/ADT/SmallVector.h"

namespace deep_accel::tile::interpreter {

using Indices = llvm::SmallVector<int64_t, 4>;

struct ElementType {
  DType dtype = DType::f32;
  ScalarType compute;  // in which its arithmetic happens
};

struct Cell {
  Scalar scalar;         // origin: of the undefined value in it
  double magnitude = 0;  // sum of the absolute values that were added up to it
  uint32_t terms = 0;    // how many
  uint16_t written = 0;  // a bit for each four bits of the element
  uint32_t pending = 0;  // not 0: the asynchronous load that is still under way
  bool dirty = false;    // written since the start
};

struct Memory {
  std::string name;  // quoted, as messages have it
  ElementType element;
  Indices shape;
  std::vector<Cell> cells;  // row-major
  bool is_global = false;   // rounds what is written, and takes no undefined values
  bool read_only = false;
  bool of_thread = false;  // no other thread sees it
  Shadows shadows;

  Memory(std::string name, ElementType element, Indices shape);
  uint16_t whole() const { return static_cast<uint16_t>((1u << (bits(element.dtype) / 4)) - 1); }
  // "[3, 4]" of a cell.
  std::string index_text(int64_t cell) const;
};

// A window of a memory, perhaps under another element type. Offset and strides count elements of the view's own type.
struct View {
  std::shared_ptr<Memory> memory;
  ElementType element;
  int64_t offset = 0;
  Indices sizes, strides;

  bool same_type() const { return element.dtype == memory->element.dtype; }
  int64_t count() const;
};

std::shared_ptr<Memory> make_memory(std::string name, ElementType element, Indices shape);
View whole_view(const std::shared_ptr<Memory>& memory);
Indices row_major(const Indices& shape);
std::string text(llvm::ArrayRef<int64_t> indices);

// Where an element of a view lies, counted in elements of the view's type from the memory's start.
inline int64_t place(const View& view, llvm::ArrayRef<int64_t> index) {
  int64_t at = view.offset;
  for (size_t dim = 0; dim < index.size(); ++dim) at += index[dim] * view.strides[dim];
  return at;
}

// Runs over all indices of a shape in row-major order.
template <typename Body>
void for_each_index(llvm::ArrayRef<int64_t> shape, const Body& body) {
  for (int64_t size : shape) {
    if (size <= 0) return;
  }
  Indices index(shape.size(), 0);
  while (true) {
    body(index);
    size_t dim = shape.size();
    while (dim > 0 && ++index[dim - 1] == shape[dim - 1]) index[--dim] = 0;
    if (dim == 0) return;
  }
}

}  // namespace deep_accel::tile::interpreter
