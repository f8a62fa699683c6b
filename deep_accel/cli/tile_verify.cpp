// `deepaccel tile verify`: the compiled kernel against the interpreter.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "deep_accel/base/error.h"
#include "deep_accel/cli/arguments.h"
#include "deep_accel/cli/command.h"
#include "deep_accel/cli/program_file.h"
#include "deep_accel/compile/verify/verify.h"

namespace deep_accel::cli {
namespace {

struct VerifyCommand {
  std::string file;
  std::string kernel;
  std::vector<std::string> dims;
  compile::VerifyOptions verify;
  bool json = false;
};

int verify_program(VerifyCommand command) {
  const tile::Program program = read_program(command.file);
  command.verify.sizes = parse_sizes(command.dims);
  const std::vector<std::string> kernels =
      command.kernel.empty() ? program.kernels() : std::vector<std::string>{command.kernel};
  if (kernels.empty()) throw ValueError(command.file + " has no kernels");
  bool passed = true;
  nlohmann::json reports = nlohmann::json::array();
  for (const std::string& kernel : kernels) {
    const compile::VerifyReport report = compile::verify(program, kernel, command.verify);
    passed = passed && report.passed();
    if (command.json) {
      reports.push_back(nlohmann::json::parse(report.json()));
    } else {
      const std::string text = report.text();
      std::cout << text << (text.ends_with('\n') ? "" : "\n") << std::flush;
    }
  }
  if (command.json) std::cout << nlohmann::json{{"passed", passed}, {"kernels", reports}}.dump(2) << '\n';
  return passed ? kSuccess : kFailure;
}

}  // namespace

void add_tile_verify(CLI::App& parent, Action& action) {
  auto command = std::make_shared<VerifyCommand>();
  CLI::App* app =
      parent.add_subcommand("verify", "Hold a compiled kernel against the interpreter, on random and edge sizes");
  app->add_option("FILE", command->file, "The program (.mlir), or - for standard input")->type_name("")->required();
  app->add_option("--kernel", command->kernel, "Only this kernel (default: each one)")->type_name("NAME");
  app->add_option("--dim", command->dims, "Hold a named dimension at a size (default: several sizes)")
      ->type_name("NAME=SIZE")
      ->allow_extra_args(false);
  app->add_option("--cases", command->verify.cases, "How many sets of sizes")
      ->check(CLI::Range(1, 10000).description(""))
      ->type_name("N")
      ->capture_default_str();
  app->add_option("--seed", command->verify.seed, "Of the random values")->type_name("N")->capture_default_str();
  app->add_option("--target", command->verify.target,
                  "The chip to compile for; must be able to run here (default: host)")
      ->type_name("NAME");
  app->add_option("--threads", command->verify.threads, "Numbers of threads whose results must agree")
      ->check(CLI::Range(1, 1024).description(""))
      ->delimiter(',')
      ->type_name("N,...")
      ->capture_default_str();
  app->add_flag("--json", command->json, "Print JSON");
  app->callback([&action, command] { action = [command] { return verify_program(*command); }; });
}

}  // namespace deep_accel::cli
