// A program after each of the compiler's steps on tiles.
#pragma once

#include <functional>
#include <string>

#include "deep_accel/tile/program.h"

namespace deep_accel::compile::test {

// Compiles a copy step by step and calls `look` after each step on tiles, with the step's name and the program as it is
// then.
void after_each_step(const tile::Program& program, const std::string& target,
                     const std::function<void(const std::string& step, const tile::Program& lowered)>& look);

}  // namespace deep_accel::compile::test
