// `deepaccel tile explain`: what the compiler decided for a kernel and why.
#include <CLI/CLI.hpp>

#include "deep_accel/cli/arguments.h"
#include "deep_accel/cli/command.h"
#include "deep_accel/cli/explain_text.h"
#include "deep_accel/cli/program_file.h"
#include "deep_accel/compile/compiler.h"

namespace deep_accel::cli {
namespace {

struct ExplainOptions {
  std::string file;
  bool json = false;
  std::vector<std::string> dims;
  compile::Options compiler;
};

int explain(const ExplainOptions& options) {
  const std::string report = compile::explain(read_program(options.file), options.compiler, parse_sizes(options.dims));
  write_text("", options.json ? report : explain_text(report));
  return kSuccess;
}

}  // namespace

void add_tile_explain(CLI::App& parent, Action& action) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* app = parent.add_subcommand("explain", "Say what the compiler decided and why, and how fast it should be");
  app->add_option("FILE", options->file, "The program (.mlir), or - for standard input")->type_name("")->required();
  app->add_option("--target", options->compiler.target, "The chip to compile for (default: host)")->type_name("NAME");
  app->add_option("--dim", options->dims, "The size of a named dimension, to estimate a whole launch")
      ->type_name("NAME=SIZE")
      ->allow_extra_args(false);
  app->add_flag("--json", options->json, "Print JSON");
  app->footer(
      "Peaks of this machine stand for the host once they were measured (deepaccel info); nominal ones otherwise.");
  app->callback([&action, options] { action = [options] { return explain(*options); }; });
}

}  // namespace deep_accel::cli
