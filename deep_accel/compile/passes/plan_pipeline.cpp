// What overlap of a pipeline's iterations means on a CPU. An out-of-order core already overlaps the arithmetic of one
// iteration with the loads of the next, as far as the cache delivers; what it cannot foresee is addresses that come
// from memory and short rows far apart, and it never looks past a whole product. So a pipeline becomes the plain loop,
// which no hazard can disturb, with prefetches: `stages - 1` iterations ahead for what is not foreseen, and line by
// line during a product for what the next iteration loads.
#include "deep_accel/compile/passes/async_loads.h"
#include "deep_accel/compile/passes/decisions.h"
#include "deep_accel/compile/passes/passes.h"
#include "deep_accel/compile/passes/prefetch_plan.h"
#include "deep_accel/tile/ir/program_impl.h"

namespace deep_accel::compile {
namespace {

using mlir::Operation;
using mlir::Value;
namespace arith = mlir::arith;
namespace scf = mlir::scf;

std::string names(const llvm::SetVector<Value>& buffers) {
  return llvm::join(llvm::map_range(buffers, [](Value buffer) { return tile::buffer_name(buffer); }), ", ");
}

// Why iterations stay in order: "'a', 'b' are refilled after they are read; 'acc' is carried".
std::string describe(const LoopHazards& loop) {
  llvm::SetVector<Value> refilled, carried;
  for (const Hazard& hazard : loop.hazards()) {
    if (!hazard.across_back_edge) continue;
    if (hazard.kind == HazardKind::ReadAfterWrite) carried.insert(hazard.buffer);
    if (hazard.kind == HazardKind::WriteAfterRead && hazard.first != hazard.second) refilled.insert(hazard.buffer);
  }
  for (Value buffer : carried) refilled.remove(buffer);
  llvm::SmallVector<std::string> parts;
  if (!refilled.empty()) parts.push_back(names(refilled) + " refilled after the last read");
  if (!carried.empty()) parts.push_back(names(carried) + " carried");
  if (!loop.ordered().empty()) {
    parts.push_back(loop.ordered().front()->getName().getStringRef().str() + " observed in order");
  }
  return llvm::join(parts, ", ");
}

// `if (k + distance < upper) { prefetches for iteration k + distance }` at the top of the body.
void emit_prefetches(tile::PipelineOp pipeline, Value distance, llvm::ArrayRef<FutureWindow> windows) {
  auto builder = mlir::ImplicitLocOpBuilder::atBlockBegin(pipeline.getLoc(), &pipeline.getBody().front());
  Value future = builder.create<arith::AddIOp>(pipeline.induction_variable(), distance);
  Value runs = builder.create<arith::CmpIOp>(arith::CmpIPredicate::slt, future, pipeline.getUpper());
  auto guard = builder.create<scf::IfOp>(runs, /*withElseRegion=*/false);
  builder.setInsertionPointToStart(guard.thenBlock());
  mlir::IRMapping mapping;
  mapping.map(pipeline.induction_variable(), future);
  for (const FutureWindow& window : windows) window.emit(builder, mapping);
}

// Before a product: prefetches of the next iteration's window, for the product to issue while it computes. In the last
// iteration they name the window that is there already, which is cheaper than a second product without them.
void emit_during(tile::PipelineOp pipeline, tile::GemmOp product, const FutureWindow& window) {
  mlir::ImplicitLocOpBuilder builder(pipeline.getLoc(), product);
  Value now = pipeline.induction_variable();
  Value next = builder.create<arith::AddIOp>(now, pipeline.getStep());
  Value runs = builder.create<arith::CmpIOp>(arith::CmpIPredicate::slt, next, pipeline.getUpper());
  mlir::IRMapping mapping;
  mapping.map(now, builder.create<arith::SelectOp>(runs, next, now).getResult());
  window.emit(builder, mapping, PrefetchHost::product);
}

void lower_to_loop(tile::PipelineOp pipeline) {
  mlir::OpBuilder builder(pipeline);
  auto loop =
      builder.create<scf::ForOp>(pipeline.getLoc(), pipeline.getLower(), pipeline.getUpper(), pipeline.getStep());
  mlir::Block& from = pipeline.getBody().front();
  mlir::Block* to = loop.getBody();
  from.getArgument(0).replaceAllUsesWith(loop.getInductionVar());
  to->getOperations().splice(to->begin(), from.getOperations());
  pipeline.erase();
}

std::string count_text(int64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

void plan(tile::PipelineOp pipeline) {
  mlir::Block& body = pipeline.getBody().front();
  const int64_t stages = static_cast<int64_t>(pipeline.getStages());
  const std::string where = tile::location_text(pipeline.getLoc());
  std::string text = "pipeline" + (where.empty() ? "" : " at " + where) + ": " + count_text(stages, "stage");
  if (pipeline.getStage() || pipeline.getOrder()) text += ", placed by hand";
  if (stages <= 1) {
    note_decision(pipeline, text + ", the plain loop");
    return lower_to_loop(pipeline);
  }

  const LoopHazards hazards(body);
  llvm::SmallVector<FutureWindow> windows;
  std::vector<std::pair<tile::GemmOp, FutureWindow>> hidden;
  for (Operation& op : body) {
    std::optional<PrefetchDecision> decision = decide_prefetch(&op, body, hazards);
    if (!decision) continue;
    text += "; " + decision->text;
    if (!decision->window) continue;
    text += " " + count_text(decision->during ? 1 : stages - 1, "iteration") + " ahead";
    if (decision->during) {
      hidden.emplace_back(decision->during, std::move(*decision->window));
    } else {
      windows.push_back(std::move(*decision->window));
    }
  }
  for (const auto& [product, window] : hidden) emit_during(pipeline, product, window);
  const std::string reasons = describe(hazards);
  text += "; iterations run in order" + (reasons.empty() ? "" : ": " + reasons);
  note_decision(pipeline, text);

  if (!windows.empty()) {
    auto builder = mlir::ImplicitLocOpBuilder(pipeline.getLoc(), pipeline);
    Value ahead = builder.create<arith::ConstantIndexOp>(stages - 1);
    Value distance = builder.createOrFold<arith::MulIOp>(pipeline.getStep(), ahead);
    emit_prefetches(pipeline, distance, windows);
  }
  lower_to_loop(pipeline);
}

class PlanPipeline : public mlir::PassWrapper<PlanPipeline, mlir::OperationPass<>> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PlanPipeline)

  llvm::StringRef getArgument() const final { return "plan-pipeline"; }
  llvm::StringRef getDescription() const final { return "turn pipelines into loops with prefetches ahead"; }

  void runOnOperation() final {
    if (failed(lower_async_loads(getOperation()))) return signalPassFailure();
    // Inner ones first: an outer loop sees them as one statement.
    llvm::SmallVector<tile::PipelineOp> pipelines;
    getOperation()->walk([&](tile::PipelineOp pipeline) { pipelines.push_back(pipeline); });
    for (tile::PipelineOp pipeline : pipelines) plan(pipeline);
  }
};

}  // namespace

std::unique_ptr<mlir::Pass> make_plan_pipeline_pass() { return std::make_unique<PlanPipeline>(); }

}  // namespace deep_accel::compile
