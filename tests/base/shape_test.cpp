// Arithmetic on shapes.
#include "deep_accel/base/shape.h"

#include <gtest/gtest.h>

#include "deep_accel/base/error.h"

namespace deep_accel {
namespace {

TEST(Shape, Counts) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({2, 3, 5}), 30);
  EXPECT_EQ(element_count({2, 0, 5}), 0);
  EXPECT_THROW(element_count({2, -1}), ShapeError);
  EXPECT_THROW(element_count({int64_t{1} << 40, int64_t{1} << 40}), ShapeError);
  EXPECT_THROW(element_count({0, int64_t{1} << 40, int64_t{1} << 40}), ShapeError);
}

TEST(Shape, RowMajorStrides) {
  EXPECT_EQ(row_major_strides({2, 3, 5}), (Dims{15, 5, 1}));
  EXPECT_EQ(row_major_strides({}), Dims{});
  EXPECT_EQ(row_major_strides({4, 0, 5}), (Dims{5, 5, 1}));
}

TEST(Shape, Broadcasts) {
  EXPECT_EQ(broadcast_shapes({3, 1}, {5}), (Dims{3, 5}));
  EXPECT_EQ(broadcast_shapes({}, {2, 2}), (Dims{2, 2}));
  EXPECT_EQ(broadcast_shapes({1}, {0}), (Dims{0}));
  try {
    broadcast_shapes({2, 3}, {2, 4});
    FAIL();
  } catch (const ShapeError& error) {
    EXPECT_NE(std::string(error.what()).find("axis -1 is 3 and 4"), std::string::npos) << error.what();
  }
}

TEST(Shape, RankIsLimited) {
  std::vector<int64_t> many(static_cast<size_t>(kMaxRank) + 1, 1);
  EXPECT_THROW(Dims{many}, ShapeError);
  Dims full = Dims::filled(kMaxRank, 1);
  EXPECT_THROW(full.push_back(1), ShapeError);
}

TEST(Shape, InsertAndErase) {
  Dims dims{1, 2, 3};
  dims.insert(0, 9);
  dims.insert(4, 8);
  EXPECT_EQ(dims, (Dims{9, 1, 2, 3, 8}));
  dims.erase(1);
  EXPECT_EQ(dims, (Dims{9, 2, 3, 8}));
}

TEST(Shape, Overflow) {
  EXPECT_THROW(checked_mul(INT64_MAX, 2, "size"), ShapeError);
  EXPECT_THROW(checked_add(INT64_MAX, 1, "size"), ShapeError);
  EXPECT_EQ(checked_mul(3, -4, "size"), -12);
}

TEST(Shape, Axes) {
  EXPECT_EQ(normalize_axis(-1, 3), 2);
  EXPECT_THROW(normalize_axis(3, 3), IndexError);
  EXPECT_THROW(normalize_axis(-4, 3), IndexError);
  EXPECT_THROW(normalize_axis(0, 0), IndexError);
}

}  // namespace
}  // namespace deep_accel
