// What the command does with a text, in one call, for tests that feed it anything at all.
#pragma once

#include <string>
#include <string_view>

namespace deep_accel::test {

// How far to go with a program that is not refused.
enum class Effort {
  read,     // parse, verify, signature
  passes,   // and all passes on MLIR, and explain
  machine,  // and machine code, for the host and another target
  run,      // and hold it against the interpreter: `deepaccel tile verify`
};

struct Examined {
  bool accepted = false;  // the text is a program
  std::string refusal;    // what was said against it, at any depth
  std::string defect;     // not empty: a failure that is ours ("the compiler failed in ...")
};

Examined examine(std::string_view text, Effort effort);

}  // namespace deep_accel::test
