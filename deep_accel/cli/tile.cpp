// `deepaccel tile`: kernels in the tile language.
#include <CLI/CLI.hpp>

#include "deep_accel/cli/command.h"

namespace deep_accel::cli {

void add_tile(CLI::App& parent, Action& action) {
  CLI::App* app = parent.add_subcommand("tile", "Run, verify, compile and explain kernels in the tile language");
  app->require_subcommand(1);
  app->footer("FILE is a program in the text of the tile dialect (.mlir); '-' is standard input.");
  add_tile_run(*app, action);
  add_tile_verify(*app, action);
  add_tile_opt(*app, action);
  add_tile_compile(*app, action);
  add_tile_explain(*app, action);
}

}  // namespace deep_accel::cli
