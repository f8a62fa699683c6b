// The inside of a Program: an MLIR module and the context that owns its types.
#pragma once

#include <functional>

#include "deep_accel/tile/ir/dialect.h"
#include "deep_accel/tile/program.h"
#include "mlir/IR/OwningOpRef.h"

namespace deep_accel::tile {

struct Program::Impl {
  std::shared_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;

  ~Impl() { module = {}; }
};

// A context with the dialects loaded, threading off (kernels are small, and callers bring their own threads).
std::shared_ptr<mlir::MLIRContext> make_context();

// Collects the diagnostics of a context while it lives, as "file:line:col: error: text" lines, notes below them.
class DiagnosticCollector {
 public:
  explicit DiagnosticCollector(mlir::MLIRContext* context);
  bool empty() const { return text_.empty(); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  mlir::ScopedDiagnosticHandler handler_;
};

// "file:line:col" of a location, "" where it is unknown.
std::string location_text(mlir::Location location);

}  // namespace deep_accel::tile
