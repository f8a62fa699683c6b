#include "deep_accel/cli/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

#include "deep_accel/cli/command.h"

namespace deep_accel::cli {
namespace {

std::atomic<bool> interruptible{false};
std::atomic<bool> interrupt_requested{false};

void on_interrupt(int) {
  if (!interruptible || interrupt_requested.exchange(true)) _exit(kInterrupted);
}

}  // namespace

void install_interrupt_handler() {
  struct sigaction current{};
  if (sigaction(SIGINT, nullptr, &current) != 0 || current.sa_handler == SIG_IGN) return;
  struct sigaction handler{};
  handler.sa_handler = on_interrupt;
  sigaction(SIGINT, &handler, nullptr);
}

InterruptibleScope::InterruptibleScope() {
  interrupt_requested = false;
  interruptible = true;
}

InterruptibleScope::~InterruptibleScope() { interruptible = false; }

bool InterruptibleScope::requested() { return interrupt_requested; }

}  // namespace deep_accel::cli
