// Tensors and their views, against index arithmetic written out.
#include "deep_accel/runtime/tensor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "deep_accel/base/error.h"
#include "deep_accel/base/numeric.h"

namespace deep_accel {
namespace {

Tensor counting(DType dtype, const Dims& shape) {
  std::vector<double> values(static_cast<size_t>(element_count(shape)));
  std::iota(values.begin(), values.end(), 0.0);
  return Tensor::from_values(dtype, shape, values);
}

template <typename Exception, typename Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Exception& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Tensor, New) {
  Tensor t = Tensor::zeros(DType::f32, {2, 3});
  EXPECT_EQ(t.size(), 6);
  EXPECT_EQ(t.bytes(), 24);
  EXPECT_EQ(t.dim(-1), 3);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(t.data()) % 64, 0u);
  EXPECT_EQ(t.values(), std::vector<double>(6, 0.0));
  EXPECT_EQ(Tensor::full(DType::bf16, {3}, 2.5).values(), std::vector<double>(3, 2.5));
  EXPECT_EQ(Tensor::full(DType::i4, {5}, -3).values(), std::vector<double>(5, -3.0));
  EXPECT_EQ(Tensor().size(), 0);
  EXPECT_EQ(Tensor::zeros(DType::f32, {}).values(), std::vector<double>(1, 0.0));
  EXPECT_EQ(Tensor::empty(DType::f32, {0, 4}).size(), 0);
  EXPECT_THROW(Tensor::empty(DType::f32, {-1}), ShapeError);
  EXPECT_THROW(Tensor::empty(DType::f32, {int64_t{1} << 31, int64_t{1} << 31, 4}), ShapeError);
  EXPECT_THROW(Tensor::empty(DType::f32, {int64_t{1} << 50}), OutOfMemoryError);
  EXPECT_THROW(Tensor::from_values(DType::f32, {2}, std::vector<double>{1.0}), ShapeError);
  EXPECT_THROW(t.data<double>(), TypeError);
}

TEST(Tensor, ZerosAreZeroAlsoInReusedMemory) {
  for (int i = 0; i < 3; ++i) {
    Tensor t = Tensor::zeros(DType::f32, {1 << 20});
    ASSERT_EQ(t.data<float>()[(1 << 20) - 1], 0.0f);
    t.fill(1);
  }
}

TEST(Tensor, Elements) {
  Tensor t = counting(DType::f16, {2, 3});
  EXPECT_EQ(t.at({1, -1}), 5);
  t.set({0, 1}, 9);
  EXPECT_EQ(t.at({0, 1}), 9);
  EXPECT_THROW(t.at({2, 0}), IndexError);
  EXPECT_THROW(t.at({0}), IndexError);
}

TEST(Tensor, ViewsShareMemory) {
  Tensor t = counting(DType::f32, {4, 6});
  Tensor row = t.select(0, -1);
  EXPECT_EQ(row.values(), (std::vector<double>{18, 19, 20, 21, 22, 23}));
  EXPECT_EQ(t.transpose().at({5, 3}), 23);
  EXPECT_FALSE(t.transpose().is_contiguous());
  EXPECT_EQ(t.permute({1, 0}).shape(), (Dims{6, 4}));
  row.set({0}, -1);
  EXPECT_EQ(t.at({3, 0}), -1);
  EXPECT_EQ(t.unsqueeze(1).shape(), (Dims{4, 1, 6}));
  EXPECT_EQ(t.unsqueeze(-1).squeeze(2).shape(), (Dims{4, 6}));
  EXPECT_THROW(t.squeeze(0), ShapeError);
  EXPECT_THROW(t.permute({0, 0}), ShapeError);
  EXPECT_THROW(t.permute({0}), ShapeError);
  EXPECT_THROW(t.select(0, 4), IndexError);
  Tensor kept;
  {
    Tensor temporary = counting(DType::f32, {8});
    kept = temporary.slice(0, 6, std::nullopt);
  }
  EXPECT_EQ(kept.values(), (std::vector<double>{6, 7}));
}

