// One table of names; everything else about a dtype follows from its number of bits.
#include "deep_accel/base/dtype.h"

#include <array>
#include <utility>

#include "deep_accel/base/error.h"
#include "deep_accel/base/text.h"

namespace deep_accel {
namespace {

constexpr std::array<std::string_view, kDTypeCount> kNames = {"f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2", "f4e2m1",
                                                              "i64", "i32", "i16", "i8",   "i4",     "u8",     "bool"};

constexpr std::pair<std::string_view, DType> kAliases[] = {
    {"float64", DType::f64},
    {"fp64", DType::f64},
    {"double", DType::f64},
    {"float32", DType::f32},
    {"fp32", DType::f32},
    {"float", DType::f32},
    {"float16", DType::f16},
    {"fp16", DType::f16},
    {"half", DType::f16},
    {"bfloat16", DType::bf16},
    {"float8_e4m3fn", DType::f8e4m3},
    {"float8_e4m3", DType::f8e4m3},
    {"f8e4m3fn", DType::f8e4m3},
    {"e4m3", DType::f8e4m3},
    {"float8_e5m2", DType::f8e5m2},
    {"e5m2", DType::f8e5m2},
    {"float4_e2m1fn", DType::f4e2m1},
    {"float4_e2m1", DType::f4e2m1},
    {"f4e2m1fn", DType::f4e2m1},
    {"e2m1", DType::f4e2m1},
    {"int64", DType::i64},
    {"int32", DType::i32},
    {"int16", DType::i16},
    {"int8", DType::i8},
    {"int4", DType::i4},
    {"uint8", DType::u8},
    {"boolean", DType::boolean},
    {"bool_", DType::boolean},
    {"i1", DType::boolean},
};

}  // namespace

std::string_view name(DType dtype) { return kNames.at(static_cast<size_t>(dtype)); }

const std::vector<DType>& all_dtypes() {
  static const std::vector<DType> all = [] {
    std::vector<DType> list;
    for (int i = 0; i < kDTypeCount; ++i) list.push_back(static_cast<DType>(i));
    return list;
  }();
  return all;
}

DType parse_dtype(std::string_view text) {
  for (DType dtype : all_dtypes()) {
    if (name(dtype) == text) return dtype;
  }
  for (const auto& [alias, dtype] : kAliases) {
    if (alias == text) return dtype;
  }
  std::vector<std::string> known(kNames.begin(), kNames.end());
  for (const auto& [alias, dtype] : kAliases) known.emplace_back(alias);
  std::string message =
      "dtype '" + std::string(text) + "' is not known" + did_you_mean(text, known) + "; supported are ";
  for (size_t i = 0; i < kNames.size(); ++i) message += (i ? ", " : "") + std::string(kNames[i]);
  throw TypeError(message);
}

int64_t bytes_for(DType dtype, int64_t count) {
  if (count < 0) throw ShapeError("a number of elements cannot be negative; got " + std::to_string(count));
  if (is_packed(dtype)) return count / 2 + count % 2;
  int64_t bytes = 0;
  if (__builtin_mul_overflow(count, static_cast<int64_t>(bits(dtype) / 8), &bytes)) {
    throw ShapeError(std::to_string(count) + " elements of " + std::string(name(dtype)) +
                     " do not fit 63 bits of bytes");
  }
  return bytes;
}

}  // namespace deep_accel
