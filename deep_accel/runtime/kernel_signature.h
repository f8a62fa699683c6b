// What a compiled kernel says about itself: its arguments, the phases of its grid, what it needs. Written by the
// compiler as JSON into the kernel's image:
//   {"name": "gemm",
//    "args": [{"name": "A", "kind": "tensor", "dtype": "f32", "role": "in", "dims": ["M", 4096], "strides": null},
//             {"name": "alpha", "kind": "scalar", "dtype": "f32"}],
//    "phases": [{"axes": 2, "order": "swizzle:8", "marks_bytes": 0}],
//    "arena_bytes": 65536, "target": "x86-64-avx2", "imports": []}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "deep_accel/base/dtype.h"

namespace deep_accel {

// How a size or stride of an argument is constrained.
struct DimSpec {
  enum class Kind { any, fixed, symbol };
  Kind kind = Kind::any;
  int64_t value = 0;  // fixed: the size; symbol: its index in KernelSignature::symbols
};

struct ArgumentSpec {
  enum class Role { in, out, inout };

  std::string name;
  bool is_tensor = true;
  DType dtype = DType::f32;
  Role role = Role::in;
  std::vector<DimSpec> dims;
  bool contiguous = true;        // row-major without gaps; `strides` is empty then
  std::vector<DimSpec> strides;  // else one for each dimension: any or fixed

  bool writes() const { return is_tensor && role != Role::in; }
};

// In which order the blocks of a grid are handed out: neighbours in time share what is in the caches.
struct BlockOrder {
  enum class Kind {
    rows,     // the last axis fastest
    columns,  // the first axis fastest
    swizzle   // z slowest; groups of `group` along x, and within a group x fastest: a square patch of blocks at a time
  };
  Kind kind = Kind::rows;
  int64_t group = 8;

  // "rows", "columns", "swizzle:8". parse throws ValueError.
  static BlockOrder parse(std::string_view text);
  std::string to_string() const;
  friend bool operator==(const BlockOrder&, const BlockOrder&) = default;
};

struct PhaseSpec {
  int axes = 1;
  BlockOrder order;
  // So many bytes at the beginning of a worker's arena are set to kMarksByte before the worker's first block of the
  // phase: by marks there, blocks know what earlier blocks left in the arena for them.
  int64_t marks_bytes = 0;
};

inline constexpr unsigned char kMarksByte = 0x80;

struct KernelSignature {
  std::string name;
  std::vector<ArgumentSpec> args;
  std::vector<std::string> symbols;  // names of the sizes that are bound by the arguments
  std::vector<PhaseSpec> phases;
  int64_t arena_bytes = 0;
  std::string target;
  std::vector<std::string> imports;
  std::string json;      // the whole text, with whatever else the compiler wrote
  int params_count = 0;  // slots that the arguments take

  // Throws ValueError that says what is wrong where.
  static KernelSignature parse(std::string_view json);
};

}  // namespace deep_accel
