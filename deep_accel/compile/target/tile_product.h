// Functions that multiply with AMX's tile registers: products call them by name, and LLVM IR is made for the names that
// are called (machine/tile_product.cpp), since MLIR has no type for the registers.
//
//   void name(a, a_stride, b, b_stride, c, c_stride, steps)
//
// adds the product of `rows` rows of a and `columns` columns of b to c, where `clear` begins from zero. a's rows are
// a_stride bytes apart, each of `steps` times 64 bytes; b has rows of words of 32 bits, b_stride bytes apart, each a
// group of neighbours along K; c is of i32 or f32.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace deep_accel::compile {

struct TileProduct {
  static constexpr int64_t kRows = 16;   // of a tile register
  static constexpr int64_t kBytes = 64;  // of its rows
  // Two by two sums, two tiles of a and two of b: all eight registers.
  static constexpr int64_t kMostRows = 2 * kRows, kMostColumns = 2 * kBytes / 4;

  enum class Kind { bf16, signed_signed, signed_unsigned, unsigned_signed, unsigned_unsigned };

  Kind kind = Kind::bf16;
  int64_t rows = 0, columns = 0;
  bool clear = false;

  std::string name() const {
    return std::string(kPrefix) + std::to_string(static_cast<int>(kind)) + "_" + std::to_string(rows) + "_" +
           std::to_string(columns) + "_" + std::to_string(static_cast<int>(clear));
  }

  static std::optional<TileProduct> parse(std::string_view name) {
    if (!name.starts_with(kPrefix)) return std::nullopt;
    int64_t numbers[4] = {};
    size_t field = 0;
    for (char letter : name.substr(kPrefix.size())) {
      if (letter == '_' && field < 3) {
        ++field;
      } else if (letter >= '0' && letter <= '9') {
        numbers[field] = numbers[field] * 10 + (letter - '0');
      } else {
        return std::nullopt;
      }
    }
    return TileProduct{static_cast<Kind>(numbers[0]), numbers[1], numbers[2], numbers[3] != 0};
  }

 private:
  static constexpr std::string_view kPrefix = "deep_accel_tile_product_";
};

}  // namespace deep_accel::compile
