#include "deep_accel/tile/interpreter/memory.h"

namespace deep_accel::tile::interpreter {

namespace {

int64_t product(llvm::ArrayRef<int64_t> sizes) {
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  return count;
}

}  // namespace

Memory::Memory(std::string name, ElementType element, Indices shape)
    : name(std::move(name)), element(element), shape(std::move(shape)) {
  cells.resize(static_cast<size_t>(product(this->shape)));
}

std::string Memory::index_text(int64_t cell) const {
  Indices index(shape.size(), 0);
  for (size_t dim = shape.size(); dim-- > 0;) {
    index[dim] = cell % shape[dim];
    cell /= shape[dim];
  }
  return text(index);
}

int64_t View::count() const { return product(sizes); }

std::shared_ptr<Memory> make_memory(std::string name, ElementType element, Indices shape) {
  return std::make_shared<Memory>(std::move(name), element, std::move(shape));
}

View whole_view(const std::shared_ptr<Memory>& memory) {
  return View{memory, memory->element, 0, memory->shape, row_major(memory->shape)};
}

Indices row_major(const Indices& shape) {
  Indices strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim > 1; --dim) strides[dim - 2] = strides[dim - 1] * shape[dim - 1];
  return strides;
}

std::string text(llvm::ArrayRef<int64_t> indices) {
  std::string result = "[";
  for (int64_t index : indices) result += (result.size() > 1 ? ", " : "") + std::to_string(index);
  return result + "]";
}

}  // namespace deep_accel::tile::interpreter
