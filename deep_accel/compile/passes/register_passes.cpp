#include "deep_accel/compile/passes/passes.h"

namespace deep_accel::compile {

void register_passes() {
  mlir::registerPass([] { return make_plan_arena_pass(); });
  mlir::registerPass([] { return make_lower_threads_pass(); });
  mlir::registerPass([] { return make_plan_pipeline_pass(); });
}

}  // namespace deep_accel::compile
