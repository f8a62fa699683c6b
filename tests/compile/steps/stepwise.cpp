#include "stepwise.h"

#include "deep_accel/compile/machine/to_llvm.h"
#include "deep_accel/compile/pipeline.h"
#include "deep_accel/tile/ir/program_impl.h"

namespace deep_accel::compile::test {

void after_each_step(const tile::Program& program, const std::string& target,
                     const std::function<void(const std::string& step, const tile::Program& lowered)>& look) {
  const tile::Program copy = tile::Program::parse(program.text(/*locations=*/true), "copy");
  prepare_context(*copy.impl().context);
  run_steps(*copy.impl().module, find_target(target), 0, first_step_after_tiles(),
            [&](const Step& step) { look(step.name, copy); });
}

}  // namespace deep_accel::compile::test
