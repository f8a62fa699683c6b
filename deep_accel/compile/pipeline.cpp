// The list of passes.
#include "deep_accel/compile/pipeline.h"

#include "deep_accel/base/error.h"
#include "deep_accel/compile/lower/lower.h"
#include "deep_accel/compile/machine/to_llvm.h"
#include "deep_accel/compile/passes/flatten_branches.h"
#include "deep_accel/compile/passes/forward_loads.h"
#include "deep_accel/compile/passes/fuse_maps.h"
#include "deep_accel/compile/passes/fuse_rows.h"
#include "deep_accel/compile/passes/guard_accesses.h"
#include "deep_accel/compile/passes/keep_factors.h"
#include "deep_accel/compile/passes/limit_products.h"
#include "deep_accel/compile/passes/lower_moves.h"
#include "deep_accel/compile/passes/passes.h"
#include "deep_accel/compile/passes/select_layouts.h"
#include "deep_accel/compile/passes/split_interior.h"
#include "deep_accel/compile/passes/strip_products.h"
#include "deep_accel/tile/ir/program_impl.h"
#include "mlir/Transforms/Passes.h"

namespace deep_accel::compile {
namespace {

using Passes = mlir::PassManager;

void add_simplify(Passes& passes, const Target&) {
  passes.addPass(mlir::createCanonicalizerPass());
  passes.addPass(mlir::createCSEPass());
}

template <typename Make>
auto adding(Make make) {
  return [make](Passes& passes, const Target&) { passes.addPass(make()); };
}

// A function on modules as a pass.
class FunctionPass : public mlir::PassWrapper<FunctionPass, mlir::OperationPass<mlir::ModuleOp>> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FunctionPass)
  using Function = std::function<mlir::LogicalResult(mlir::ModuleOp)>;
  explicit FunctionPass(Function function) : function_(std::move(function)) {}
  void runOnOperation() override {
    if (mlir::failed(function_(getOperation()))) signalPassFailure();
  }

 private:
  Function function_;
};

template <typename Function>
auto on_module(Function function) {
  return [function](Passes& passes, const Target& target) {
    passes.addPass(std::make_unique<FunctionPass>(
        [function, &target](mlir::ModuleOp module) { return function(module, target); }));
  };
}

template <typename Function>
auto on_each_kernel(Function function) {
  return on_module([function](mlir::ModuleOp module, const Target& target) {
    for (tile::KernelOp kernel : llvm::to_vector(module.getOps<tile::KernelOp>())) function(kernel, target);
    return mlir::success();
  });
}

[[noreturn]] void refuse(const Step& step, const Target& target, const std::string& diagnostics) {
  const std::string text = diagnostics.empty() ? "the step '" + step.name + "' failed without a word" : diagnostics;
  if (text.substr(0, text.find('\n')).find("not supported") != std::string::npos) {
    throw UnsupportedError(text + " (target '" + target.name + "')");
  }
  if (step.level == Level::tiles && !diagnostics.empty()) throw ValueError(text);
  throw Error("the compiler failed in the step '" + step.name + "': " + text);
}

}  // namespace

const std::vector<Step>& steps() {
  static const std::vector<Step> list = {
      {"simplify", "fold constants, drop what is not used or is there twice", Level::tiles, add_simplify},
      {"guard-accesses", "check indices that the data decide, so that a kernel touches no memory but its own",
       Level::tiles, on_each_kernel([](tile::KernelOp kernel, const Target&) { guard_accesses(kernel); })},
      {"select-layouts", "choose register tiles, and how the tiles that products read lie in memory", Level::tiles,
       on_each_kernel(select_layouts)},
      {"lower-threads", "turn code for threads into maps, cut at the barriers", Level::tiles,
       adding([] { return make_lower_threads_pass(); })},
      {"plan-pipeline", "turn pipelines into loops, with prefetches where the hardware would not foresee the addresses",
       Level::tiles, adding([] { return make_plan_pipeline_pass(); })},
      {"limit-products", "end products where their tensors end", Level::tiles,
       on_each_kernel([](tile::KernelOp kernel, const Target&) { limit_products(kernel); })},
      {"keep-factors", "keep packed factors of products for the blocks that share them", Level::tiles,
       on_each_kernel(keep_factors)},
      {"strip-products", "load left factors of products a strip of rows at a time, as the register tiles need them",
       Level::tiles, on_each_kernel([](tile::KernelOp kernel, const Target&) { strip_products(kernel); })},
      {"flatten-branches", "let maps compute both of two values and choose, where that does no harm", Level::tiles,
       on_each_kernel([](tile::KernelOp kernel, const Target&) { flatten_branches(kernel); })},
      {"lower-moves", "turn moves, reductions and scans into maps, with interior and edge apart", Level::tiles,
       on_each_kernel([](tile::KernelOp kernel, const Target&) { lower_moves(kernel); })},
      {"simplify-moves", "drop questions that are asked twice", Level::tiles, add_simplify},
      {"split-interior", "ask once for a block whether its windows lie inside their tensors", Level::tiles,
       on_each_kernel([](tile::KernelOp kernel, const Target&) { split_interior(kernel); })},
      {"fuse-maps", "join maps over one index space; what one writes the next finds in registers", Level::tiles,
       on_each_kernel([](tile::KernelOp kernel, const Target&) { fuse_maps(kernel); })},
      {"forward-loads", "read inputs where they are rather than in a tile that is their copy", Level::tiles,
       on_each_kernel([](tile::KernelOp kernel, const Target&) { forward_loads(kernel); })},
      {"fuse-rows", "run maps over the same long rows row by row", Level::tiles,
       on_each_kernel([](tile::KernelOp kernel, const Target&) { fuse_rows(kernel); })},
      {"simplify-maps", "drop what joining and splitting left behind", Level::tiles, add_simplify},
      {"plan-arena", "place each block's tiles in one arena, where tiles of different times share memory", Level::tiles,
       adding([] { return make_plan_arena_pass(); })},
      {"lower-kernels", "turn each phase into a function on scalars and vectors", Level::functions,
       on_module(lower_kernels)},
      {"simplify-functions", "the same, once loops and vectors are explicit", Level::functions, add_simplify},
      {"convert-to-llvm", "expand elementary functions; upstream's conversions to the LLVM dialect", Level::llvm,
       add_conversion_to_llvm},
  };
  return list;
}

size_t first_step_after_tiles() {
  auto after = llvm::find_if(steps(), [](const Step& step) { return step.level != Level::tiles; });
  return static_cast<size_t>(after - steps().begin());
}

void run_steps(mlir::ModuleOp module, const Target& target, size_t first, size_t last,
               const std::function<void(const Step&)>& after) {
  tile::DiagnosticCollector diagnostics(module.getContext());
  for (size_t i = first; i < last; ++i) {
    const Step& step = steps()[i];
    Passes passes(module.getContext());
    step.add(passes, target);
    if (mlir::failed(passes.run(module))) refuse(step, target, diagnostics.text());
    if (after) after(step);
  }
}

}  // namespace deep_accel::compile
