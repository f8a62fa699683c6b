// How long compiling takes, loading from the disk cache, and launching a kernel that does next to nothing.
#include <algorithm>

#include "deep_accel/compile/compiler.h"
#include "deep_accel/runtime/kernel_cache.h"
#include "deep_accel/runtime/workers.h"
#include "harness.h"

namespace deep_accel::bench {
namespace {

constexpr const char* kTiny = R"mlir(
tile.kernel @tiny(%A: memref<?xf32, #tile.space<global>> {tile.name = "A", tile.dims = ["N"], tile.role = "in"},
                  %B: memref<?xf32, #tile.space<global>> {tile.name = "B", tile.dims = ["N"], tile.role = "out"}) {
  %N = tile.dim "N"
  %c64 = arith.constant 64 : index
  %blocks = arith.ceildivsi %N, %c64 : index
  tile.grid (%b) = (%blocks) {
    %i = arith.muli %b, %c64 : index
    %t = tile.alloc "t" : memref<64xf32, #tile.space<shared>>
    tile.load %A[%i] into %t : memref<?xf32, #tile.space<global>>, memref<64xf32, #tile.space<shared>>
    tile.store %t into %B[%i] : memref<64xf32, #tile.space<shared>>, memref<?xf32, #tile.space<global>>
  }
}
)mlir";

}  // namespace

void bench_latency(Report& report, const Settings& settings) {
  const int rounds = settings.quick ? 1 : 9;
  const std::string text = kernel_text("product.mlir");
  const tile::Program program = tile::Program::parse(text, "product.mlir");
  const std::vector<double> compiling = take_turns({{"compile", [&] { compile::library(program); }},
                                                    {"disk cache",
                                                     [&] {
                                                       KernelCache::instance().clear_memory();
                                                       compile::jit(program);
                                                     }},
                                                    {"memory cache", [&] { compile::jit(program); }}},
                                                   rounds);
  report.add({"latency", "product: compile", 1, "DeepAccel", compiling[0] * 1e3, "ms"});
  report.add({"latency", "product: from the disk cache", 1, "DeepAccel", compiling[1] * 1e3, "ms"});
  report.add({"latency", "product: from memory", 1, "DeepAccel", compiling[2] * 1e3, "ms"});

  const std::shared_ptr<const Kernel> tiny = compiled(kTiny);
  for (int threads = 1; threads <= std::min(2, available_processors()); ++threads) {
    const Tensor A = random_tensor({64 * threads}, 6), B = Tensor::zeros(DType::f32, {64 * threads});
    const std::vector<Argument> arguments{A, B};
    const LaunchOptions options{.threads = threads};
    const double seconds = take_turns({{"launch", [&] { launch(*tiny, arguments, options); }}}, 5 * rounds).front();
    report.add({"latency", "launch of " + std::to_string(threads) + " block" + (threads > 1 ? "s" : ""), threads,
                "DeepAccel, C++", seconds * 1e6, "us"});
  }
}

}  // namespace deep_accel::bench
