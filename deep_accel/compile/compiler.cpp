// The ways through the compiler.
//
// Each compilation works in a context of its own, into which the program goes as text: contexts are not for several
// threads at a time, and programs that share one may be compiled from many.
#include "deep_accel/compile/compiler.h"

#include "deep_accel/base/error.h"
#include "deep_accel/base/text.h"
#include "deep_accel/compile/explain.h"
#include "deep_accel/compile/machine/image.h"
#include "deep_accel/compile/machine/link.h"
#include "deep_accel/compile/machine/machine_code.h"
#include "deep_accel/compile/machine/to_llvm.h"
#include "deep_accel/compile/pipeline.h"
#include "deep_accel/compile/version.h"
#include "deep_accel/runtime/kernel.h"
#include "deep_accel/runtime/kernel_cache.h"
#include "deep_accel/tile/ir/program_impl.h"
#include "deep_accel/tile/signature.h"

namespace deep_accel::compile {
namespace {

using tile::Program;

std::string text_of(mlir::Operation* op, bool locations) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  mlir::OpPrintingFlags flags;
  flags.useLocalScope();
  if (locations) flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/false);
  op->print(stream, flags);
  return text;
}

// A copy in a context of its own.
Program isolated(const std::string& text) {
  Program copy = Program::parse(text, "program");
  prepare_context(*copy.impl().context);
  return copy;
}

Program isolated(const Program& program) { return isolated(text_of(*program.impl().module, /*locations=*/true)); }

tile::KernelOp find_kernel(const Program& program, const std::string& name) {
  std::vector<tile::KernelOp> kernels;
  program.impl().module->walk([&](tile::KernelOp kernel) { kernels.push_back(kernel); });
  if (name.empty() && kernels.size() == 1) return kernels.front();
  for (tile::KernelOp kernel : kernels) {
    if (kernel.getSymName() == name) return kernel;
  }
  const std::vector<std::string> names = program.kernels();
  if (names.empty()) throw ValueError("the program has no kernels");
  if (name.empty()) throw ValueError("the program has several kernels; name one of " + join(names));
  throw ValueError("the program has no kernel '" + name + "'" + did_you_mean(name, names) + "; it has " + join(names));
}

// LLVM IR after LLVM's passes, with the context that owns it.
struct Code {
  std::unique_ptr<llvm::LLVMContext> context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module;
};

struct Compilation {
  const Target& target;
  MachineCode machine;
  Program program;

  Compilation(Program copy, const Options& options)
      : target(find_target(options.target)), machine(target, options.optimisation), program(std::move(copy)) {}

  Code code() {
    mlir::ModuleOp module = *program.impl().module;
    const size_t after_tiles = first_step_after_tiles();
    run_steps(module, target, 0, after_tiles);
    std::vector<std::pair<std::string, std::string>> signatures;
    module->walk([&](tile::KernelOp kernel) {
      signatures.emplace_back(kernel.getSymName().str(), tile::signature_json(kernel, target.name));
    });
    run_steps(module, target, after_tiles, steps().size());
    Code result;
    {
      tile::DiagnosticCollector diagnostics(module.getContext());
      result.module = translate_to_llvm_ir(module, target, machine.data_layout(), *result.context);
      if (!result.module) throw Error("the compiler failed on the way to LLVM IR: " + diagnostics.text());
    }
    for (const auto& [name, json] : signatures) {
      add_signature(*result.module, signatures.size() == 1 ? "deep_accel_signature" : "deep_accel_signature_" + name,
                    json);
      for (const std::string& symbol : KernelSignature::parse(json).imports) add_import(*result.module, symbol);
    }
    machine.optimise(*result.module);
    return result;
  }

  std::vector<std::byte> object() {
    Code result = code();
    return machine.object(*result.module);
  }
};

