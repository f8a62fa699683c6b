// Whole programs, compiled, against the interpreter: those of tests/programs, and products of every pair of types.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "deep_accel/base/error.h"
#include "deep_accel/compile/verify/verify.h"
#include "tests/replaced.h"

namespace deep_accel::compile {
namespace {

namespace fs = std::filesystem;

TEST(Programs, PassVerification) {
  int verified = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(DEEP_ACCEL_SOURCE_DIR) / "tests" / "programs")) {
    const tile::Program program = tile::Program::parse_file(entry.path().string());
    for (const std::string& kernel : program.kernels()) {
      VerifyOptions options;
      options.cases = 10;
      options.max_steps = 1'000'000;
      const VerifyReport report = verify(program, kernel, options);
      EXPECT_TRUE(report.passed()) << entry.path() << "\n" << report.text();
      ++verified;
    }
  }
  EXPECT_GE(verified, 16);
}

std::string filled(std::string text, const std::vector<std::pair<std::string, std::string>>& values) {
  for (const auto& [name, value] : values) text = test::replaced(text, name, value);
  return text;
}

struct Types {
  std::string factor, sum, scale;  // scale: empty for none
};

// One block: C = A B, with odd sizes.
std::string product(const Types& types) {
  const std::string scales = types.scale.empty() ? "" : "scales(%p, %q : memref<9x2xSCALE, #s>, memref<2x7xSCALE, #s>)";
  return filled(R"mlir(
#g = #tile.space<global>
#s = #tile.space<shared>
tile.kernel @k(%A: memref<9x14xFACTOR, #g> {tile.name = "A", tile.dims = ["", ""], tile.role = "in"},
               %B: memref<14x21xFACTOR, #g> {tile.name = "B", tile.dims = ["", ""], tile.role = "in"},
               %P: memref<9x2xSCALE, #g> {tile.name = "P", tile.dims = ["", ""], tile.role = "in"},
               %Q: memref<2x7xSCALE, #g> {tile.name = "Q", tile.dims = ["", ""], tile.role = "in"},
               %C: memref<9x21xSUM, #g> {tile.name = "C", tile.dims = ["", ""], tile.role = "out"},
               %D: memref<9x14xFACTOR, #g> {tile.name = "D", tile.dims = ["", ""], tile.role = "out"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    %a = tile.alloc "a" : memref<9x14xFACTOR, #s>
    %b = tile.alloc "b" : memref<14x21xFACTOR, #s>
    %p = tile.alloc "p" : memref<9x2xSCALE, #s>
    %q = tile.alloc "q" : memref<2x7xSCALE, #s>
    %c = tile.alloc "c" : memref<9x21xSUM, #s>
    tile.load %A[%c0, %c0] into %a : memref<9x14xFACTOR, #g>, memref<9x14xFACTOR, #s>
    tile.load %B[%c0, %c0] into %b : memref<14x21xFACTOR, #g>, memref<14x21xFACTOR, #s>
    tile.load %P[%c0, %c0] into %p : memref<9x2xSCALE, #g>, memref<9x2xSCALE, #s>
    tile.load %Q[%c0, %c0] into %q : memref<2x7xSCALE, #g>, memref<2x7xSCALE, #s>
    tile.gemm %a, %b, %c SCALES clear : memref<9x14xFACTOR, #s>, memref<14x21xFACTOR, #s>, memref<9x21xSUM, #s>
    tile.store %c into %C[%c0, %c0] : memref<9x21xSUM, #s>, memref<9x21xSUM, #g>
    tile.store %a into %D[%c0, %c0] : memref<9x14xFACTOR, #s>, memref<9x14xFACTOR, #g>
  }
}
)mlir",
                {{"SCALES", scales},
                 {"FACTOR", types.factor},
                 {"SUM", types.sum},
                 {"SCALE", types.scale.empty() ? "f32" : types.scale}});
}

// The factors are read after the product too: however they lie in memory, they are what they were.
TEST(Programs, ProductsOfEveryPairOfTypes) {
  VerifyOptions options;
  options.cases = 2;
  options.threads = {1};
  options.optimisation = 1;
  int verified = 0;
  for (const char* factor : {"f64", "f32", "f16", "bf16", "f8E4M3FN", "f8E5M2", "!tile.f4E2M1FN", "i8", "ui8", "i4"}) {
    for (const char* sum : {"f64", "f32", "f16", "bf16", "i32"}) {
      for (const char* scale : {"", "f32", "f64", "f8E5M2"}) {
        const Types types{factor, sum, scale};
        std::optional<tile::Program> program;
        try {
          program = tile::Program::parse(product(types), "product.mlir");
        } catch (const ValueError&) {
          continue;  // floats into integers, scales of integers
        }
        const VerifyReport report = verify(*program, "k", options);
        EXPECT_TRUE(report.passed()) << factor << " into " << sum << " scaled by " << scale << "\n" << report.text();
        ++verified;
      }
    }
  }
  EXPECT_EQ(verified, 10 * 4 * 4 + 3);
}

}  // namespace
}  // namespace deep_accel::compile
