// Conversion of many elements. Each source is first widened, in blocks that stay in the first cache, to the narrowest
// of float, double and int64 that holds all its values; from there it is rounded into the destination. The inner loops
// of the usual pairs are written so that the compiler vectorises them, and compiled once more for AVX2 with F16C.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "deep_accel/base/float_formats.h"
#include "deep_accel/base/numeric.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define DEEP_ACCEL_AVX2 __attribute__((target("avx2,f16c")))
#endif

namespace deep_accel {
namespace {

constexpr int64_t kBlock = 1024;  // even: blocks of packed types start at a byte

template <formats::Format F>
constexpr auto make_table() {
  std::array<float, size_t{1} << F.width()> table{};
  for (uint32_t i = 0; i < table.size(); ++i) table[i] = formats::decode<F>(i);
  return table;
}
constexpr auto kE4M3Table = make_table<formats::kE4M3>();
constexpr auto kE5M2Table = make_table<formats::kE5M2>();
constexpr auto kE2M1Table = make_table<formats::kE2M1>();

[[gnu::always_inline]] inline void bf16_to_f32(const uint16_t* source, float* destination, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    uint32_t wide = static_cast<uint32_t>(source[i]) << 16;
    // One NaN, as decode() has it.
    if ((wide & 0x7fffffffu) > 0x7f800000u) wide = (wide & 0x80000000u) | 0x7fc00000u;
    destination[i] = std::bit_cast<float>(wide);
  }
}

[[gnu::always_inline]] inline void f32_to_bf16(const float* source, uint16_t* destination, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    uint32_t pattern = std::bit_cast<uint32_t>(source[i]);
    uint32_t rounded = (pattern + 0x7fffu + ((pattern >> 16) & 1)) >> 16;
    uint32_t nan = ((pattern >> 16) & 0x8000u) | 0x7fc0u;
    destination[i] = static_cast<uint16_t>((pattern & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
  }
}

void f16_to_f32(const uint16_t* source, float* destination, int64_t count) {
  for (int64_t i = 0; i < count; ++i) destination[i] = formats::decode<formats::kF16>(source[i]);
}

void f32_to_f16(const float* source, uint16_t* destination, int64_t count) {
  for (int64_t i = 0; i < count; ++i) destination[i] = static_cast<uint16_t>(formats::encode<formats::kF16>(source[i]));
}

void bf16_to_f32_baseline(const uint16_t* source, float* destination, int64_t count) {
  bf16_to_f32(source, destination, count);
}
void f32_to_bf16_baseline(const float* source, uint16_t* destination, int64_t count) {
  f32_to_bf16(source, destination, count);
}

#if defined(__x86_64__)
DEEP_ACCEL_AVX2 void bf16_to_f32_avx2(const uint16_t* source, float* destination, int64_t count) {
  bf16_to_f32(source, destination, count);
}
DEEP_ACCEL_AVX2 void f32_to_bf16_avx2(const float* source, uint16_t* destination, int64_t count) {
  f32_to_bf16(source, destination, count);
}
DEEP_ACCEL_AVX2 void f16_to_f32_avx2(const uint16_t* source, float* destination, int64_t count) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    _mm256_storeu_ps(destination + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(source + i))));
  }
  f16_to_f32(source + i, destination + i, count - i);
}
DEEP_ACCEL_AVX2 void f32_to_f16_avx2(const float* source, uint16_t* destination, int64_t count) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    __m128i rounded = _mm256_cvtps_ph(_mm256_loadu_ps(source + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(destination + i), rounded);
  }
  f32_to_f16(source + i, destination + i, count - i);
}
#endif

// The four loops for this machine.
struct Loops {
  void (*bf16_to_f32)(const uint16_t*, float*, int64_t) = bf16_to_f32_baseline;
  void (*f32_to_bf16)(const float*, uint16_t*, int64_t) = f32_to_bf16_baseline;
  void (*f16_to_f32)(const uint16_t*, float*, int64_t) = deep_accel::f16_to_f32;
  void (*f32_to_f16)(const float*, uint16_t*, int64_t) = deep_accel::f32_to_f16;
};

const Loops& loops() {
  static const Loops chosen = [] {
    Loops found;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c")) {
      found = {bf16_to_f32_avx2, f32_to_bf16_avx2, f16_to_f32_avx2, f32_to_f16_avx2};
    }
#endif
    return found;
  }();
  return chosen;
}

// What holds every value of a dtype.
enum class Wide { f32, f64, i64 };

Wide wide_type(DType dtype) {
  switch (dtype) {
    case DType::f64:
    case DType::i32:
      return Wide::f64;
    case DType::i64:
      return Wide::i64;
    default:
      return Wide::f32;
  }
}

template <typename From, typename To>
void widen_plain(const void* source, To* wide, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, static_cast<const char*>(source) + i * static_cast<int64_t>(sizeof(From)), sizeof(From));
    wide[i] = static_cast<To>(value);
  }
}

