// Builder: what mistakes say: the line, the argument, what was expected, what came, what to do.
#include "deep_accel/base/error.h"
#include "deep_accel/tile/builder.h"
#include "tests/tile/builder/expect_text.h"

namespace deep_accel::tile {
namespace {

class Mistakes : public testing::Test {
 protected:
  Builder b{"mistakes"};
  TileBuffer X = b.input("X", DType::f32, {64, 64});
  Scalars block = b.begin_grid({4});
  TileBuffer t = b.shared(DType::f32, {16, 32}, "t"), u = b.shared(DType::f32, {32, 8}, "u");
  TileBuffer acc = b.fragment(DType::f32, {16, 8}, "acc"), ids = b.shared(DType::i32, {16}, "ids");

  template <typename E, typename Body>
  void expect(Body&& body, const std::string& text) {
    const std::string message = message_of<E>(body);
    EXPECT_NE(message.find(text), std::string::npos) << message;
    EXPECT_NE(message.find("errors_test.cpp:"), std::string::npos) << message;
    EXPECT_NE(message.find("; "), std::string::npos) << "no remedy: " << message;
  }
};

TEST_F(Mistakes, Shapes) {
  expect<ShapeError>([&] { b.copy(t, u); },
                     "copy: 'dest' must be of the same shape as 'source', 't' f32[16, 32], got 'u' f32[32, 8]");
  expect<ShapeError>([&] { b.gemm(t, t, acc); }, "gemm: 'b' must be of K = 32 rows");
  expect<ShapeError>([&] { b.gemm(t, u, b.fragment(DType::f32, {8, 16})); }, "gemm: 'acc' must be [16, 8]");
  expect<ShapeError>(
      [&] { b.gemm(b.shared(DType::f32, {16, 8}), b.shared(DType::f32, {32, 8}), b.fragment(DType::f32, {16, 32})); },
      "did you mean transpose_b?");
  expect<ShapeError>([&] { b.load(X, {0}, t); }, "one index for each dimension of 'X' f32[64, 64], got 1");
  expect<ShapeError>([&] { b.load(X, {0, 0}, b.shared(DType::f32, {2, 16, 16})); },
                     "load: 'tile' must be of at most the rank");
  expect<ShapeError>([&] { b.load(X, {0, 0}, t, {.dims = {0, 0}}); }, "different dimensions");
  expect<ShapeError>([&] { b.reduce(Combination::add, t, acc); }, "reduce: 'dest' must be [16] or [16, 1]");
  expect<ShapeError>([&] { b.transpose(t, u); }, "transpose: 'dest'");
  expect<ShapeError>([&] { b.reshape(t, {3, 5}); }, "of 512 elements");
  expect<ShapeError>([&] { b.slice(t, {8, 0}, {16, 32}); }, "slice: 'sizes' must be within 't'");
  expect<ShapeError>([&] { b.gather(X, {0, 0}, ids, u); }, "gather: 'rows' must be of one dimension");
  expect<ShapeError>([&] { b.shared(DType::f32, {0}); }, "positive sizes");
  expect<ShapeError>([&] { b.shared(DType::i4, {3}); }, "even in the last size");
  expect<IndexError>([&] { b.scan(Combination::add, t, t, 2); }, "scan: 'dim' must be a dimension of");
  expect<IndexError>([&] { t(16, 0) = 1; }, "write: 'index 0' must be within 't' f32[16, 32], got 16 or more");
}

TEST_F(Mistakes, Types) {
  expect<TypeError>([&] { b.gemm(t, u, b.fragment(DType::i32, {16, 8})); }, "floats and integers do not mix");
  expect<TypeError>([&] { b.gemm(X, u, acc); },
                    "gemm: 'a' must be a tile (shared, fragment or local), got the global tensor 'X'");
  expect<TypeError>([&] { b.gather(X, {0, 0}, b.shared(DType::f32, {16}), t); }, "a tile of integers");
  expect<TypeError>([&] { b.atomic(Combination::add, 1, b.shared(DType::f16, {4}), {0}); }, "of f32, f64, i32 or i64");
  expect<TypeError>([&] { b.for_(0, 4, {0}, [&](Index, const Scalars& v) { return Scalars{v[0] + 0.5}; }); },
                    "begins as i32 and becomes f32");
}

TEST_F(Mistakes, Structure) {
  expect<ValueError>([&] { b.begin_grid({1}); }, "end the grid or loop that is open first");
  expect<ValueError>([&] { b.barrier(); }, "only inside of threads");
  expect<ValueError>([&] { b.workspace(DType::f32, {4}); }, "move it before the grid");
  expect<ValueError>([&] { b.for_(0, 4, [](Index) {}, 0); }, "for: 'step' must be positive, got 0");
  expect<ValueError>([&] { b.map({4}, [&](Index) { b.shared(DType::f32, {4}); }); }, "not allocated inside of a map");
}

TEST(MistakesOfArguments, AreNamed) {
  EXPECT_THROW(Builder("no name"), ValueError);
  Builder b("arguments");
  auto A = b.input("A", DType::f32, {4});
  EXPECT_THROW(b.input("A", DType::f32, {4}), ValueError);
  EXPECT_THROW(b.input("B", DType::f32, {-4}), ShapeError);
  EXPECT_THROW(b.shared(DType::f32, {4}), ValueError);
  EXPECT_THROW(b.begin_grid({1, 1, 1, 1}), ShapeError);
  EXPECT_THROW(b.grid({1, 1}, [](Index) {}), ShapeError);
}

TEST(MistakesOfArguments, DimsMustStandSomewhere) {
  Builder b("dims");
  auto [N] = b.dims("N");
  auto X = b.output("X", DType::f32, {4});
  b.grid({N}, [&](Index) { X(0) = 1; });
  const std::string message = message_of<ShapeError>([&] { b.finish(); });
  EXPECT_NE(message.find("dimension 'N' stands in no argument's shape"), std::string::npos) << message;
}

TEST(MistakesOfArguments, FinishedIsFinished) {
  Builder b("finished");
  auto X = b.output("X", DType::f32, {4});
  b.grid({1}, [&](Index) { X(0) = 1; });
  b.finish();
  EXPECT_THROW(b.finish(), ValueError);
  EXPECT_THROW(b.dim("N"), ValueError);
}

}  // namespace
}  // namespace deep_accel::tile
