// Scalars: arithmetic on literals, types that mix, simplification.
#include "deep_accel/tile/scalar.h"

#include <cmath>
#include <limits>

#include "deep_accel/base/error.h"
#include "deep_accel/tile/builder.h"
#include "tests/tile/builder/expect_text.h"

namespace deep_accel::tile {
namespace {

TEST(Scalar, LiteralsComputeAtOnce) {
  EXPECT_EQ((Scalar(7) + 5).constant(), 12);
  EXPECT_EQ((Scalar(-7) / 2).constant(), -3);
  EXPECT_EQ((Scalar(-7) % 2).constant(), -1);
  EXPECT_EQ(floor_div(Scalar(-7), 2).constant(), -4);
  EXPECT_EQ(floor_mod(Scalar(-7), 2).constant(), 1);
  EXPECT_EQ(ceil_div(Scalar(7), 2).constant(), 4);
  EXPECT_EQ(ceil_div(Scalar(-7), 2).constant(), -3);
  EXPECT_EQ((Scalar(1) << 10).constant(), 1024);
  EXPECT_EQ(pow(Scalar(3), 4).constant(), 81);
  EXPECT_DOUBLE_EQ((Scalar(1.5) * 2).number(), 3.0);
  EXPECT_DOUBLE_EQ(exp(Scalar(1.0)).number(), std::exp(1.0));
  EXPECT_EQ((Scalar(3) < 4).constant(), 1);
  EXPECT_EQ(select(Scalar(false), 1, 2).constant(), 2);
  EXPECT_EQ(cast(Scalar(300), DType::u8).constant(), 44);               // 300 - 256
  EXPECT_EQ(cast(Scalar(-1.9), DType::i32).constant(), -1);             // towards zero
  EXPECT_DOUBLE_EQ(cast(Scalar(2049.0), DType::f16).number(), 2048.0);  // 11 bits, ties to even
  EXPECT_EQ(reinterpret(Scalar(1.0), DType::f32, DType::i32).constant(), 0x3f800000);
}

TEST(Scalar, LiteralsThatDoNotFitAreRefused) {
  EXPECT_THROW(Scalar(std::numeric_limits<int64_t>::max()) + 1, ValueError);
  EXPECT_THROW(Scalar(1) / 0, ValueError);
  EXPECT_THROW(Scalar(std::numeric_limits<int64_t>::min()) / -1, ValueError);
}

class InKernel : public testing::Test {
 protected:
  Builder b{"kernel"};
  TileBuffer X = b.input("X", DType::f16, {64});
  TileBuffer I = b.input("I", DType::i8, {64});
  Scalar d = b.scalar("d", ScalarType::f64), l = b.scalar("l", ScalarType::i64), n = b.scalar("n", ScalarType::i32),
         yes = b.scalar("yes", ScalarType::boolean), at = b.dim("at");
};

TEST_F(InKernel, TypesMix) {
  const Scalar x = X(0), i = I(0);
  EXPECT_EQ(x.type(), ScalarType::f32);
  EXPECT_EQ(i.type(), ScalarType::i32);
  EXPECT_EQ((x + 1).type(), ScalarType::f32);
  EXPECT_EQ((x + i).type(), ScalarType::f32);
  EXPECT_EQ((x + d).type(), ScalarType::f64);
  EXPECT_EQ((i + l).type(), ScalarType::i64);
  EXPECT_EQ((i + 0.5).type(), ScalarType::f32);
  EXPECT_EQ((at + i).type(), ScalarType::index);
  EXPECT_EQ((at * 2).type(), ScalarType::index);
  EXPECT_EQ((yes + yes).type(), ScalarType::i32);
  EXPECT_EQ((yes & (n > 2)).type(), ScalarType::boolean);
  EXPECT_EQ((x < i).type(), ScalarType::boolean);
  EXPECT_EQ(exp(i).type(), ScalarType::f32);
  EXPECT_EQ(exp(d).type(), ScalarType::f64);
  EXPECT_EQ(floor(i).type(), ScalarType::i32);
  EXPECT_EQ(select(yes, x, 0).type(), ScalarType::f32);
}

TEST_F(InKernel, Simplifies) {
  EXPECT_EQ((at + 0).value(), at.value());
  EXPECT_EQ((at * 1).value(), at.value());
  EXPECT_EQ((at * 0).constant(), 0);
  EXPECT_EQ((at - at).constant(), 0);
}

TEST_F(InKernel, FractionsAreNoIndices) {
  const std::string message = message_of<TypeError>([&] { b.read(X, {n * 0.5}); });
  EXPECT_NE(message.find("'indices' must be an integer, got f32"), std::string::npos) << message;
  EXPECT_NE(message.find("scalar_test.cpp:"), std::string::npos) << message;
  EXPECT_THROW(d & 1, TypeError);
}

TEST(ScalarValues, OfAnotherKernelAreRefused) {
  Builder a("a"), b("b");
  const Scalar x = a.scalar("x", ScalarType::f32), y = b.scalar("y", ScalarType::f32);
  EXPECT_THROW(x + y, ValueError);
}

TEST(ScalarValues, OutsideOfTheirLoopAreRefused) {
  Builder b("loop");
  auto Y = b.output("Y", DType::f32, {16});
  b.grid({1}, [&](Index) {
    Scalar kept;
    b.for_(0, 4, [&](Index i) { kept = i * 2; });
    const std::string message = message_of<ValueError>([&] { Y(kept) = 1; });
    EXPECT_NE(message.find("used outside of it"), std::string::npos) << message;
    Y(0) = 1;
  });
  b.finish();
}

}  // namespace
}  // namespace deep_accel::tile
