// The element types of tensors and kernels: their names, sizes and kinds. How their values convert: numeric.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace deep_accel {

// f8e4m3 is the OCP "fn" variant (no infinities, largest 448), f8e5m2 the IEEE-like one (largest 57344), f4e2m1 the OCP
// type of MXFP4 (largest 6, neither infinities nor NaN). f4e2m1 and i4 are packed: two to a byte, the even index in the
// low nibble. boolean takes a byte, 0 or 1.
enum class DType : uint8_t { f64, f32, f16, bf16, f8e4m3, f8e5m2, f4e2m1, i64, i32, i16, i8, i4, u8, boolean };

inline constexpr int kDTypeCount = 14;

// "f32", "bf16", "bool", ...
std::string_view name(DType dtype);

// From our names and the usual others ("float32", "bfloat16", "float8_e4m3fn", "int4", "uint8", ...).
// Throws TypeError that lists the supported names.
DType parse_dtype(std::string_view text);

// All of them, in the order of the enumeration.
const std::vector<DType>& all_dtypes();

constexpr int bits(DType dtype) {
  switch (dtype) {
    case DType::f64:
    case DType::i64:
      return 64;
    case DType::f32:
    case DType::i32:
      return 32;
    case DType::f16:
    case DType::bf16:
    case DType::i16:
      return 16;
    case DType::f4e2m1:
    case DType::i4:
      return 4;
    default:
      return 8;
  }
}

constexpr bool is_packed(DType dtype) { return bits(dtype) < 8; }
constexpr bool is_float(DType dtype) { return dtype <= DType::f4e2m1; }
constexpr bool is_integer(DType dtype) { return dtype >= DType::i64 && dtype <= DType::u8; }
constexpr bool is_signed(DType dtype) { return dtype < DType::u8; }

// Bytes that `count` consecutive elements take (a packed odd one takes a whole byte). Throws ShapeError where the count
// is negative or the size does not fit 63 bits.
int64_t bytes_for(DType dtype, int64_t count);

// The dtype of a C++ type: dtype_of<float>() == DType::f32.
template <typename T>
constexpr DType dtype_of();
template <>
constexpr DType dtype_of<double>() {
  return DType::f64;
}
template <>
constexpr DType dtype_of<float>() {
  return DType::f32;
}
template <>
constexpr DType dtype_of<int64_t>() {
  return DType::i64;
}
template <>
constexpr DType dtype_of<int32_t>() {
  return DType::i32;
}
template <>
constexpr DType dtype_of<int16_t>() {
  return DType::i16;
}
template <>
constexpr DType dtype_of<int8_t>() {
  return DType::i8;
}
template <>
constexpr DType dtype_of<uint8_t>() {
  return DType::u8;
}
template <>
constexpr DType dtype_of<bool>() {
  return DType::boolean;
}

}  // namespace deep_accel