// The definition of range(start, stop, step) after Python's clamping ("slice.indices").
TEST(Tensor, SlicesAsPythonDoes) {
  for (int64_t n : {0, 1, 5}) {
    Tensor t = counting(DType::i32, {n});
    for (int64_t step : {-7, -2, -1, 1, 2, 3, 9}) {
      for (int start = -8; start <= 8; ++start) {
        for (int stop = -8; stop <= 8; ++stop) {
          std::optional<int64_t> from, to;
          if (start < 8) from = start;
          if (stop < 8) to = stop;
          auto clamped = [&](int64_t v) {
            if (v < 0) v += n;
            if (step > 0) return std::min(std::max<int64_t>(v, 0), n);
            return std::min(std::max<int64_t>(v, -1), n - 1);
          };
          int64_t first = from ? clamped(*from) : step > 0 ? 0 : n - 1;
          int64_t last = to ? clamped(*to) : step > 0 ? n : -1;
          std::vector<double> expected;
          for (int64_t i = first; step > 0 ? i < last : i > last; i += step) expected.push_back(static_cast<double>(i));
          ASSERT_EQ(t.slice(0, from, to, step).values(), expected) << n << " " << start << ":" << stop << ":" << step;
        }
      }
    }
  }
  EXPECT_THROW(counting(DType::f32, {3}).slice(0, 0, 1, 0), ValueError);
  EXPECT_EQ(counting(DType::f32, {3}).slice(0, INT64_MIN + 9, INT64_MAX, INT64_MAX).size(), 1);
  EXPECT_EQ(counting(DType::f32, {3}).slice(0, std::nullopt, std::nullopt, INT64_MIN).size(), 1);
}

TEST(Tensor, Reshape) {
  Tensor t = counting(DType::f32, {4, 6});
  EXPECT_EQ(t.reshape({2, -1, 3}).shape(), (Dims{2, 4, 3}));
  EXPECT_EQ(t.reshape({24}).at({13}), 13);
  EXPECT_EQ(t.slice(1, 0, 4).reshape({4, 2, 2}).at({3, 1, 1}), 21);
  EXPECT_EQ(t.reshape({1, 4, 1, 6, 1}).strides(), (Dims{24, 6, 6, 1, 1}));
  EXPECT_THROW(t.reshape({5, -1}), ShapeError);
  EXPECT_THROW(t.reshape({-1, -1}), ShapeError);
  EXPECT_THROW(t.reshape({23}), ShapeError);
  EXPECT_THROW(t.reshape({0, -1}), ShapeError);
  EXPECT_EQ(Tensor::empty(DType::f32, {0, 3}).reshape({7, 0}).shape(), (Dims{7, 0}));
  std::string message = message_of<ShapeError>([&] { t.transpose().reshape({24}); });
  EXPECT_NE(message.find("contiguous()"), std::string::npos) << message;
  EXPECT_EQ(t.transpose().contiguous().reshape({24}).at({1}), 6);
}

// Any view: where reshape succeeds, it has the same elements in the same order and the same memory.
TEST(Tensor, ReshapeOfRandomViews) {
  std::mt19937 random(30);
  int succeeded = 0;
  for (int round = 0; round < 3000; ++round) {
    Tensor t = counting(DType::i32, {2, 6, 4, 3})
                   .slice(1, 0, 1 + static_cast<int>(random() % 6))
                   .slice(2, 0, 4, 1 + static_cast<int>(random() % 2));
    Dims axes{0, 1, 2, 3};
    if (random() % 2) std::shuffle(axes.begin(), axes.end(), random);
    t = t.permute(axes);
    Dims wanted;
    for (int64_t left = t.size(); left > 1;) {
      int64_t factor = std::vector<int64_t>{1, 2, 3, 5, 6, 4}[random() % 6];
      if (left % factor || wanted.size() > 8) factor = wanted.size() > 8 ? left : 1;
      wanted.push_back(factor);
      left /= factor;
    }
    try {
      Tensor view = t.reshape(wanted);
      ASSERT_EQ(view.values(), t.values()) << t.description() << " as " << to_string(wanted);
      ASSERT_EQ(view.buffer(), t.buffer());
      ++succeeded;
    } catch (const ShapeError&) {
      ASSERT_FALSE(t.is_contiguous()) << t.description() << " as " << to_string(wanted);
    }
  }
  EXPECT_GT(succeeded, 300);
}

TEST(Tensor, Expand) {
  Tensor t = counting(DType::f32, {3, 1});
  Tensor wide = t.expand({2, 3, 4});
  EXPECT_EQ(wide.strides(), (Dims{0, 1, 0}));
  EXPECT_EQ(wide.at({1, 2, 3}), 2);
  EXPECT_EQ(wide.contiguous().values().size(), 24u);
  EXPECT_THROW(t.expand({3}), ShapeError);
  EXPECT_THROW(t.expand({4, 4}), ShapeError);
}

