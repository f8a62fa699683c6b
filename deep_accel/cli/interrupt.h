// Ctrl-C. A launch stops at its next block and the command then ends as usual; elsewhere the process ends at once
// (files appear whole or not at all, so nothing is left behind).
#pragma once

#include <functional>

namespace deep_accel::cli {

// Takes over SIGINT, unless it is ignored (as for jobs that a shell runs in the background).
void install_interrupt_handler();

// While it lives, the first Ctrl-C only sets requested(); the second one ends the process.
class InterruptibleScope {
 public:
  InterruptibleScope();
  ~InterruptibleScope();
  InterruptibleScope(const InterruptibleScope&) = delete;
  InterruptibleScope& operator=(const InterruptibleScope&) = delete;

  static bool requested();
};

}  // namespace deep_accel::cli
