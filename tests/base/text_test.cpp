// Helpers for messages, and settings from the environment.
#include "deep_accel/base/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "deep_accel/base/environment.h"
#include "deep_accel/base/error.h"
#include "deep_accel/base/hash.h"
#include "deep_accel/base/log.h"

namespace deep_accel {
namespace {

TEST(Text, EditDistance) {
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("softmax", "sofmtax"), 1);  // neighbours swapped
  EXPECT_EQ(edit_distance("same", "same"), 0);
}

TEST(Text, DidYouMean) {
  EXPECT_EQ(did_you_mean("sofmax", {"softmax", "layer_norm"}), "; did you mean 'softmax'?");
  EXPECT_EQ(did_you_mean("xyz", {"softmax"}), "");
  EXPECT_EQ(did_you_mean("x", {}), "");
}

TEST(Text, Bytes) {
  EXPECT_EQ(format_bytes(17), "17 bytes");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(int64_t{3} << 30), "3 GiB");
  EXPECT_EQ(parse_bytes("17"), 17);
  EXPECT_EQ(parse_bytes("64M"), 64 << 20);
  EXPECT_EQ(parse_bytes("2 GiB"), int64_t{2} << 30);
  EXPECT_EQ(parse_bytes("1kb"), 1024);
  for (const char* bad : {"", "x", "-1", "5Q", "99999999999T", "12MM", "B1"})
    EXPECT_THROW(parse_bytes(bad), ValueError) << bad;
}

TEST(Environment, MalformedValuesFallBack) {
  set_log_level(LogLevel::off);
  ::setenv("DEEP_ACCEL_TEST_VALUE", "12x", 1);
  EXPECT_EQ(environment_integer("DEEP_ACCEL_TEST_VALUE", 5), 5);
  EXPECT_EQ(environment_flag("DEEP_ACCEL_TEST_VALUE", true), true);
  EXPECT_EQ(environment_bytes("DEEP_ACCEL_TEST_VALUE", 7), 7);
  ::setenv("DEEP_ACCEL_TEST_VALUE", "0", 1);
  EXPECT_EQ(environment_integer("DEEP_ACCEL_TEST_VALUE", 5, 1), 5);
  EXPECT_EQ(environment_integer("DEEP_ACCEL_TEST_VALUE", 5, 0), 0);
  EXPECT_EQ(environment_flag("DEEP_ACCEL_TEST_VALUE", true), false);
  ::setenv("DEEP_ACCEL_TEST_VALUE", "", 1);
  EXPECT_EQ(environment("DEEP_ACCEL_TEST_VALUE"), std::nullopt);
  ::unsetenv("DEEP_ACCEL_TEST_VALUE");
  set_log_level(LogLevel::warning);
}

// FIPS 180-2, appendix B.1.
TEST(Hash, Sha256) {
  EXPECT_EQ(to_hex(sha256(std::string("abc"))), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_hex(sha256(std::string())), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Log, Levels) {
  EXPECT_EQ(parse_log_level("debug"), LogLevel::debug);
  EXPECT_EQ(parse_log_level("warn"), LogLevel::warning);
  EXPECT_THROW(parse_log_level("loud"), ValueError);
  set_log_level(LogLevel::info);
  EXPECT_EQ(log_level(), LogLevel::info);
  EXPECT_TRUE(log_enabled(LogLevel::warning));
  EXPECT_FALSE(log_enabled(LogLevel::debug));
  testing::internal::CaptureStderr();
  log_info("braces {} are text");
  log_debug("not shown");
  std::string shown = testing::internal::GetCapturedStderr();
  EXPECT_NE(shown.find("info: braces {} are text"), std::string::npos) << shown;
  EXPECT_EQ(shown.find("not shown"), std::string::npos);
  set_log_level(LogLevel::warning);
}

std::string filled(std::string_view text, const std::vector<std::string>& values) {
  return fill_placeholders(text, values.size(), [&](size_t index) { return values[index]; });
}

TEST(Text, PlaceholdersTakeTheNextValue) {
  EXPECT_EQ(filled("a {} b {}", {"1", "2"}), "a 1 b 2");
  EXPECT_EQ(filled("{}", {"1", "2", "3"}), "1 2 3");
  EXPECT_EQ(filled("", {"1"}), " 1");
  EXPECT_EQ(filled("row", {"1", "[2, 3]"}), "row 1 [2, 3]");
  EXPECT_EQ(filled("{} of {}", {"1"}), "1 of {}");
  EXPECT_EQ(filled("{{}} {", {"1"}), "{1} {");
  EXPECT_EQ(filled("{}{}", {"{}", "2"}), "{}2");  // values are not looked into
  EXPECT_EQ(filled("none", {}), "none");
}

TEST(Text, NumbersArePrintedWholeOrWithNineDigits) {
  EXPECT_EQ(printed_number(0), "0");
  EXPECT_EQ(printed_number(-3), "-3");
  EXPECT_EQ(printed_number(1234567890), "1234567890");
  EXPECT_EQ(printed_number(9007199254740991), "9007199254740991");
  EXPECT_EQ(printed_number(0x1p60), "1.1529215e+18");
  EXPECT_EQ(printed_number(0.1), "0.1");
  EXPECT_EQ(printed_number(1.0 / 3), "0.333333333");
  EXPECT_EQ(printed_number(-HUGE_VAL), "-inf");
  EXPECT_EQ(printed_number(-NAN), "nan");
}

}  // namespace
}  // namespace deep_accel
