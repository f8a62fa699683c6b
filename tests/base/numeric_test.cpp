// Conversions against the definitions of the formats: values from the formula (-1)^s 2^(e-bias) 1.m, rounding by
// looking for the nearest of all values. f16 also against the compiler's own _Float16.
#include "deep_accel/base/numeric.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace deep_accel {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// A small format as its standard describes it.
struct Standard {
  DType dtype;
  int exponent_bits, mantissa_bits, bias;
  bool has_infinity, has_nan;
  double largest;
};

const Standard kStandards[] = {
    {DType::f16, 5, 10, 15, true, true, 65504}, {DType::bf16, 8, 7, 127, true, true, 0x1.FEp127},
    {DType::f8e4m3, 4, 3, 7, false, true, 448}, {DType::f8e5m2, 5, 2, 15, true, true, 57344},
    {DType::f4e2m1, 2, 1, 1, false, false, 6},
};

double by_formula(const Standard& s, uint32_t pattern) {
  uint32_t mantissa = pattern & ((1u << s.mantissa_bits) - 1);
  uint32_t exponent = (pattern >> s.mantissa_bits) & ((1u << s.exponent_bits) - 1);
  bool negative = pattern >> (s.mantissa_bits + s.exponent_bits);
  uint32_t top = (1u << s.exponent_bits) - 1;
  double value;
  if (s.has_infinity && exponent == top) {
    value = mantissa ? kNaN : kInfinity;
  } else if (!s.has_infinity && s.has_nan && exponent == top && mantissa == (1u << s.mantissa_bits) - 1) {
    value = kNaN;
  } else if (exponent == 0) {
    value = std::ldexp(mantissa, 1 - s.bias - s.mantissa_bits);
  } else {
    value = std::ldexp((1u << s.mantissa_bits) + mantissa, static_cast<int>(exponent) - s.bias - s.mantissa_bits);
  }
  return negative ? -value : value;
}

class SmallFormat : public testing::TestWithParam<Standard> {};

TEST_P(SmallFormat, DecodesEveryPattern) {
  const Standard& s = GetParam();
  for (uint32_t pattern = 0; pattern < (1u << bits(s.dtype)); ++pattern) {
    double expected = by_formula(s, pattern), got = decode(s.dtype, pattern);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(got)) << pattern;
    } else {
      ASSERT_EQ(std::bit_cast<uint64_t>(got), std::bit_cast<uint64_t>(expected)) << pattern;
    }
  }
}

TEST_P(SmallFormat, EveryValueEncodesToItself) {
  const Standard& s = GetParam();
  for (uint32_t pattern = 0; pattern < (1u << bits(s.dtype)); ++pattern) {
    double value = by_formula(s, pattern);
    if (!std::isnan(value)) ASSERT_EQ(encode(s.dtype, value), pattern) << value;
  }
}

// Patterns of positive finite values count upwards with the value, so neighbours are easy to find.
TEST_P(SmallFormat, RoundsToNearestEvenAtEveryMidpoint) {
  const Standard& s = GetParam();
  for (uint32_t low = 0; by_formula(s, low) < s.largest; ++low) {
    double below = by_formula(s, low), above = by_formula(s, low + 1);
    double middle = below + (above - below) / 2;
    uint32_t even = low % 2 ? low + 1 : low;
    uint32_t sign = 1u << (bits(s.dtype) - 1);
    ASSERT_EQ(encode(s.dtype, middle), even) << middle;
    ASSERT_EQ(encode(s.dtype, std::nextafter(middle, 0.0)), low) << middle;
    ASSERT_EQ(encode(s.dtype, std::nextafter(middle, kInfinity)), low + 1) << middle;
    ASSERT_EQ(encode(s.dtype, -middle), sign | even);
    // The bulk path from float, where the float next to the midpoint is on the same side.
    float values[3] = {static_cast<float>(middle), std::nextafter(static_cast<float>(middle), 0.0f),
                       std::nextafter(static_cast<float>(middle), std::numeric_limits<float>::max())};
    uint64_t packed = 0;
    if (s.dtype != DType::bf16) ASSERT_EQ(static_cast<double>(values[0]), middle);
    convert(DType::f32, values, s.dtype, &packed, 3);
    ASSERT_EQ(load_pattern(s.dtype, &packed, 0), even) << middle;
    ASSERT_EQ(load_pattern(s.dtype, &packed, 1), low) << middle;
    ASSERT_EQ(load_pattern(s.dtype, &packed, 2), low + 1) << middle;
  }
}