void widen(DType dtype, const void* source, float* wide, int64_t count) {
  const auto* bytes = static_cast<const uint8_t*>(source);
  switch (dtype) {
    case DType::f16:
      return loops().f16_to_f32(static_cast<const uint16_t*>(source), wide, count);
    case DType::bf16:
      return loops().bf16_to_f32(static_cast<const uint16_t*>(source), wide, count);
    case DType::f8e4m3:
      for (int64_t i = 0; i < count; ++i) wide[i] = kE4M3Table[bytes[i]];
      return;
    case DType::f8e5m2:
      for (int64_t i = 0; i < count; ++i) wide[i] = kE5M2Table[bytes[i]];
      return;
    case DType::f4e2m1:
      for (int64_t i = 0; i < count; ++i) wide[i] = kE2M1Table[(bytes[i >> 1] >> ((i & 1) * 4)) & 0xf];
      return;
    case DType::i4:
      for (int64_t i = 0; i < count; ++i) {
        wide[i] = static_cast<float>(static_cast<int8_t>(bytes[i >> 1] << (i & 1 ? 0 : 4)) >> 4);
      }
      return;
    case DType::i8:
      return widen_plain<int8_t>(source, wide, count);
    case DType::u8:
      return widen_plain<uint8_t>(source, wide, count);
    case DType::i16:
      return widen_plain<int16_t>(source, wide, count);
    case DType::boolean:
      for (int64_t i = 0; i < count; ++i) wide[i] = bytes[i] ? 1.0f : 0.0f;
      return;
    default:
      return widen_plain<float>(source, wide, count);
  }
}

void widen(DType dtype, const void* source, double* wide, int64_t count) {
  if (dtype == DType::i32) return widen_plain<int32_t>(source, wide, count);
  widen_plain<double>(source, wide, count);
}

void widen(DType dtype, const void* source, int64_t* wide, int64_t count) {
  for (int64_t i = 0; i < count; ++i) wide[i] = load_integer(dtype, source, i);
}

template <formats::Format F, typename Value>
void round_bytes(const Value* wide, void* destination, int64_t count) {
  auto* bytes = static_cast<uint8_t*>(destination);
  for (int64_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(formats::encode<F>(wide[i]));
}

// Truncation that saturates, NaN to 0 (numeric.h); for types whose limits the floating type holds.
template <typename To, typename Value>
void truncate(const Value* wide, void* destination, int64_t count) {
  constexpr Value kLow = static_cast<Value>(std::numeric_limits<To>::min());
  constexpr Value kHigh = static_cast<Value>(std::numeric_limits<To>::max());
  for (int64_t i = 0; i < count; ++i) {
    Value value = wide[i];
    value = value == value ? value : Value{0};
    To result = static_cast<To>(std::min(std::max(value, kLow), kHigh));
    std::memcpy(static_cast<char*>(destination) + i * static_cast<int64_t>(sizeof(To)), &result, sizeof(To));
  }
}

// From a floating type.
template <typename Value>
void narrow(const Value* wide, DType dtype, void* destination, int64_t count) {
  switch (dtype) {
    case DType::f64:
      return widen_plain<Value>(wide, static_cast<double*>(destination), count);
    case DType::f32:
      return widen_plain<Value>(wide, static_cast<float*>(destination), count);
    case DType::f8e4m3:
      return round_bytes<formats::kE4M3>(wide, destination, count);
    case DType::f8e5m2:
      return round_bytes<formats::kE5M2>(wide, destination, count);
    case DType::i16:
      return truncate<int16_t>(wide, destination, count);
    case DType::i8:
      return truncate<int8_t>(wide, destination, count);
    case DType::u8:
      return truncate<uint8_t>(wide, destination, count);
    case DType::f16:
      if constexpr (std::is_same_v<Value, float>) {
        return loops().f32_to_f16(wide, static_cast<uint16_t*>(destination), count);
      }
      break;
    case DType::bf16:
      if constexpr (std::is_same_v<Value, float>) {
        return loops().f32_to_bf16(wide, static_cast<uint16_t*>(destination), count);
      }
      break;
    default:
      break;
  }
  for (int64_t i = 0; i < count; ++i) store_element(dtype, destination, i, static_cast<double>(wide[i]));
}

void narrow(const int64_t* wide, DType dtype, void* destination, int64_t count) {
  for (int64_t i = 0; i < count; ++i) store_integer(dtype, destination, i, wide[i]);
}

template <typename Value>
void convert_through(DType from, const char* source, DType to, char* destination, int64_t count) {
  alignas(64) Value wide[kBlock];
  for (int64_t start = 0; start < count; start += kBlock) {
    int64_t length = std::min(kBlock, count - start);
    widen(from, source + start * bits(from) / 8, wide, length);
    narrow(wide, to, destination + start * bits(to) / 8, length);
  }
}

void copy_same(DType dtype, const void* source, void* destination, int64_t count) {
  std::memcpy(destination, source, static_cast<size_t>(count * bits(dtype) / 8));
  if (is_packed(dtype) && count % 2) {
    store_pattern(dtype, destination, count - 1, load_pattern(dtype, source, count - 1));
  }
}

}  // namespace

void convert(DType from, const void* source, DType to, void* destination, int64_t count) {
  if (count <= 0) return;
  if (from == to) return copy_same(from, source, destination, count);
  const auto* in = static_cast<const char*>(source);
  auto* out = static_cast<char*>(destination);
  // The usual pairs with f32 on one side need no block between.
  bool aligned = reinterpret_cast<uintptr_t>(in) % 4 == 0 && reinterpret_cast<uintptr_t>(out) % 4 == 0;
  if (from == DType::f32 && aligned) return narrow(static_cast<const float*>(source), to, destination, count);
  if (to == DType::f32 && aligned && wide_type(from) == Wide::f32) {
    return widen(from, source, static_cast<float*>(destination), count);
  }
  // Between integers the low bits are kept, which a floating type in the middle would not do.
  if (!is_float(from) && !is_float(to)) return convert_through<int64_t>(from, in, to, out, count);
  switch (wide_type(from)) {
    case Wide::f32:
      return convert_through<float>(from, in, to, out, count);
    case Wide::f64:
      return convert_through<double>(from, in, to, out, count);
    case Wide::i64:
      return convert_through<int64_t>(from, in, to, out, count);
  }
}

}  // namespace deep_accel
