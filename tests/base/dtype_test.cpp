// Names and sizes of dtypes.
#include "deep_accel/base/dtype.h"

#include <gtest/gtest.h>

#include "deep_accel/base/error.h"

namespace deep_accel {
namespace {

TEST(DType, NamesRoundTrip) {
  EXPECT_EQ(all_dtypes().size(), static_cast<size_t>(kDTypeCount));
  for (DType dtype : all_dtypes()) EXPECT_EQ(parse_dtype(name(dtype)), dtype) << name(dtype);
}

TEST(DType, Aliases) {
  EXPECT_EQ(parse_dtype("float32"), DType::f32);
  EXPECT_EQ(parse_dtype("float16"), DType::f16);
  EXPECT_EQ(parse_dtype("bfloat16"), DType::bf16);
  EXPECT_EQ(parse_dtype("float8_e4m3fn"), DType::f8e4m3);
  EXPECT_EQ(parse_dtype("float8_e5m2"), DType::f8e5m2);
  EXPECT_EQ(parse_dtype("float4_e2m1fn"), DType::f4e2m1);
  EXPECT_EQ(parse_dtype("int4"), DType::i4);
  EXPECT_EQ(parse_dtype("uint8"), DType::u8);
}

TEST(DType, UnknownNameListsTheSupportedAndGuesses) {
  try {
    parse_dtype("float33");
    FAIL();
  } catch (const TypeError& error) {
    std::string message = error.what();
    EXPECT_NE(message.find("'float33'"), std::string::npos) << message;
    EXPECT_NE(message.find("did you mean 'float32'"), std::string::npos) << message;
    for (DType dtype : all_dtypes()) EXPECT_NE(message.find(name(dtype)), std::string::npos) << message;
  }
}

TEST(DType, Sizes) {
  EXPECT_EQ(bytes_for(DType::f64, 3), 24);
  EXPECT_EQ(bytes_for(DType::bf16, 3), 6);
  EXPECT_EQ(bytes_for(DType::i4, 0), 0);
  EXPECT_EQ(bytes_for(DType::i4, 1), 1);
  EXPECT_EQ(bytes_for(DType::f4e2m1, 7), 4);
  EXPECT_EQ(bytes_for(DType::i4, INT64_MAX), INT64_MAX / 2 + 1);
  EXPECT_THROW(bytes_for(DType::f32, INT64_MAX / 2), ShapeError);
  EXPECT_THROW(bytes_for(DType::f32, -1), ShapeError);
}

TEST(DType, Kinds) {
  EXPECT_TRUE(is_float(DType::f4e2m1));
  EXPECT_FALSE(is_float(DType::i64));
  EXPECT_TRUE(is_integer(DType::u8));
  EXPECT_FALSE(is_integer(DType::boolean));
  EXPECT_FALSE(is_signed(DType::u8));
  EXPECT_TRUE(is_packed(DType::i4));
  EXPECT_EQ(dtype_of<float>(), DType::f32);
}

}  // namespace
}  // namespace deep_accel
