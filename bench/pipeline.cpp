// pipelined(n, stages): what it does for a gather of rows that lie anywhere in memory, and what for a plain product.
#include "harness.h"

namespace deep_accel::bench {
namespace {

void compare(Report& report, const std::string& subject, const std::string& file,
             const std::vector<Argument>& arguments, double amount, const std::string& unit, int rounds) {
  const std::string text = kernel_text(file);
  const std::shared_ptr<const Kernel> plain = compiled(with_stages(text, 1)), staged = compiled(with_stages(text, 3));
  const LaunchOptions options{.threads = 1};
  Pinned pinned(true);
  const std::vector<double> seconds = take_turns({{"stages 1", [&] { launch(*plain, arguments, options); }},
                                                  {"stages 3", [&] { launch(*staged, arguments, options); }}},
                                                 rounds);
  report.add({"pipeline", subject, 1, "stages 1", amount / seconds[0], unit});
  report.add({"pipeline", subject, 1, "stages 3", amount / seconds[1], unit});
}

// `pages` lists of 512 random rows of a table.
Tensor random_rows(int64_t pages, int64_t rows) {
  const Tensor list = Tensor::empty(DType::i32, {pages, 512});
  uint64_t state = 7;
  for (int32_t *at = list.data<int32_t>(), *end = at + list.size(); at != end; ++at) {
    state = state * 6364136223846793005 + 1442695040888963407;
    *at = static_cast<int32_t>((state >> 33) % static_cast<uint64_t>(rows));
  }
  return list;
}

}  // namespace

void bench_pipeline(Report& report, const Settings& settings) {
  const int rounds = settings.quick ? 1 : 15;
  const int64_t rows = settings.quick ? 4096 : 1 << 20, pages = settings.quick ? 4 : 256;
  const Tensor table = random_tensor({rows, 128}, 8), sums = Tensor::zeros(DType::f32, {pages, 128});
  const double gathered = 1e-9 * static_cast<double>(pages) * 512 * 128 * 4;
  compare(report, "gather of rows of 512 bytes", "gather.mlir", {table, random_rows(pages, rows), sums}, gathered,
          "GB/s", rounds);
  const int64_t size = settings.quick ? 256 : 1024;
  const Tensor A = random_tensor({size, size}, 9), B = random_tensor({size, size}, 10),
               C = Tensor::zeros(DType::f32, {size, size});
  const double cube = static_cast<double>(size) * static_cast<double>(size) * static_cast<double>(size);
  compare(report, "product " + std::to_string(size) + "^3", "product.mlir", {A, B, C}, 2e-9 * cube, "Gflop/s", rounds);
}

}  // namespace deep_accel::bench
