// Narrow types against the definition of each format, written out: all codes, and all (or 2^24) f32 to be rounded.
#include <gtest/gtest.h>

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

INSTANTIATE_TEST_SUITE_P(Formats, NarrowFloat, testing::ValuesIn(kFormats), [](const auto& info) {
  return std::string(info.param.name) + (info.param.native_f16 ? "_native" : "");
});

TEST(NarrowInt4, WidensAndSaturates) {
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
    for (size_t i = 0; i < wide.size(); ++i) EXPECT_EQ(narrowed[i], std::clamp(wide[i], -8, 7) & 15) << wide[i];
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
