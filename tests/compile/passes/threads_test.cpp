// Compiled code for threads against the same computed in plain loops here: barriers, loops around them, shuffles,
// votes, local tiles. Values are small integers, so that every sum is exact.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "deep_accel/compile/compiler.h"
#include "deep_accel/runtime/kernel.h"

namespace deep_accel {
namespace {

std::vector<double> random_integers(int64_t count, uint32_t seed) {
  std::mt19937 generator(seed);
  std::uniform_int_distribution<int> distribution(-50, 50);
  std::vector<double> values(static_cast<size_t>(count));
  for (double& value : values) value = distribution(generator);
  return values;
}

// Runs a kernel of one block whose statements are `body`, with A: f32 of `count` loaded to the tile %x, and stores %y,
// a tile of as many, to the result. Scalars %c0, %c1, %zero (f32), %i0, %i1 (i32) are there.
std::vector<double> run(const std::vector<double>& input, const std::string& body) {
  const auto count = static_cast<int64_t>(input.size());
  const std::string n = std::to_string(count), tile = "memref<" + n + "xf32, #tile.space<shared>>",
                    global = "memref<" + n + "xf32, #tile.space<global>>";
  std::string text = "!t = " + tile + "\n!g = " + global + R"(
    tile.kernel @k(%A: !g {tile.name = "A", tile.dims = [""], tile.role = "in"},
                   %B: !g {tile.name = "B", tile.dims = [""], tile.role = "out"}) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0.0 : f32
      %i0 = arith.constant 0 : i32
      %i1 = arith.constant 1 : i32
      tile.grid (%g) = (%c1) {
        %x = tile.alloc "x" : !t
        %y = tile.alloc "y" : !t
        tile.load %A[%c0] into %x : !g, !t
        tile.fill %y, %zero : !t, f32
)" + body + R"(
        tile.store %y into %B[%c0] : !t, !g
      }
    }
  )";
  Tensor a = Tensor::from_values(DType::f32, {count}, input);
  Tensor b = Tensor::from_values(DType::f32, {count}, std::vector<double>(input.size(), -1));
  launch(*compile::jit(tile::Program::parse(text)), {a, b}, {.threads = 1});
  return b.values();
}

