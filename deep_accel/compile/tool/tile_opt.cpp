// tile-opt: a program through the compiler, as far as asked. For those who work on the compiler, and for its tests.
//
//   tile-opt [--target=NAME] [--stop-after=PASS] [--print-after-each] [--emit=ir|llvm|asm|object|explain] [FILE]
//   tile-opt --passes
#include <cstdio>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>

#include "deep_accel/base/error.h"
#include "deep_accel/compile/compiler.h"

namespace deep_accel {
namespace {

struct Request {
  compile::Options options;
  std::string emit = "ir";
  std::string file = "-";
  bool list_passes = false;
};

std::optional<std::string> value_of(const std::string& argument, const std::string& name) {
  if (!argument.starts_with("--" + name + "=")) return std::nullopt;
  return argument.substr(name.size() + 3);
}

Request parse(int count, char** arguments) {
  Request request;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (auto target = value_of(argument, "target")) {
      request.options.target = *target;
    } else if (auto pass = value_of(argument, "stop-after")) {
      request.options.stop_after = *pass;
    } else if (auto emit = value_of(argument, "emit")) {
      request.emit = *emit;
    } else if (argument == "--print-after-each") {
      request.options.print_after_each = true;
    } else if (argument == "--passes") {
      request.list_passes = true;
    } else if (argument.starts_with("--")) {
      throw ValueError("unknown option '" + argument +
                       "'; there are --target=, --stop-after=, --emit=, --print-after-each, --passes");
    } else {
      request.file = argument;
    }
  }
  return request;
}

tile::Program read(const std::string& file) {
  if (file != "-") return tile::Program::parse_file(file);
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  return tile::Program::parse(text, "<stdin>");
}

std::string output(const Request& request) {
  const tile::Program program = read(request.file);
  if (request.emit == "ir") return compile::ir(program, request.options);
  if (request.emit == "llvm") return compile::llvm_ir(program, request.options);
  if (request.emit == "asm") return compile::assembly(program, request.options);
  if (request.emit == "explain") return compile::explain(program, request.options) + "\n";
  if (request.emit == "object") {
    const std::vector<std::byte> object = compile::object(program, request.options);
    return std::string(reinterpret_cast<const char*>(object.data()), object.size());
  }
  throw ValueError("cannot emit '" + request.emit + "'; there are ir, llvm, asm, object, explain");
}

void run(const Request& request) {
  if (request.list_passes) {
    for (const compile::PassInfo& pass : compile::passes()) {
      std::printf("%-20s %s\n", pass.name.c_str(), pass.summary.c_str());
    }
    return;
  }
  const std::string text = output(request);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace
}  // namespace deep_accel

int main(int count, char** arguments) {
  try {
    deep_accel::run(deep_accel::parse(count, arguments));
    return 0;
  } catch (const deep_accel::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
