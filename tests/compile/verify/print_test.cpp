// Compiled kernels and the interpreter print the same lines.
#include <gtest/gtest.h>

#include "deep_accel/compile/compiler.h"
#include "deep_accel/runtime/kernel.h"
#include "deep_accel/tile/interpreter/interpreter.h"

namespace deep_accel::compile {
namespace {

// A tile of each element type, and scalars of each compute type, with and without placeholders.
constexpr const char* kValues = R"mlir(
#g = #tile.space<global>
#s = #tile.space<shared>
tile.kernel @k(%n: index {tile.name = "n"}, %x: f32 {tile.name = "x"}, %y: f64 {tile.name = "y"},
               %flag: i1 {tile.name = "flag"}, %big: i64 {tile.name = "big"},
               %A: memref<2x3xf32, #g> {tile.name = "A", tile.dims = ["", ""], tile.role = "in"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.print "outside {}", %n : index
  tile.grid (%b) = (%c1) {
    %t = tile.alloc "t" : memref<2x3xf32, #s>
    %h = tile.alloc "h" : memref<2x3xbf16, #s>
    %q = tile.alloc "q" : memref<2x3xi4, #s>
    tile.load %A[%c0, %c0] into %t : memref<2x3xf32, #g>, memref<2x3xf32, #s>
    tile.copy %t to %h : memref<2x3xf32, #s>, memref<2x3xbf16, #s>
    tile.map (%i, %j) in [2, 3] {
      %v = tile.read %t[%i, %j] : memref<2x3xf32, #s> -> f32
      %k = arith.fptosi %v : f32 to i32
      tile.write %k, %q[%i, %j] : i32, memref<2x3xi4, #s>
    }
    tile.print "plain"
    tile.print "n = {}, {{}}; {} and", %n, %x, %n, %flag : index, f32, index, i1
    tile.print "", %y, %big : f64, i64
    tile.print "tile {} of {}", %t, %n : memref<2x3xf32, #s>, index
    tile.print "{}{}", %h, %q : memref<2x3xbf16, #s>, memref<2x3xi4, #s>
    tile.print "more {} {} {}", %n : index
    tile.print "row", %t, %x : memref<2x3xf32, #s>, f32
  }
}
)mlir";

TEST(Print, IsTheSameInBoth) {
  const tile::Program program = tile::Program::parse(kValues, "print.mlir");
  const Tensor a = Tensor::from_values(DType::f32, {2, 3}, std::vector<double>{1, -2.5, 0.1, 3, 7, -0.0});
  const std::vector<Argument> arguments = {1234567890, 0.1, 1e300, true, (int64_t{1} << 40) + 1, a};
  std::vector<std::string> interpreted, compiled;
  tile::InterpreterOptions options;
  options.print = [&](std::string_view line) { interpreted.emplace_back(line); };
  tile::interpret(program, "k", arguments, options);
  launch(*jit(program), arguments, {.print = [&](std::string_view line) { compiled.emplace_back(line); }});
  EXPECT_EQ(interpreted,
            (std::vector<std::string>{"outside 1234567890", "plain", "n = 1234567890, {0.100000001}; 1234567890 and 1",
                                      " 1e+300 1099511627777", "tile [1, -2.5, 0.100000001, 3, 7, -0] of 1234567890",
                                      "[1, -2.5, 0.100097656, 3, 7, -0][1, -2, 0, 3, 7, 0]", "more 1234567890 {} {}",
                                      "row [1, -2.5, 0.100000001, 3, 7, -0] 0.100000001"}));
  EXPECT_EQ(compiled, interpreted);
}

}  // namespace
}  // namespace deep_accel::compile
