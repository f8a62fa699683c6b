// `deepaccel tile run`: compiles a kernel, runs it on files or on random values, and says how long it took.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "deep_accel/base/error.h"
#include "deep_accel/base/hash.h"
#include "deep_accel/base/text.h"
#include "deep_accel/cli/arguments.h"
#include "deep_accel/cli/command.h"
#include "deep_accel/cli/interrupt.h"
#include "deep_accel/cli/npy.h"
#include "deep_accel/cli/program_file.h"
#include "deep_accel/compile/compiler.h"
#include "deep_accel/runtime/kernel.h"
#include "deep_accel/runtime/workers.h"

namespace deep_accel::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct RunOptions {
  std::string file;
  std::string kernel;
  ArgumentRequest arguments;
  std::vector<std::string> outputs;
  int threads = 0;
  int repeat = 5;
  bool json = false;
};

// What a tensor holds, in a few numbers.
struct Checksum {
  double sum = 0;
  double largest = 0;  // magnitude
  int64_t nans = 0;
  std::string sha256;
};

Checksum checksum(const Tensor& tensor) {
  Checksum result;
  const Tensor contiguous = tensor.contiguous();
  double correction = 0;  // Kahan's, so that the sum does not depend on the size
  for (double value : contiguous.values()) {
    if (std::isnan(value)) {
      ++result.nans;
      continue;
    }
    result.largest = std::max(result.largest, std::abs(value));
    const double term = value - correction, next = result.sum + term;
    correction = std::isfinite(next) ? next - result.sum - term : 0;
    result.sum = next;
  }
  const auto* bytes = static_cast<const std::byte*>(contiguous.size() > 0 ? contiguous.data() : nullptr);
  const Sha256 digest = sha256(std::span(bytes, static_cast<size_t>(contiguous.bytes())));
  result.sha256 = to_hex(digest).substr(0, 16);
  return result;
}

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::string time_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

// Launches `repeat` times from the same arguments; returns each launch's seconds, sorted.
std::vector<double> launch_repeatedly(const Kernel& kernel, const std::vector<Argument>& arguments,
                                      const RunOptions& options) {
  InterruptibleScope interruptible;
  LaunchOptions launch_options;
  launch_options.threads = options.threads;
  launch_options.interrupted = InterruptibleScope::requested;
  // What the kernel prints; beside the report where that is JSON.
  std::ostream& out = options.json ? std::cerr : std::cout;
  launch_options.print = [&out](std::string_view line) { out << line << std::endl; };
  // What a launch updates in place, as it was.
  std::vector<std::pair<Tensor, Tensor>> updated;
  const std::vector<ArgumentSpec>& specs = kernel.signature().args;
  for (size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].is_tensor && specs[i].role == ArgumentSpec::Role::inout) {
      updated.emplace_back(arguments[i].tensor(), arguments[i].tensor().copy());
    }
  }
  std::vector<double> seconds;
  for (int i = 0; i < options.repeat; ++i) {
    for (const auto& [tensor, original] : updated) tensor.copy_from(original);
    const Clock::time_point start = Clock::now();
    launch(kernel, arguments, launch_options);
    seconds.push_back(seconds_since(start));
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

void write_outputs(const KernelSignature& signature, const std::vector<Argument>& arguments,
                   const RunOptions& options) {
  for (const std::string& text : options.outputs) {
    const auto [name, path] = split_assignment(text, "--output");
    for (size_t i = 0; i < signature.args.size(); ++i) {
      if (signature.args[i].name == name) write_npy(path, arguments[i].tensor());
    }
  }
}

// Before anything is compiled.
void check_outputs(const KernelSignature& signature, const RunOptions& options) {
  std::vector<std::string> names;
  for (const ArgumentSpec& spec : signature.args) {
    if (spec.writes()) names.push_back(spec.name);
  }
  for (const std::string& text : options.outputs) {
    const std::string name = split_assignment(text, "--output").first;
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw ValueError("--output " + text + ": the kernel has no output '" + name + "'" + did_you_mean(name, names) +
                       "; it writes " + join(names));
    }
  }
}

