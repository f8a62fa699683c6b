// Kernels that wait for memory: softmax, layer norm and a fused element-wise chain, beside a copy of the same array.
#include <algorithm>
#include <cstring>

#include "deep_accel/runtime/workers.h"
#include "harness.h"

namespace deep_accel::bench {
namespace {

constexpr int64_t kColumns = 4096;

struct Subject {
  std::string name;
  std::string file;
  std::function<std::vector<Argument>(const Tensor& X, const Tensor& Y)> arguments;
};

void compare(Report& report, const Subject& subject, int64_t rows, int threads, int rounds) {
  const std::shared_ptr<const Kernel> kernel = compiled(kernel_text(subject.file));
  const Tensor X = random_tensor({rows, kColumns}, 3), Y = Tensor::zeros(DType::f32, {rows, kColumns});
  const std::vector<Argument> arguments = subject.arguments(X, Y);
  const LaunchOptions options{.threads = threads};
  char *from = static_cast<char*>(X.data()), *to = static_cast<char*>(Y.data());
  auto copy = [&] {
    run_on_workers(threads, [&](int slot) {
      const int64_t begin = X.bytes() * slot / threads, end = X.bytes() * (slot + 1) / threads;
      std::memcpy(to + begin, from + begin, static_cast<size_t>(end - begin));
    });
  };
  Pinned pinned(threads == 1);
  Roof roof(threads);
  const std::vector<Contestant> contestants{{"DeepAccel", [&] { launch(*kernel, arguments, options); }},
                                            {"memcpy", copy}};
  const std::vector<double> seconds = take_turns(contestants, rounds, threads);
  roof.measure_again();
  const double gigabytes = 2e-9 * static_cast<double>(X.bytes());
  for (size_t i = 0; i < contestants.size(); ++i) {
    report.add({"memory", subject.name + " " + std::to_string(rows) + " x " + std::to_string(kColumns), threads,
                contestants[i].name, gigabytes / seconds[i], "GB/s", roof.copy()});
  }
}

}  // namespace

void bench_memory(Report& report, const Settings& settings) {
  const Tensor gain = random_tensor({kColumns}, 4), bias = random_tensor({kColumns}, 5);
  auto flat = [](const Tensor& X, const Tensor& Y) { return std::vector<Argument>{X.reshape({-1}), Y.reshape({-1})}; };
  const std::vector<Subject> subjects{
      {"softmax", "softmax.mlir", [](const Tensor& X, const Tensor& Y) { return std::vector<Argument>{X, Y}; }},
      {"layer norm", "layer_norm.mlir",
       [&](const Tensor& X, const Tensor& Y) { return std::vector<Argument>{X, gain, bias, Y}; }},
      {"12 element-wise", "chain.mlir", flat},
      {"12 with a sigmoid", "sigmoid_chain.mlir", flat}};
  for (int threads = 1; threads <= std::min(2, available_processors()); ++threads) {
    for (const Subject& subject : subjects) {
      compare(report, subject, settings.quick ? 64 : 4096, threads, settings.quick ? 1 : 21);
    }
  }
}

}  // namespace deep_accel::bench
