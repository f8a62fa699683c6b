// Parsing and printing of programs, and the collection of MLIR's diagnostics into our errors.
#include "deep_accel/tile/program.h"

#include <fstream>
#include <sstream>

#include "deep_accel/base/error.h"
#include "deep_accel/tile/ir/program_impl.h"
#include "deep_accel/tile/text_limits.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

namespace deep_accel::tile {

std::shared_ptr<mlir::MLIRContext> make_context() {
  mlir::DialectRegistry registry;
  register_dialects(registry);
  auto context = std::make_shared<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

std::string location_text(mlir::Location location) {
  std::string found;
  location->walk([&](mlir::Location inner) {
    auto file = mlir::dyn_cast<mlir::FileLineColLoc>(inner);
    if (!file) return mlir::WalkResult::advance();
    found = file.getFilename().str() + ":" + std::to_string(file.getLine()) + ":" + std::to_string(file.getColumn());
    return mlir::WalkResult::interrupt();
  });
  return found;
}

DiagnosticCollector::DiagnosticCollector(mlir::MLIRContext* context)
    : handler_(context, [this](mlir::Diagnostic& diagnostic) {
        auto add = [this](mlir::Diagnostic& part, const char* indent) {
          if (part.getSeverity() == mlir::DiagnosticSeverity::Note &&
              llvm::StringRef(part.str()).starts_with("see current operation")) {
            return;
          }
          if (!text_.empty()) text_ += "\n";
          std::string where = location_text(part.getLocation());
          text_ += indent;
          if (!where.empty()) text_ += where + ": ";
          if (part.getSeverity() == mlir::DiagnosticSeverity::Note) text_ += "note: ";
          text_ += part.str();
        };
        add(diagnostic, "");
        for (mlir::Diagnostic& note : diagnostic.getNotes()) add(note, "  ");
        return mlir::success();
      }) {}

Program::Program(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Program Program::parse(std::string_view text, std::string_view name) {
  if (auto problem = text_problem(text)) throw ValueError(std::string(name) + ":" + *problem);
  auto impl = std::make_shared<Impl>();
  impl->context = make_context();
  DiagnosticCollector diagnostics(impl->context.get());
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(text.data(), text.size()),
                                                                  llvm::StringRef(name.data(), name.size())),
                             llvm::SMLoc());
  impl->module = mlir::parseSourceFile<mlir::ModuleOp>(sources, mlir::ParserConfig(impl->context.get()));
  if (!impl->module || mlir::failed(verify_program(*impl->module))) {
    throw ValueError(diagnostics.empty() ? std::string(name) + ": not a program of the tile dialect"
                                         : diagnostics.text());
  }
  return Program(std::move(impl));
}

Program Program::parse_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    throw IoError("cannot read '" + path + "': no such file, or no permission; give the path of a .mlir file");
  }
  return parse(text.str(), path);
}

std::string Program::text(bool locations) const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  mlir::OpPrintingFlags flags;
  if (locations) flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/false);
  impl_->module->print(stream, flags);
  stream << "\n";
  return text;
}

std::vector<std::string> Program::kernels() const {
  std::vector<std::string> names;
  impl_->module->walk([&](KernelOp kernel) { names.push_back(kernel.getSymName().str()); });
  return names;
}

Program Program::clone() const {
  auto impl = std::make_shared<Impl>();
  impl->context = impl_->context;
  impl->module = impl_->module->clone();
  return Program(std::move(impl));
}

}  // namespace deep_accel::tile
