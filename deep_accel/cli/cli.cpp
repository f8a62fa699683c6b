// The root of the command: its sub-commands, and what becomes of errors.
#include "deep_accel/cli/cli.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <string>

#include "deep_accel/base/error.h"
#include "deep_accel/cli/command.h"
#include "deep_accel/cli/interrupt.h"

namespace deep_accel::cli {
namespace {

int report(const std::string& message, int status) {
  std::cout.flush();
  std::cerr << "deepaccel: error: " << message << (message.ends_with('\n') ? "" : "\n");
  return status;
}

// The sub-command that the command line got to, as it would be written: "deepaccel tile run".
std::string chosen_command(const CLI::App& app) {
  std::string text = app.get_name();
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    text += " " + at->get_name();
  }
  return text;
}

// Runs the chosen action; what it throws becomes a message and an exit status.
int run(const Action& action) {
  try {
    const int status = action();
    std::cout.flush();
    if (!std::cout) return report("standard output could not be written", kFailure);
    return status;
  } catch (const Interrupted&) {
    std::cout.flush();
    std::cerr << "deepaccel: interrupted\n";
    return kInterrupted;
  } catch (const OutOfMemoryError& error) {
    return report(error.what(), kFailure);
  } catch (const ShapeError& error) {
    return report(error.what(), kBadInput);
  } catch (const TypeError& error) {
    return report(error.what(), kBadInput);
  } catch (const ValueError& error) {
    return report(error.what(), kBadInput);
  } catch (const IndexError& error) {
    return report(error.what(), kBadInput);
  } catch (const UnsupportedError& error) {
    return report(error.what(), kBadInput);
  } catch (const IoError& error) {
    return report(error.what(), kBadInput);
  } catch (const std::bad_alloc&) {
    return report("out of memory", kFailure);
  } catch (const std::exception& error) {
    return report(error.what(), kFailure);
  }
}

}  // namespace

int cli_main(int argc, const char* const* argv) {
  install_interrupt_handler();
  CLI::App app("DeepAccel: kernels, models and machines.", "deepaccel");
  app.require_subcommand(1);
  app.set_version_flag("--version", "deepaccel " DEEP_ACCEL_VERSION);
  app.get_formatter()->column_width(34);
  app.footer(
      "Every sub-command explains itself: deepaccel SUBCOMMAND --help.\n"
      "Exit status: 0 success, 1 a failed check, 2 bad usage or input, 130 interrupted.");
  Action action;
  add_info(app, action);
  add_cache(app, action);
  add_tile(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {  // --help and --version
    app.exit(help);
    std::cout.flush();
    return std::cout ? kSuccess : report("standard output could not be written", kFailure);
  } catch (const CLI::ParseError& error) {
    return report(std::string(error.what()) + "\nTry '" + chosen_command(app) + " --help'.", kBadInput);
  }
  return run(action);
}

}  // namespace deep_accel::cli