TEST(Tensor, ConvertsBetweenAllDtypes) {
  std::vector<double> small = {0, 1, 2, 3, 4, 6, 1, 0, 2};
  for (DType from : all_dtypes()) {
    Tensor t = Tensor::from_values(from, {3, 3}, small);
    for (DType to : all_dtypes()) {
      std::vector<double> expected = small;
      if (from == DType::boolean || to == DType::boolean) {
        for (double& v : expected) v = v != 0;
      }
      EXPECT_EQ(t.to(to).values(), expected) << name(from) << " to " << name(to);
    }
  }
  Tensor t = counting(DType::f32, {3});
  EXPECT_EQ(t.to(DType::f32).data(), t.data());
  EXPECT_NE(t.copy().data(), t.data());
}

// Copies between random views of random dtypes, also large enough for several threads.
TEST(Tensor, CopiesBetweenRandomViews) {
  std::mt19937 random(31);
  for (int round = 0; round < 400; ++round) {
    int64_t scale = round % 40 == 0 ? 120 : 1;
    Dims shape{1 + static_cast<int64_t>(random() % 5) * scale, 1 + static_cast<int64_t>(random() % 7) * scale,
               1 + static_cast<int64_t>(random() % 6)};
    auto view = [&] {
      DType dtype = all_dtypes()[random() % all_dtypes().size()];
      Dims order{0, 1, 2}, sizes = shape;
      std::shuffle(order.begin(), order.end(), random);
      int step = 1 + static_cast<int>(random() % 3);
      for (int i = 0; i < 3; ++i) sizes[i] = shape[order[i]] * step;
      Tensor t = Tensor::zeros(dtype, sizes);
      Dims back = order;
      for (int i = 0; i < 3; ++i) back[static_cast<int>(order[i])] = i;
      t = t.permute(back);
      for (int i = 0; i < 3; ++i) {
        t = random() % 4 ? t.slice(i, step - 1, std::nullopt, step) : t.slice(i, std::nullopt, std::nullopt, -step);
      }
      return t;
    };
    Tensor from = view(), to = view();
    for (int i = 0; i < 50; ++i) {
      Dims at = shape;
      for (int d = 0; d < 3; ++d) at[d] = static_cast<int64_t>(random()) % shape[d];
      from.set(at, static_cast<double>(random() % 2));
    }
    to.copy_from(from);
    ASSERT_EQ(to.values(), from.values()) << from.description() << " to " << to.description();
  }
}

TEST(Tensor, CopyFromBroadcastsAndChecks) {
  Tensor t = Tensor::zeros(DType::f32, {2, 3});
  t.copy_from(counting(DType::i8, {3}));
  EXPECT_EQ(t.values(), (std::vector<double>{0, 1, 2, 0, 1, 2}));
  EXPECT_THROW(t.copy_from(counting(DType::f32, {2, 2})), ShapeError);
  EXPECT_THROW(counting(DType::f32, {3}).copy_from(t), ShapeError);
  Tensor u = counting(DType::f32, {6});
  u.slice(0, 1, std::nullopt).copy_from(u.slice(0, 0, 5));
  EXPECT_EQ(u.values(), (std::vector<double>{0, 0, 1, 2, 3, 4}));
}

TEST(Tensor, PackedViews) {
  Tensor t = Tensor::from_values(DType::i4, {3, 3}, std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, -8});
  EXPECT_EQ(t.bytes(), 5);
  EXPECT_EQ(t.transpose().values(), (std::vector<double>{0, 3, 6, 1, 4, 7, 2, 5, -8}));
  Tensor row = t.select(0, 1);
  EXPECT_EQ(row.values(), (std::vector<double>{3, 4, 5}));
  std::string message = message_of<ShapeError>([&] { row.data(); });
  EXPECT_NE(message.find("within a byte"), std::string::npos) << message;
  EXPECT_NO_THROW(row.copy().data());
  EXPECT_EQ(t.transpose().to(DType::f32).at({2, 2}), -8);
}

TEST(Tensor, ForeignMemory) {
  int released = 0;
  float values[6] = {0, 1, 2, 3, 4, 5};
  {
    Tensor t = Tensor::from_memory(values, DType::f32, {2, 3}, std::nullopt, [&] { ++released; });
    Tensor view = t.select(0, 1);
    t = Tensor();
    EXPECT_EQ(released, 0);
    EXPECT_EQ(view.data<float>(), values + 3);
  }
  EXPECT_EQ(released, 1);
  Tensor backwards = Tensor::from_memory(values + 5, DType::f32, {6}, Dims{-1});
  EXPECT_EQ(backwards.values(), (std::vector<double>{5, 4, 3, 2, 1, 0}));
  Tensor constant = Tensor::from_memory(values, DType::f32, {6}, std::nullopt, nullptr, /*writable=*/false);
  EXPECT_THROW(constant.set({0}, 1), ValueError);
  EXPECT_THROW(constant.fill(1), ValueError);
  EXPECT_THROW(constant.slice(0, 0, 2).copy_from(counting(DType::f32, {2})), ValueError);
  EXPECT_TRUE(constant.copy().writable());
  EXPECT_THROW(Tensor::from_memory(nullptr, DType::f32, {1}), ValueError);
  EXPECT_NO_THROW(Tensor::from_memory(nullptr, DType::f32, {0}));
  EXPECT_THROW(Tensor::from_memory(values, DType::f32, {4, 4}, Dims{INT64_MAX / 2, 1}), ShapeError);
  EXPECT_THROW(Tensor::from_memory(values, DType::f32, {4}, Dims{1, 1}), ShapeError);
}