TEST(Threads, RotateInPlaceAcrossABarrier) {
  const std::vector<double> a = random_integers(37, 1);
  std::vector<double> expected = a;
  std::rotate(expected.begin(), expected.end() - 1, expected.end());
  EXPECT_EQ(expected, run(a, R"(
    %n = arith.constant 37 : index
    tile.threads (%t) in [37] {
      %next = arith.addi %t, %c1 : index
      %to = arith.remui %next, %n : index
      %v = tile.read %x[%t] : !t -> f32
      tile.barrier
      tile.write %v, %x[%to] : f32, !t
      tile.barrier
      %w = tile.read %x[%t] : !t -> f32
      tile.write %w, %y[%t] : f32, !t
    })"));
}

TEST(Threads, TreeReductionInAWhileLoop) {
  const std::vector<double> a = random_integers(64, 2);
  double sum = 0;
  for (double value : a) sum += value;
  EXPECT_EQ(sum, run(a, R"(
    tile.threads (%t) in [64] {
      %half = arith.constant 32 : i32
      %end = scf.while (%o = %half) : (i32) -> i32 {
        %more = arith.cmpi sgt, %o, %i0 : i32
        scf.condition(%more) %o : i32
      } do {
      ^bb0(%o: i32):
        %oi = arith.index_cast %o : i32 to index
        %low = arith.cmpi slt, %t, %oi : index
        scf.if %low {
          %p = arith.addi %t, %oi : index
          %a = tile.read %x[%t] : !t -> f32
          %b = tile.read %x[%p] : !t -> f32
          %s = arith.addf %a, %b : f32
          tile.write %s, %x[%t] : f32, !t
        }
        tile.barrier
        %less = arith.shrsi %o, %i1 : i32
        scf.yield %less : i32
      }
      %w = tile.read %x[%t] : !t -> f32
      tile.write %w, %y[%t] : f32, !t
    })")[0]);
}

// In round i each thread publishes its running sum and adds its right neighbour's.
TEST(Threads, ALoopCarriesAValueOfEachThread) {
  const std::vector<double> a = random_integers(24, 3);
  std::vector<double> expected = a;
  for (int round = 0; round < 3; ++round) {
    const std::vector<double> published = expected;
    for (size_t t = 0; t < 24; ++t) expected[t] += published[(t + 1) % 24];
  }
  EXPECT_EQ(expected, run(a, R"(
    %n = arith.constant 24 : index
    %c3 = arith.constant 3 : index
    %c6 = arith.constant 6 : index
    tile.threads (%p, %q) in [6, 4] {
      %r = arith.muli %q, %c6 : index
      %t = arith.addi %p, %r : index
      %next = arith.addi %t, %c1 : index
      %right = arith.remui %next, %n : index
      %start = tile.read %x[%t] : !t -> f32
      %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %start) -> f32 {
        tile.write %s, %x[%t] : f32, !t
        tile.barrier
        %v = tile.read %x[%right] : !t -> f32
        tile.barrier
        %more = arith.addf %s, %v : f32
        scf.yield %more : f32
      }
      tile.write %sum, %y[%t] : f32, !t
    })"));
}

// The lane that tile.shuffle's definition names.
size_t source_lane(const std::string& mode, int64_t thread, int64_t lane, int64_t width, int64_t count) {
  const int64_t own = thread % width, first = thread - own;
  int64_t wanted = lane;
  if (mode == "up") wanted = own - lane;
  if (mode == "down") wanted = own + lane;
  if (mode == "xor") wanted = own ^ lane;
  const bool good = wanted >= 0 && wanted < width && first + wanted < count;
  return static_cast<size_t>(good ? first + wanted : thread);
}

TEST(Threads, ShufflesReadTheLaneThatTheModeNames) {
  const std::vector<double> a = random_integers(22, 4);  // the last group of 8 has 6 threads
  for (const std::string mode : {"index", "up", "down", "xor"}) {
    for (int lane : {0, 1, 3, 7, 9, -2}) {
      std::vector<double> expected;
      for (int64_t t = 0; t < 22; ++t) expected.push_back(a[source_lane(mode, t, lane, 8, 22)]);
      EXPECT_EQ(expected, run(a, R"(
        %lane = arith.constant )" + std::to_string(lane) +
                                     R"( : i32
        %c11 = arith.constant 11 : index
        tile.threads (%p, %q) in [11, 2] {
          %r = arith.muli %q, %c11 : index
          %t = arith.addi %p, %r : index
          %v = tile.read %x[%t] : !t -> f32
          %o = tile.shuffle )" + mode +
                                     R"( %v, %lane width 8 : f32
          tile.write %o, %y[%t] : f32, !t
        })"))
          << mode << " " << lane;
    }
  }
}

TEST(Threads, VotesJoinEachGroup) {
  std::vector<double> a = random_integers(22, 5);
  for (size_t t = 0; t < 8; ++t) a[t] = std::abs(a[t]) + 1;  // the first group agrees
  for (const std::string mode : {"any", "all", "count"}) {
    std::vector<double> expected;
    for (size_t t = 0; t < 22; ++t) {
      const size_t first = t / 8 * 8, end = std::min<size_t>(first + 8, 22);
      const auto yes = std::count_if(a.begin() + static_cast<std::ptrdiff_t>(first),
                                     a.begin() + static_cast<std::ptrdiff_t>(end), [](double v) { return v > 0; });
      const bool all = yes == static_cast<std::ptrdiff_t>(end - first);
      expected.push_back(mode == "count" ? static_cast<double>(yes) : mode == "all" ? all : yes > 0);
    }
    EXPECT_EQ(expected, run(a, R"(
      tile.threads (%t) in [22] {
        %v = tile.read %x[%t] : !t -> f32
        %yes = arith.cmpf ogt, %v, %zero : f32
        %n = tile.vote )" + mode + R"( %yes width 8
        %f = arith.sitofp %n : i32 to f32
        tile.write %f, %y[%t] : f32, !t
      })"))
        << mode;
  }
}

// Odd-even transposition sort that goes on while any thread has swapped: a vote of all threads steers the loop.
TEST(Threads, SortUntilAVoteSaysDone) {
  const std::vector<double> a = random_integers(32, 6);
  std::vector<double> expected = a;
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(expected, run(a, R"(
    %c2 = arith.constant 2 : index
    %last = arith.constant 31 : index
    %no = arith.constant 0 : i1
    tile.threads (%t) in [32] {
      %end = scf.while (%go = %i1) : (i32) -> i32 {
        %more = arith.cmpi ne, %go, %i0 : i32
        scf.condition(%more) %go : i32
      } do {
      ^bb0(%go: i32):
        %any = scf.for %phase = %c0 to %c2 step %c1 iter_args(%swapped = %no) -> i1 {
          %from = arith.addi %t, %phase : index
          %odd = arith.remui %from, %c2 : index
          %even = arith.cmpi eq, %odd, %c0 : index
          %inside = arith.cmpi ult, %t, %last : index
          %mine = arith.andi %even, %inside : i1
          %now = scf.if %mine -> i1 {
            %next = arith.addi %t, %c1 : index
            %p = tile.read %x[%t] : !t -> f32
            %q = tile.read %x[%next] : !t -> f32
            %wrong = arith.cmpf ogt, %p, %q : f32
            scf.if %wrong {
              tile.write %q, %x[%t] : f32, !t
              tile.write %p, %x[%next] : f32, !t
            }
            scf.yield %wrong : i1
          } else {
            scf.yield %no : i1
          }
          tile.barrier
          %either = arith.ori %swapped, %now : i1
          scf.yield %either : i1
        }
        %again = tile.vote any %any width 32
        scf.yield %again : i32
      }
      %w = tile.read %x[%t] : !t -> f32
      tile.write %w, %y[%t] : f32, !t
    })"));
}

// Each thread keeps three values of its own across a barrier, by elements and as a whole.
TEST(Threads, LocalTilesAreEachThreadsOwn) {
  const std::vector<double> a = random_integers(20, 7);
  std::vector<double> expected;
  for (size_t t = 0; t < 20; ++t) expected.push_back(a[t] + a[(t + 1) % 20] + a[(t + 2) % 20] + 3 * 2);
  EXPECT_EQ(expected, run(a, R"(
    %n = arith.constant 20 : index
    %c3 = arith.constant 3 : index
    %two = arith.constant 2.0 : f32
    tile.threads (%t) in [20] {
      %r = tile.alloc "r" : memref<3xf32, #tile.space<local>>
      %w = tile.alloc "w" : memref<3xf32, #tile.space<local>>
      tile.fill %w, %two : memref<3xf32, #tile.space<local>>, f32
      scf.for %i = %c0 to %c3 step %c1 {
        %s = arith.addi %t, %i : index
        %at = arith.remui %s, %n : index
        %v = tile.read %x[%at] : !t -> f32
        tile.write %v, %r[%i] : f32, memref<3xf32, #tile.space<local>>
      }
      tile.barrier
      tile.write %zero, %x[%t] : f32, !t
      tile.barrier
      %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %zero) -> f32 {
        %v = tile.read %r[%i] : memref<3xf32, #tile.space<local>> -> f32
        %u = tile.read %w[%i] : memref<3xf32, #tile.space<local>> -> f32
        %m = arith.addf %s, %v : f32
        %k = arith.addf %m, %u : f32
        scf.yield %k : f32
      }
      tile.write %sum, %y[%t] : f32, !t
    })"));
}

}  // namespace
}  // namespace deep_accel
