#include "examine.h"

#include <functional>
#include <new>
#include <typeinfo>

#include "deep_accel/base/error.h"
#include "deep_accel/compile/compiler.h"
#include "deep_accel/compile/verify/verify.h"
#include "deep_accel/tile/interpreter/interpreter.h"
#include "deep_accel/tile/program.h"
#include "deep_accel/tile/signature.h"

namespace deep_accel::test {
namespace {

// True where the step went well; what it throws is a refusal, or, where no input should bring it about, a defect.
bool attempt(Examined& result, const std::function<void()>& step) {
  try {
    step();
    return true;
  } catch (const ValueError& error) {
    result.refusal = error.what();
  } catch (const ShapeError& error) {
    result.refusal = error.what();
  } catch (const TypeError& error) {
    result.refusal = error.what();
  } catch (const IndexError& error) {
    result.refusal = error.what();
  } catch (const UnsupportedError& error) {
    result.refusal = error.what();
  } catch (const OutOfMemoryError& error) {
    result.refusal = error.what();
  } catch (const tile::StepLimitError& error) {
    result.refusal = error.what();
  } catch (const std::bad_alloc&) {
    result.refusal = "out of memory";
  } catch (const std::exception& error) {
    result.refusal = result.defect = error.what();
  }
  if (result.refusal.empty()) result.defect = "an error without a message";
  return false;
}

void verify(const tile::Program& program, Examined& result) {
  compile::VerifyOptions options;
  options.cases = 3;
  options.max_steps = 200'000;
  options.threads = {1, 2};
  for (const std::string& kernel : program.kernels()) {
    const compile::VerifyReport report = compile::verify(program, kernel, options);
    if (!report.passed()) result.defect = report.text();
  }
}

}  // namespace

Examined examine(std::string_view text, Effort effort) {
  Examined result;
  std::optional<tile::Program> program;
  result.accepted = attempt(result, [&] {
    program = tile::Program::parse(text, "input.mlir");
    for (const std::string& kernel : program->kernels()) tile::signature_of(*program, kernel);
  });
  if (!result.accepted || effort == Effort::read) return result;
  // The text that we print is a program too.
  attempt(result, [&] {
    const std::string printed = program->text();
    try {
      tile::Program::parse(printed, "printed.mlir");
    } catch (const Error& error) {
      throw std::runtime_error(std::string("what was printed is not read: ") + error.what());
    }
  });
  bool compiles = attempt(result, [&] { compile::ir(*program); });
  attempt(result, [&] { compile::explain(*program); });
  if (!compiles || effort == Effort::passes) return result;
  compile::Options options;
  for (const char* target : {"host", "aarch64-neon"}) {
    options.target = target;
    compiles = attempt(result, [&] { compile::object(*program, options); }) && compiles;
  }
  // Foreign code does with its arguments what it likes: a wrong length is no fault of the compiler's.
  const bool is_guarded = text.find("tile.extern") == std::string_view::npos;
  if (compiles && is_guarded && effort == Effort::run) attempt(result, [&] { verify(*program, result); });
  return result;
}

}  // namespace deep_accel::test