TEST_P(SmallFormat, OverflowsAsItsStandardSays) {
  const Standard& s = GetParam();
  auto top = static_cast<uint32_t>(encode(s.dtype, s.largest));
  ASSERT_EQ(by_formula(s, top), s.largest);
  // The step from the largest to the value that would come next.
  double step = s.largest - by_formula(s, top - 1);
  double middle = s.largest + step / 2;
  EXPECT_EQ(encode(s.dtype, std::nextafter(middle, 0.0)), top);
  double overflow = s.has_infinity ? kInfinity : s.has_nan ? kNaN : s.largest;
  for (double value : {std::nextafter(middle, kInfinity), s.largest + step, s.largest * 16, kInfinity,
                       std::numeric_limits<double>::max()}) {
    double got = decode(s.dtype, encode(s.dtype, value));
    EXPECT_TRUE(std::isnan(overflow) ? std::isnan(got) : got == overflow) << value << " gave " << got;
    double negative = decode(s.dtype, encode(s.dtype, -value));
    EXPECT_TRUE(std::isnan(overflow) ? std::isnan(negative) : negative == -overflow) << value << " gave " << negative;
  }
  // Halfway, the even one wins: the largest e4m3 (mantissa 110) is even, that of the others (all ones) is odd.
  double at_middle = decode(s.dtype, encode(s.dtype, middle));
  EXPECT_EQ(at_middle, s.dtype == DType::f8e4m3 ? 448 : overflow);
  EXPECT_EQ(largest(s.dtype), s.largest);
  EXPECT_EQ(epsilon(s.dtype), std::ldexp(1.0, -s.mantissa_bits));
}

TEST_P(SmallFormat, KeepsNaNAndSignsAndTinyValues) {
  const Standard& s = GetParam();
  if (s.has_nan) EXPECT_TRUE(std::isnan(decode(s.dtype, encode(s.dtype, kNaN))));
  EXPECT_TRUE(std::signbit(decode(s.dtype, encode(s.dtype, -0.0))));
  for (double tiny : {5e-324, 1e-300, 1e-60}) {
    EXPECT_EQ(encode(s.dtype, tiny), 0u);
    EXPECT_EQ(encode(s.dtype, -tiny), 1u << (bits(s.dtype) - 1));
  }
}

INSTANTIATE_TEST_SUITE_P(All, SmallFormat, testing::ValuesIn(kStandards),
                         [](const auto& info) { return std::string(name(info.param.dtype)); });

// The patterns that ml_dtypes 0.6 gives.
TEST(Numeric, NaNPatterns) {
  EXPECT_EQ(encode(DType::f16, kNaN), 0x7e00u);
  EXPECT_EQ(encode(DType::bf16, kNaN), 0x7fc0u);
  EXPECT_EQ(encode(DType::bf16, -kNaN), 0xffc0u);
  EXPECT_EQ(encode(DType::f8e4m3, kNaN), 0x7fu);
  EXPECT_EQ(encode(DType::f8e4m3, -kInfinity), 0xffu);
  EXPECT_EQ(encode(DType::f8e5m2, kNaN), 0x7eu);
  EXPECT_EQ(encode(DType::f4e2m1, kNaN), 0x8u);
  EXPECT_EQ(encode(DType::f4e2m1, -kNaN), 0x0u);
}

TEST(Numeric, HalfAgreesWithTheCompiler) {
  std::mt19937_64 random(20);
  for (int i = 0; i < 300000; ++i) {
    // Exponents around and beyond the range of f16.
    double value = std::ldexp(static_cast<double>(random()) / 0x1p63 - 1, static_cast<int>(random() % 48) - 28);
    ASSERT_EQ(encode(DType::f16, value), std::bit_cast<uint16_t>(static_cast<_Float16>(value))) << value;
  }
}

TEST(Numeric, DoesNotRoundTwice) {
  // Just above the middle of two bf16 by less than a float can see: rounding through float would give the even one
  // below.
  EXPECT_EQ(encode(DType::bf16, 1 + 0x1p-8 + 0x1p-40), 0x3f81u);
  EXPECT_EQ(encode(DType::f16, 1 + 0x1p-11 + 0x1p-40), 0x3c01u);
  // The same for integers through double: 2^60 (1 + 2^-8) + 1.
  int64_t integer = (int64_t{1} << 60) + (int64_t{1} << 52) + 1;
  EXPECT_EQ(encode_integer(DType::bf16, integer), encode(DType::bf16, 0x1p60 * (1 + 0x1p-7)));
  EXPECT_EQ(encode_integer(DType::bf16, -integer), encode(DType::bf16, -0x1p60 * (1 + 0x1p-7)));
  std::mt19937_64 random(21);
  for (int i = 0; i < 100000; ++i) {
    auto value = static_cast<int64_t>(random() >> (random() % 63));
    ASSERT_EQ(encode_integer(DType::f32, value), std::bit_cast<uint32_t>(static_cast<float>(value))) << value;
  }
}