int run(const RunOptions& options) {
  const tile::Program program = read_program(options.file);
  const Clock::time_point start = Clock::now();
  const std::shared_ptr<const Kernel> kernel = compile::jit(program, options.kernel);
  const double compile_seconds = seconds_since(start);
  const KernelSignature& signature = kernel->signature();
  check_outputs(signature, options);
  const PreparedArguments arguments = prepare_arguments(signature, options.arguments);
  const std::vector<double> seconds = launch_repeatedly(*kernel, arguments.values, options);
  write_outputs(signature, arguments.values, options);

  const int threads = options.threads > 0 ? options.threads : num_threads();
  const double median = seconds[seconds.size() / 2];
  if (options.json) {
    nlohmann::json outputs = nlohmann::json::array();
    for (size_t i = 0; i < signature.args.size(); ++i) {
      if (!signature.args[i].writes()) continue;
      const Tensor& tensor = arguments.values[i].tensor();
      const Checksum sum = checksum(tensor);
      outputs.push_back({{"name", signature.args[i].name},
                         {"dtype", name(tensor.dtype())},
                         {"shape", tensor.shape().to_vector()},
                         {"sum", sum.sum},
                         {"largest_magnitude", sum.largest},
                         {"nans", sum.nans},
                         {"sha256", sum.sha256}});
    }
    std::cout << nlohmann::json{{"kernel", signature.name},
                                {"target", signature.target},
                                {"threads", threads},
                                {"sizes", arguments.sizes},
                                {"compile_seconds", compile_seconds},
                                {"seconds", {{"median", median}, {"minimum", seconds.front()}}},
                                {"outputs", outputs}}
                     .dump(2)
              << '\n';
    return kSuccess;
  }
  std::cout << fmt::format("kernel {}", signature.name);
  for (const auto& [symbol, size] : arguments.sizes) std::cout << fmt::format(" {}={}", symbol, size);
  std::cout << fmt::format(", {} thread{}, target {}\n", threads, threads == 1 ? "" : "s", signature.target);
  std::cout << fmt::format("compiled or loaded in {}\n", time_text(compile_seconds));
  std::cout << fmt::format("ran in {} (median of {}, least {})\n", time_text(median), seconds.size(),
                           time_text(seconds.front()));
  for (size_t i = 0; i < signature.args.size(); ++i) {
    if (!signature.args[i].writes()) continue;
    const Tensor& tensor = arguments.values[i].tensor();
    const Checksum sum = checksum(tensor);
    std::cout << fmt::format("{} = {}: sum {:.9g}, largest magnitude {:.9g}{}, sha256 {}\n", signature.args[i].name,
                             tensor.description(), sum.sum, sum.largest,
                             sum.nans > 0 ? fmt::format(", {} NaN", sum.nans) : "", sum.sha256);
  }
  return kSuccess;
}

}  // namespace

void add_tile_run(CLI::App& parent, Action& action) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* app = parent.add_subcommand("run", "Compile a kernel and run it on files or random values");
  app->add_option("FILE", options->file, "The program (.mlir), or - for standard input")->type_name("")->required();
  app->add_option("--kernel", options->kernel, "Which kernel, where the program has several")->type_name("NAME");
  app->add_option("--dim", options->arguments.dims, "The size of a named dimension (default: 256)")
      ->type_name("NAME=SIZE")
      ->allow_extra_args(false);
  app->add_option("--input", options->arguments.inputs,
                  "A tensor from a .npy file, or a scalar's value (default: random, 1)")
      ->type_name("NAME=FILE|VALUE")
      ->allow_extra_args(false);
  app->add_option("--output", options->outputs, "Write a tensor to a .npy file")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
  app->add_option("--threads", options->threads, "Worker threads (default: all)")
      ->check(CLI::Range(1, kMaxThreads).description(""))
      ->type_name("N");
  app->add_option("--repeat", options->repeat, "How often to run")
      ->check(CLI::Range(1, 1000000).description(""))
      ->type_name("N")
      ->capture_default_str();
  app->add_option("--seed", options->arguments.seed, "Of the random values")->type_name("N")->capture_default_str();
  app->add_flag("--json", options->json, "Print JSON");
  app->footer("Example: deepaccel tile run gemm.mlir --dim M=1024 --dim N=1024 --input A=a.npy --output C=c.npy");
  app->callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace deep_accel::cli