// Makes constants of named dimensions, and of what is computed from them.
void fix_sizes(mlir::ModuleOp module, const std::map<std::string, int64_t>& sizes) {
  if (sizes.empty()) return;
  std::vector<std::string> known;
  for (tile::KernelOp kernel : module.getOps<tile::KernelOp>()) {
    for (unsigned index = 0; index < kernel.getArgumentTypes().size(); ++index) {
      if (!mlir::isa<mlir::MemRefType>(kernel.getArgumentTypes()[index])) continue;
      for (llvm::StringRef name : kernel.arg_dims(index)) {
        if (!name.empty() && name != "?" && !llvm::is_contained(known, name)) known.push_back(name.str());
      }
    }
  }
  for (const auto& [name, size] : sizes) {
    if (!llvm::is_contained(known, name)) {
      throw ValueError("no kernel has a dimension named '" + name + "'" + did_you_mean(name, known) +
                       "; there are: " + (known.empty() ? "none" : join(known)));
    }
    if (size < 0) throw ValueError("size '" + name + "' is " + std::to_string(size) + "; sizes are not negative");
  }
  module.walk([&](tile::DimOp dim) {
    auto given = sizes.find(dim.getName().str());
    if (given == sizes.end()) return;
    mlir::OpBuilder builder(dim);
    dim.replaceAllUsesWith(builder.create<mlir::arith::ConstantIndexOp>(dim.getLoc(), given->second).getResult());
    dim.erase();
  });
  run_steps(module, host_target(), 0, 1);  // fold what is computed from them
}

void check_can_run(const Target& target) {
  const Target& host = host_target();
  if (target.triple.substr(0, target.triple.find('-')) != host.triple.substr(0, host.triple.find('-'))) {
    throw UnsupportedError("code for '" + target.name + "' does not run on this machine (" + host.triple +
                           "); ask for an object file, or compile for \"host\"");
  }
}

}  // namespace

std::vector<PassInfo> passes() {
  std::vector<PassInfo> list;
  for (const Step& step : steps()) list.push_back({step.name, step.summary});
  return list;
}

std::vector<std::string> target_names() {
  std::vector<std::string> names = known_targets();
  names.insert(names.begin(), "host");
  return names;
}

std::string ir(const Program& program, const Options& options) {
  size_t last = steps().size();
  if (!options.stop_after.empty()) {
    auto found = llvm::find_if(steps(), [&](const Step& step) { return step.name == options.stop_after; });
    if (found == steps().end()) {
      std::vector<std::string> names;
      for (const Step& step : steps()) names.push_back(step.name);
      throw ValueError("there is no pass '" + options.stop_after + "' to stop after" +
                       did_you_mean(options.stop_after, names) + "; there are: " + join(names));
    }
    last = static_cast<size_t>(found - steps().begin()) + 1;
  }
  Program copy = isolated(program);
  std::string text;
  run_steps(*copy.impl().module, find_target(options.target), 0, last, [&](const Step& step) {
    if (options.print_after_each) text += "// After " + step.name + ": " + step.summary + "\n" + copy.text() + "\n";
  });
  return options.print_after_each ? text : copy.text();
}

std::string llvm_ir(const Program& program, const Options& options) {
  Compilation compilation(isolated(program), options);
  Code code = compilation.code();
  std::string text;
  llvm::raw_string_ostream stream(text);
  code.module->print(stream, nullptr);
  return text;
}

std::string assembly(const Program& program, const Options& options) {
  Compilation compilation(isolated(program), options);
  Code code = compilation.code();
  return compilation.machine.assembly(*code.module);
}

std::vector<std::byte> object(const Program& program, const Options& options) {
  return Compilation(isolated(program), options).object();
}

std::vector<std::byte> library(const Program& program, const Options& options) {
  find_kernel(program, "");
  check_can_run(find_target(options.target));
  return link_library(object(program, options));
}

std::shared_ptr<const Kernel> jit(const Program& program, const std::string& name, const Options& options) {
  tile::KernelOp kernel = find_kernel(program, name);
  const Target& target = find_target(options.target);
  check_can_run(target);
  const KernelKey key{.ir = text_of(kernel, /*locations=*/false),
                      .options = "target=" + target.name + " optimisation=" + std::to_string(options.optimisation),
                      .compiler = version(),
                      .features = target.triple + " " + target.cpu + " " + target.features};
  return KernelCache::instance().get(
      key, [&] { return link_library(Compilation(isolated(text_of(kernel, /*locations=*/true)), options).object()); });
}

std::string explain(const Program& program, const Options& options, const std::map<std::string, int64_t>& sizes) {
  const Target& target = find_target(options.target);
  Program decided = isolated(program);
  Program written = decided.clone();
  fix_sizes(*written.impl().module, sizes);
  const size_t on_tiles = first_step_after_tiles();
  run_steps(*decided.impl().module, target, 0, on_tiles);
  Program lowered = decided.clone();
  run_steps(*lowered.impl().module, target, on_tiles, on_tiles + 1);
  return explanation({*written.impl().module, *decided.impl().module, *lowered.impl().module}, sizes, target);
}

}  // namespace deep_accel::compile