TEST(Numeric, FloatToIntegerTruncatesAndSaturates) {
  EXPECT_EQ(encode(DType::i32, 2.9), 2u);
  EXPECT_EQ(decode_integer(DType::i32, encode(DType::i32, -2.9)), -2);
  EXPECT_EQ(decode_integer(DType::i8, encode(DType::i8, 1000)), 127);
  EXPECT_EQ(decode_integer(DType::i8, encode(DType::i8, -1000)), -128);
  EXPECT_EQ(decode_integer(DType::u8, encode(DType::u8, -3)), 0);
  EXPECT_EQ(decode_integer(DType::u8, encode(DType::u8, 300)), 255);
  EXPECT_EQ(decode_integer(DType::i4, encode(DType::i4, 7.9)), 7);
  EXPECT_EQ(decode_integer(DType::i4, encode(DType::i4, -9)), -8);
  EXPECT_EQ(decode_integer(DType::i64, encode(DType::i64, 1e300)), INT64_MAX);
  EXPECT_EQ(decode_integer(DType::i64, encode(DType::i64, -kInfinity)), INT64_MIN);
  EXPECT_EQ(encode(DType::i32, kNaN), 0u);
  EXPECT_EQ(encode(DType::boolean, kNaN), 1u);
  EXPECT_EQ(encode(DType::boolean, 0.25), 1u);
  EXPECT_EQ(encode(DType::boolean, -0.0), 0u);
}

TEST(Numeric, IntegersWrap) {
  EXPECT_EQ(decode_integer(DType::i8, encode_integer(DType::i8, 200)), -56);
  EXPECT_EQ(decode_integer(DType::i4, encode_integer(DType::i4, 200)), -8);
  EXPECT_EQ(decode_integer(DType::u8, encode_integer(DType::u8, -1)), 255);
  EXPECT_EQ(decode_integer(DType::i32, encode_integer(DType::i32, INT64_C(1) << 40 | 5)), 5);
  EXPECT_EQ(encode_integer(DType::boolean, 256), 1u);
  EXPECT_EQ(decode_integer(DType::i64, encode_integer(DType::i64, INT64_MIN)), INT64_MIN);
}

TEST(Numeric, PackedElementsShareBytes) {
  uint8_t bytes[2] = {0, 0};
  store_integer(DType::i4, bytes, 0, -1);
  store_integer(DType::i4, bytes, 3, 5);
  EXPECT_EQ(bytes[0], 0x0f);
  EXPECT_EQ(bytes[1], 0x50);
  store_integer(DType::i4, bytes, 1, 2);
  EXPECT_EQ(bytes[0], 0x2f);
  EXPECT_EQ(load_integer(DType::i4, bytes, 0), -1);
  EXPECT_EQ(load_integer(DType::i4, bytes, 3), 5);
}

// Bulk conversion of each pair of dtypes against one element at a time.
TEST(Numeric, BulkAgreesWithSingleElements) {
  std::mt19937_64 random(22);
  for (int64_t count : {1, 2, 7, 8, 31, 1023, 1025, 2050}) {
    for (DType from : all_dtypes()) {
      std::vector<uint8_t> source(static_cast<size_t>(count) * 8 + 8);
      for (auto& byte : source) byte = static_cast<uint8_t>(random());
      if (from == DType::boolean) {
        for (auto& byte : source) byte &= 1;
      }
      for (int64_t i = 0; i < count; i += 2) {  // values of ordinary size among the random patterns
        store_element(from, source.data(), i,
                      std::ldexp(static_cast<double>(random() % 4096) - 2048, -static_cast<int>(random() % 12)));
      }
      for (DType to : all_dtypes()) {
        std::vector<uint8_t> destination(static_cast<size_t>(count) * 8 + 8, 0xab);
        std::vector<uint8_t> before = destination;
        convert(from, source.data(), to, destination.data(), count);
        for (int64_t i = 0; i < count; ++i) {
          uint64_t pattern = load_pattern(from, source.data(), i);
          uint64_t expected = from == to       ? pattern
                              : is_float(from) ? encode(to, decode(from, pattern))
                                               : encode_integer(to, decode_integer(from, pattern));
          uint64_t got = load_pattern(to, destination.data(), i);
          if (got != expected && to == DType::f64 && std::isnan(decode(to, got)) && std::isnan(decode(to, expected)))
            continue;
          ASSERT_EQ(got, expected) << name(from) << " to " << name(to) << ", element " << i << " of " << count;
        }
        // Nothing after the end was touched.
        int64_t end = bytes_for(to, count);
        ASSERT_EQ(
            std::memcmp(destination.data() + end, before.data() + end, destination.size() - static_cast<size_t>(end)),
            0);
        if (is_packed(to) && count % 2) ASSERT_EQ(load_pattern(to, destination.data(), count), 0xau);
      }
    }
  }
}

}  // namespace
}  // namespace deep_accel
