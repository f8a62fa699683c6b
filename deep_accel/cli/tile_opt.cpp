// `deepaccel tile opt`: the program's text after some or all of the compiler's passes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "deep_accel/cli/command.h"
#include "deep_accel/cli/program_file.h"
#include "deep_accel/compile/compiler.h"

namespace deep_accel::cli {
namespace {

struct OptOptions {
  std::string file;
  std::string output;
  bool list = false;
  bool parse_only = false;
  bool locations = false;
  compile::Options compiler;
};

int opt(const OptOptions& options) {
  if (options.list) {
    for (const compile::PassInfo& pass : compile::passes()) {
      std::cout << fmt::format("{:<24}{}\n", pass.name, pass.summary);
    }
    return kSuccess;
  }
  const tile::Program program = read_program(options.file);
  write_text(options.output,
             options.parse_only ? program.text(options.locations) : compile::ir(program, options.compiler));
  return kSuccess;
}

}  // namespace

void add_tile_opt(CLI::App& parent, Action& action) {
  auto options = std::make_shared<OptOptions>();
  CLI::App* app = parent.add_subcommand("opt", "Run the compiler's passes and print the program");
  CLI::Option* list = app->add_flag("--list", options->list, "List the passes in their order");
  app->add_option("FILE", options->file, "The program (.mlir), or - for standard input")->type_name("");
  app->add_option("--stop-after", options->compiler.stop_after, "Stop after this pass")->type_name("PASS");
  app->add_flag("--print-after-each", options->compiler.print_after_each, "Print the program after each pass");
  app->add_flag("--parse-only", options->parse_only, "Run no pass: parse, verify, and print");
  app->add_flag("--locations", options->locations, "With --parse-only: print where each operation was written");
  app->add_option("--target", options->compiler.target, "The chip to compile for (default: host)")->type_name("NAME");
  app->add_option("-o,--output", options->output, "Write to this file rather than to standard output")
      ->type_name("FILE");
  app->callback([&action, options, list] {
    if (list->count() == 0 && options->file.empty()) throw CLI::RequiredError("FILE");
    action = [options] { return opt(*options); };
  });
}

}  // namespace deep_accel::cli
