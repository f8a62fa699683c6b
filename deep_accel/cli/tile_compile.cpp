// `deepaccel tile compile`: ahead of time, to an object file, a shared library, assembly or LLVM IR.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <optional>

#include "deep_accel/base/error.h"
#include "deep_accel/base/files.h"
#include "deep_accel/base/text.h"
#include "deep_accel/cli/command.h"
#include "deep_accel/cli/program_file.h"
#include "deep_accel/compile/compiler.h"

namespace deep_accel::cli {
namespace {

enum class Emit { object, library, assembly, llvm };

struct CompileOptions {
  std::string file;
  std::string output;
  bool list_targets = false;
  std::optional<Emit> emit;
  compile::Options compiler;
};

// From the name of the output.
Emit emit_for(const std::string& output) {
  const std::string extension = std::filesystem::path(output).extension().string();
  if (extension == ".o") return Emit::object;
  if (extension == ".so") return Emit::library;
  if (extension == ".s") return Emit::assembly;
  if (extension == ".ll") return Emit::llvm;
  throw ValueError("cannot tell from '" + output + "' what to write: end it in .o, .so, .s or .ll, or say --emit");
}

int compile_program(const CompileOptions& options) {
  if (options.list_targets) {
    for (const std::string& name : compile::target_names()) std::cout << name << '\n';
    return kSuccess;
  }
  const bool to_stdout = options.output.empty() || options.output == "-";
  if (to_stdout && !options.emit)
    throw ValueError("say where to write with -o FILE, or what to print with --emit asm or --emit llvm");
  const Emit emit = options.emit ? *options.emit : emit_for(options.output);
  if (to_stdout && (emit == Emit::object || emit == Emit::library)) {
    throw ValueError("a binary is not printed: say where to write it with -o FILE");
  }
  const tile::Program program = read_program(options.file);
  switch (emit) {
    case Emit::object:
      write_file_atomically(options.output, compile::object(program, options.compiler));
      break;
    case Emit::library:
      write_file_atomically(options.output, compile::library(program, options.compiler));
      break;
    case Emit::assembly:
      write_text(options.output, compile::assembly(program, options.compiler));
      break;
    case Emit::llvm:
      write_text(options.output, compile::llvm_ir(program, options.compiler));
      break;
  }
  return kSuccess;
}

}  // namespace

void add_tile_compile(CLI::App& parent, Action& action) {
  auto options = std::make_shared<CompileOptions>();
  CLI::App* app = parent.add_subcommand("compile", "Compile ahead of time, for this machine or another");
  CLI::Option* list = app->add_flag("--list-targets", options->list_targets, "List the targets");
  app->add_option("FILE", options->file, "The program (.mlir), or - for standard input")->type_name("");
  app->add_option("--target", options->compiler.target, "The chip to compile for (default: host)")->type_name("NAME");
  app->add_option("-o,--output", options->output, "Where to write; the ending says what: .o, .so, .s, .ll")
      ->type_name("FILE");
  const std::map<std::string, Emit> kinds{
      {"obj", Emit::object}, {"so", Emit::library}, {"asm", Emit::assembly}, {"llvm", Emit::llvm}};
  app->add_option_function<Emit>(
         "--emit", [options](Emit emit) { options->emit = emit; },
         "What to write: obj, so, asm or llvm (default: from the ending)")
      ->transform(CLI::CheckedTransformer(kinds, CLI::ignore_case).description(""))
      ->type_name("KIND");
  app->add_option("-O,--optimisation", options->compiler.optimisation, "LLVM's level of optimisation")
      ->check(CLI::Range(0, 3).description(""))
      ->type_name("N")
      ->capture_default_str();
  app->callback([&action, options, list] {
    if (list->count() == 0 && options->file.empty()) throw CLI::RequiredError("FILE");
    action = [options] { return compile_program(*options); };
  });
}

}  // namespace deep_accel::cli
