// Narrow types against the definition of each format, written out: all codes, and all (or 2^24) f32 to be rounded.
#include <gtest/gtest.h>

#include "deep_accel/base/numeric.h"
#include "jit.h"
#include "samples.h"

namespace deep_accel::test {
namespace {

struct FormatCase {
  const char* name;
  int exponent_bits, mantissa_bits, bias;
  double largest;  // finite
  bool has_infinity;
  int largest_finite_code;
  bool native_f16;
  int bits() const { return 1 + exponent_bits + mantissa_bits; }
};

constexpr FormatCase kFormats[] = {
    {"e4m3", 4, 3, 7, 448, false, 0x7e, false},    {"e4m3", 4, 3, 7, 448, false, 0x7e, true},
    {"e5m2", 5, 2, 15, 57344, true, 0x7b, false},  {"e5m2", 5, 2, 15, 57344, true, 0x7b, true},
    {"e2m1", 2, 1, 1, 6, false, 0x7, false},       {"f16", 5, 10, 15, 65504, true, 0x7bff, false},
    {"f16", 5, 10, 15, 65504, true, 0x7bff, true}, {"bf16", 8, 7, 127, 0x1.fep127, true, 0x7f7f, false},
};

// The value of a code by the definition: (-1)^s 2^(e-bias) (1 + m / 2^mantissa_bits), and for e = 0 without the one.
double value_of(const FormatCase& f, int code) {
  const int magnitude = code & ((1 << (f.bits() - 1)) - 1);
  const bool negative = (code >> (f.bits() - 1)) & 1;
  double value = 0;
  if (magnitude > f.largest_finite_code) {
    value = f.has_infinity && magnitude == f.largest_finite_code + 1 ? HUGE_VAL : std::nan("");
  } else {
    const int exponent = magnitude >> f.mantissa_bits;
    const int mantissa = magnitude & ((1 << f.mantissa_bits) - 1);
    value =
        std::ldexp(mantissa + (exponent ? 1 << f.mantissa_bits : 0), std::max(exponent, 1) - f.bias - f.mantissa_bits);
  }
  return negative ? -value : value;
}

// The code of the nearest value, ties to the even mantissa; overflow as narrow.h says.
int code_of(const FormatCase& f, float x) {
  const int sign = (std::signbit(x) ? 1 : 0) << (f.bits() - 1);
  const double a = std::abs(static_cast<double>(x));
  const bool saturates = std::string_view(f.name) == "e2m1";
  if (std::isnan(x)) return saturates ? sign ^ 8 : -1;
  const int exponent = std::isinf(x) || a == 0 ? 1 - f.bias : std::max(std::ilogb(a), 1 - f.bias);
  const double unit = std::ldexp(1.0, exponent - f.mantissa_bits);
  const double rounded = std::isinf(x) ? a : std::nearbyint(a / unit) * unit;
  if (rounded > f.largest) {
    if (saturates) return sign | f.largest_finite_code;
    return f.has_infinity ? sign | (f.largest_finite_code + 1) : -1;
  }
  // The code of a value is monotonic and, within one exponent, linear.
  if (rounded < std::ldexp(1.0, 1 - f.bias))
    return sign | static_cast<int>(rounded / std::ldexp(1.0, 1 - f.bias - f.mantissa_bits));
  const int e = std::ilogb(rounded);
  const double mantissa = std::ldexp(rounded, f.mantissa_bits - e) - (1 << f.mantissa_bits);
  return sign | ((e + f.bias) << f.mantissa_bits) | static_cast<int>(mantissa);
}

class NarrowFloat : public testing::TestWithParam<FormatCase> {};

template <typename Code>
void check_decode(const FormatCase& f) {
  for (const int lanes : {0, 4, 16, 32}) {
    const JitFunction widen({.function = "widen", .type = f.name, .lanes = lanes, .native_f16 = f.native_f16});
    const int count = sizeof(Code) == 1 ? 256 : 65536;
    std::vector<Code> codes(count);
    for (int i = 0; i < count; ++i) codes[i] = static_cast<Code>(i);
    std::vector<float> out(codes.size());
    widen(codes.data(), nullptr, out.data(), count);
    for (int i = 0; i < count; ++i) {
      const double want = value_of(f, i & ((1 << f.bits()) - 1));
      ASSERT_TRUE(std::isnan(want) ? std::isnan(out[i]) : out[i] == want) << f.name << " code " << i << ": " << out[i];
      if (!std::isnan(want)) {
        ASSERT_EQ(std::signbit(want), std::signbit(out[i])) << i;
      }
    }
  }
}

TEST_P(NarrowFloat, DecodesEveryCode) {
  if (GetParam().bits() > 8) return check_decode<uint16_t>(GetParam());
  check_decode<uint8_t>(GetParam());
}

template <typename Code>
void check_encode(const FormatCase& f, int lanes) {
  const JitFunction narrow({.function = "narrow", .type = f.name, .lanes = lanes, .native_f16 = f.native_f16});
  std::vector<Code> results[2];
  uint64_t wrong[2] = {0, 0};
  float example[2] = {0, 0};
  for_f32_arguments([&](const std::vector<float>& x, int thread) {
    auto& out = results[thread];
    out.resize(x.size());
    narrow(x.data(), nullptr, out.data(), static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      const int want = code_of(f, x[i]);
      const bool right = want < 0 ? std::isnan(value_of(f, out[i])) : out[i] == static_cast<Code>(want);
      if (!right) {
        ++wrong[thread];
        example[thread] = x[i];
      }
    }
  });
  EXPECT_EQ(wrong[0] + wrong[1], 0u) << f.name << ", such as " << std::hexfloat << example[0] << " or " << example[1];
}

TEST_P(NarrowFloat, EncodesToTheNearest) {
  if (GetParam().bits() > 8) return check_encode<uint16_t>(GetParam(), 16);
  check_encode<uint8_t>(GetParam(), 16);
}

DType dtype_of(const FormatCase& f) {
  const std::string_view name = f.name;
  if (name == "e4m3") return DType::f8e4m3;
  if (name == "e5m2") return DType::f8e5m2;
  if (name == "e2m1") return DType::f4e2m1;
  return name == "f16" ? DType::f16 : DType::bf16;
}

// A kernel and a tensor must not differ in a bit, the payload of NaN included.
TEST_P(NarrowFloat, EncodesAsTensorsDo) {
  const FormatCase& f = GetParam();
  const JitFunction narrow({.function = "narrow", .type = f.name, .lanes = 16, .native_f16 = f.native_f16});
  std::vector<float> x;
  for (uint32_t i = 0; i < 1 << 19; ++i) x.push_back(std::bit_cast<float>((i << 13) + (mix(i) & 0x1fff)));
  std::vector<uint16_t> out(x.size());
  narrow(x.data(), nullptr, out.data(), static_cast<int64_t>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    const int code = f.bits() > 8 ? out[i] : reinterpret_cast<const uint8_t*>(out.data())[i];
    ASSERT_EQ(code, static_cast<int>(encode(dtype_of(f), x[i]))) << std::hexfloat << x[i];
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, NarrowFloat, testing::ValuesIn(kFormats), [](const auto& info) {
  return std::string(info.param.name) + (info.param.native_f16 ? "_native" : "");
});

TEST(NarrowInt4, WidensAndKeepsTheLowBits) {
  for (const int lanes : {0, 16}) {
    const JitFunction widen({.function = "widen", .type = "int4", .lanes = lanes});
    std::vector<uint8_t> codes(256);
    for (int i = 0; i < 256; ++i) codes[i] = static_cast<uint8_t>(i);
    std::vector<int32_t> out(256);
    widen(codes.data(), nullptr, out.data(), 256);
    for (int i = 0; i < 256; ++i) EXPECT_EQ(out[i], (i & 15) < 8 ? (i & 15) : (i & 15) - 16);

    const JitFunction narrow({.function = "narrow", .type = "int4", .lanes = lanes});
    std::vector<int32_t> wide;
    for (int i = -30; i < 32; ++i) wide.push_back(i);
    wide.push_back(INT32_MIN);
    wide.push_back(INT32_MAX);
    std::vector<uint8_t> narrowed(wide.size());
    narrow(wide.data(), nullptr, narrowed.data(), static_cast<int64_t>(wide.size()));
    for (size_t i = 0; i < wide.size(); ++i) EXPECT_EQ(narrowed[i], wide[i] & 15) << wide[i];
  }
}

template <typename Float>
Float argument(uint32_t pattern) {
  if constexpr (sizeof(Float) == 4) return std::bit_cast<float>(pattern);
  // Every exponent, with a mantissa that is random in its upper part.
  return std::bit_cast<double>(uint64_t{pattern} << 32 | mix(pattern));
}

// The definition: towards zero, then the nearer end of the integer type; NaN gives 0.
template <typename Float, typename Int>
void check_saturating(int bits, bool is_signed) {
  const std::string type = (is_signed ? "i" : "u") + std::to_string(bits) + (sizeof(Float) == 8 ? "_f64" : "_f32");
  const JitFunction f({.function = "saturating_to_int", .type = type, .lanes = 16});
  std::vector<Float> x;
  for (uint32_t i = 0; i < 1 << 18; ++i) x.push_back(argument<Float>((i << 14) + (mix(i) & 0x3fff)));
  for (int power = 0; power < 70; ++power) {
    for (const Float near : {std::ldexp(Float{1}, power), -std::ldexp(Float{1}, power)}) {
      for (const Float offset : {Float{0}, Float{1}, Float{-1}, Float{0.5}, Float{-0.5}}) x.push_back(near + offset);
      x.push_back(std::nextafter(near, Float{0}));
      x.push_back(std::nextafter(near, 2 * near));
    }
  }
  for (const Float special :
       {Float{0}, std::numeric_limits<Float>::infinity(), std::numeric_limits<Float>::quiet_NaN()}) {
    x.push_back(special);
    x.push_back(-special);
  }
  while (x.size() % 16) x.push_back(0);
  std::vector<Int> out(x.size());
  f(x.data(), nullptr, out.data(), static_cast<int64_t>(x.size()));
  const __int128 low = is_signed ? -(__int128{1} << (bits - 1)) : 0;
  const __int128 high = (__int128{1} << (is_signed ? bits - 1 : bits)) - 1;
  for (size_t i = 0; i < x.size(); ++i) {
    __int128 want = 0;
    if (!std::isnan(x[i])) {
      const Float bounded = std::clamp(x[i], -std::ldexp(Float{1}, 100), std::ldexp(Float{1}, 100));
      want = std::clamp(static_cast<__int128>(bounded), low, high);
    }
    ASSERT_EQ(out[i], static_cast<Int>(want)) << type << " of " << x[i];
  }
}

TEST(SaturatingToInt, IsTowardsZeroWithinTheType) {
  for (const bool is_signed : {true, false}) {
    for (const int bits : {4, 8, 16, 32}) {
      check_saturating<float, int32_t>(bits, is_signed);
      check_saturating<double, int32_t>(bits, is_signed);
    }
    check_saturating<float, int64_t>(64, is_signed);
    check_saturating<double, int64_t>(64, is_signed);
  }
}

TEST(Nibbles, UnpackLowFirstAndPackAgain) {
  for (const int lanes : {1, 8, 16, 64}) {
    std::vector<uint8_t> packed(256), unpacked(512), again(256);
    for (int i = 0; i < 256; ++i) packed[i] = static_cast<uint8_t>(i * 37);
    const JitFunction unpack({.function = "unpack_nibbles", .type = "int4", .lanes = lanes});
    unpack(packed.data(), nullptr, unpacked.data(), 256);
    for (int i = 0; i < 256; ++i) {
      EXPECT_EQ(unpacked[2 * i], packed[i] & 15);
      EXPECT_EQ(unpacked[2 * i + 1], packed[i] >> 4);
      unpacked[2 * i] |= 0xa0;  // the upper halves do not count
      unpacked[2 * i + 1] |= 0x50;
    }
    const JitFunction pack({.function = "pack_nibbles", .type = "int4", .lanes = 2 * lanes});
    pack(unpacked.data(), nullptr, again.data(), 512);
    EXPECT_EQ(again, packed);
  }
}

}  // namespace
}  // namespace deep_accel::test
