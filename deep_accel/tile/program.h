// A module of kernels in the tile dialect, held so that its users need not see MLIR.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace deep_accel::tile {

class Program {
 public:
  // Parses the dialect's text. `name` stands in messages ("gemm.mlir:3:5: ...").
  // Throws ValueError with every diagnostic, source lines first, where the text does not parse or verify.
  static Program parse(std::string_view text, std::string_view name = "<text>");
  // Reads and parses a file; IoError where it cannot be read.
  static Program parse_file(const std::string& path);

  // The dialect's text. With `locations` each operation says where it was written.
  std::string text(bool locations = false) const;
  // Names of the kernels, in order.
  std::vector<std::string> kernels() const;
  // A deep copy in the same context.
  Program clone() const;

  // What only files that see MLIR look into (tile/ir/program_impl.h).
  struct Impl;
  explicit Program(std::shared_ptr<Impl> impl);
  Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace deep_accel::tile