TEST(Tensor, BuffersAreBounded) {
  auto buffer = Buffer::allocate(64);
  EXPECT_NO_THROW(Tensor::from_buffer(buffer, DType::f32, {16}, {1}));
  EXPECT_THROW(Tensor::from_buffer(buffer, DType::f32, {16}, {1}, 1), ShapeError);
  EXPECT_THROW(Tensor::from_buffer(buffer, DType::f32, {2}, {-1}, 0), ShapeError);
  EXPECT_THROW(Tensor::from_buffer(buffer, DType::f32, {2}, {INT64_MAX}, 0), ShapeError);
  EXPECT_THROW(Tensor::from_buffer(buffer, DType::f32, {2}, {INT64_MAX}, INT64_MAX), ShapeError);
  EXPECT_NO_THROW(Tensor::from_buffer(buffer, DType::i4, {128}, {1}));
}

// Against the sets of bytes that both touch.
TEST(Tensor, OverlapIsExact) {
  std::mt19937 random(32);
  auto buffer = Buffer::allocate(256);
  int overlapping = 0, disjoint = 0;
  for (int round = 0; round < 20000; ++round) {
    auto view = [&] {
      DType dtype = std::vector<DType>{DType::u8, DType::f16, DType::f32}[random() % 3];
      int64_t elements = 256 * 8 / bits(dtype);
      for (;;) {
        Dims shape{1 + static_cast<int64_t>(random() % 4), 1 + static_cast<int64_t>(random() % 4),
                   1 + static_cast<int64_t>(random() % 3)};
        Dims strides{static_cast<int64_t>(random() % 24) - 8, static_cast<int64_t>(random() % 8) - 2,
                     static_cast<int64_t>(random() % 3)};
        try {
          return Tensor::from_buffer(buffer, dtype, shape, strides, static_cast<int64_t>(random()) % elements);
        } catch (const ShapeError&) {
        }
      }
    };
    auto bytes = [&](const Tensor& t) {
      std::set<int64_t> touched;
      int64_t width = bits(t.dtype()) / 8;
      for (int64_t i = 0; i < t.shape()[0]; ++i) {
        for (int64_t j = 0; j < t.shape()[1]; ++j) {
          for (int64_t k = 0; k < t.shape()[2]; ++k) {
            int64_t at = t.offset() + i * t.strides()[0] + j * t.strides()[1] + k * t.strides()[2];
            for (int64_t b = 0; b < width; ++b) touched.insert(at * width + b);
          }
        }
      }
      return touched;
    };
    Tensor a = view(), b = view();
    std::set<int64_t> in_a = bytes(a), in_b = bytes(b);
    bool expected = std::any_of(in_a.begin(), in_a.end(), [&](int64_t byte) { return in_b.contains(byte); });
    ASSERT_EQ(a.overlaps(b), expected) << a.description() << " + " << a.offset() << ", " << b.description() << " + "
                                       << b.offset();
    ++(expected ? overlapping : disjoint);
  }
  EXPECT_GT(overlapping, 1000);
  EXPECT_GT(disjoint, 1000);
}

TEST(Tensor, PackedOverlapCountsBytes) {
  Tensor t = Tensor::zeros(DType::i4, {8});
  EXPECT_TRUE(t.slice(0, 0, 3).overlaps(t.slice(0, 3, 8)));
  EXPECT_FALSE(t.slice(0, 0, 2).overlaps(t.slice(0, 6, 8)));
  EXPECT_FALSE(t.slice(0, 0, 4).overlaps(t.slice(0, 4, 8)));  // side by side
  EXPECT_FALSE(t.slice(0, 4, 8).overlaps(t.slice(0, 0, 4)));
  Tensor u = Tensor::zeros(DType::i4, {8});
  EXPECT_FALSE(t.overlaps(u));
}

}  // namespace
}  // namespace deep_accel
