// The f32 product of bench/kernels/product.mlir, beside other libraries and beside the peak of multiply-adds.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "deep_accel/base/error.h"
#include "deep_accel/runtime/workers.h"
#include "harness.h"
#include "peers.h"

namespace deep_accel::bench {
namespace {

// Both sum K products of numbers below 1 in f32, in different orders.
void require_equal(const Tensor& got, const Tensor& wanted, int64_t K, const std::string& name) {
  const float *a = got.data<float>(), *b = wanted.data<float>();
  const double bound = static_cast<double>(K) * std::sqrt(static_cast<double>(K)) * 0x1p-24;
  for (int64_t i = 0; i < got.size(); ++i) {
    if (!(std::abs(static_cast<double>(a[i]) - b[i]) <= bound)) {
      throw Error("the product of " + name + " differs from ours at element " + std::to_string(i) + ": " +
                  std::to_string(b[i]) + ", not " + std::to_string(a[i]));
    }
  }
}

void compare(Report& report, const Kernel& kernel, int64_t size, int threads, int rounds) {
  const Tensor A = random_tensor({size, size}, 1), B = random_tensor({size, size}, 2);
  const Tensor ours = Tensor::zeros(DType::f32, {size, size}), theirs = Tensor::zeros(DType::f32, {size, size});
  const LaunchOptions options{.threads = threads};
  std::vector<Contestant> contestants{{"DeepAccel", [&] { launch(kernel, {A, B, ours}, options); }}};
  contestants.front().run();
  for (const Peer& peer : peers()) {
    peer.set_threads(threads);
    auto run = [&] { peer.product(size, size, size, A.data<float>(), B.data<float>(), theirs.data<float>()); };
    run();
    require_equal(ours, theirs, size, peer.name);
    contestants.push_back({peer.name, run});
  }
  Pinned pinned(threads == 1);
  Roof roof(threads);
  const std::vector<double> seconds = take_turns(contestants, rounds, threads);
  roof.measure_again();
  const double gflop = 2e-9 * static_cast<double>(size) * static_cast<double>(size) * static_cast<double>(size);
  for (size_t i = 0; i < contestants.size(); ++i) {
    report.add({"product", std::to_string(size) + "^3", threads, contestants[i].name, gflop / seconds[i], "Gflop/s",
                roof.gflops()});
  }
}

}  // namespace

void bench_product(Report& report, const Settings& settings) {
  for (const Peer& peer : peers()) std::printf("  %s: %s\n", peer.name.c_str(), peer.description.c_str());
  const std::shared_ptr<const Kernel> kernel = compiled(kernel_text("product.mlir"));
  const std::vector<int64_t> sizes =
      settings.quick ? std::vector<int64_t>{256} : std::vector<int64_t>{1024, 2048, 4096};
  for (int threads = 1; threads <= std::min(2, available_processors()); ++threads) {
    for (int64_t size : sizes) compare(report, *kernel, size, threads, settings.quick ? 1 : size > 2048 ? 7 : 15);
  }
}

}  // namespace deep_accel::bench
