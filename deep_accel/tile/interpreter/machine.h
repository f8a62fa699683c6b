// The machine that runs decoded kernels: registers, a flat list of instructions, access to elements with every check.
//
// Structured control flow is decoded into jumps, so that a thread is its registers and a program counter, and can stop
// at a barrier anywhere.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "deep_accel/base/error.h"
#include "deep_accel/tile/interpreter/interpreter.h"
#include "deep_accel/tile/interpreter/memory.h"
#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::tile::interpreter {

using Slot = uint32_t;
using Site = uint32_t;

class Machine;

// Why a thread stopped before its end.
struct Wait {
  enum class Kind { none, barrier, shuffle, vote };
  Kind kind = Kind::none;
  mlir::Operation* op = nullptr;
  int64_t id = -1, count = 0;  // of a barrier for a part of the threads
  int64_t width = 0;           // of the group of a shuffle or vote
  Scalar value;                // what the thread brings
  int64_t lane = 0;            // whom it asks: its position in the group, already resolved; -1: itself
  Slot result = 0;
};

struct Thread {
  Machine& machine;
  std::vector<Scalar> scalars;
  std::vector<View> views;
  size_t pc = 0;
  Wait wait;
  int32_t number = -1;  // in tile.threads; -1 outside
};

struct Instruction {
  std::function<void(Thread&)> run;
  mlir::Operation* op;
};

struct Code {
  std::vector<Instruction> instructions;
  std::vector<mlir::Operation*> sites;  // an entry for each place that touches memory; 0 is none
  Slot scalars = 0, views = 0;
};

class Machine {
 public:
  Machine(const Code& code, const InterpreterOptions& options) : code_(code), options_(options) {
    for (size_t level = 0; level < agents_.size(); ++level) agents_[level].level = static_cast<Level>(level);
  }

  const InterpreterOptions& options() const { return options_; }
  InterpreterResult& result() { return result_; }
  Agents& agents(Level level) { return agents_[static_cast<size_t>(level)]; }
  // How the agents of a level are called in messages, set by whoever runs them: "block [0, 1]".
  std::function<std::string(int32_t)>& agent_text(Level level) { return agent_text_[static_cast<size_t>(level)]; }

  Thread make_thread() {
    Thread thread{*this, {}, {}, 0, {}, -1};
    thread.scalars.resize(code_.scalars);
    thread.views.resize(code_.views);
    return thread;
  }
  // Runs from the program counter until it is `end` or the thread waits.
  void run(Thread& thread, size_t end);
  // Runs a range of instructions, from the first to the last.
  void run(Thread& thread, size_t begin, size_t end) {
    thread.pc = begin;
    run(thread, end);
  }
  // Throws StepLimitError, Interrupted.
  void count_steps(int64_t steps);

  // Elements. `position` counts elements of the view's type from the memory's start; it lies inside (check_inside).
  Scalar read(const View& view, int64_t position, Site site);
  void write(const View& view, int64_t position, Scalar value, Site site);
  // Gives what was there before.
  Scalar combine(const View& view, int64_t position, Combine kind, const Scalar& value, bool propagate_nan, bool atomic,
                 Site site);
  // Adds a sum whose terms' absolute values add up to `magnitude`, in any order.
  void accumulate(const View& view, int64_t position, const Scalar& sum, double magnitude, int64_t terms, bool clear,
                  Site site);
  // The position of an element; IndexError where the indices lie outside of the view.
  int64_t position(const View& view, llvm::ArrayRef<int64_t> index, Site site, const char* verb);

  // An asynchronous load into a tile, whose elements nobody may touch until it is finished.
  uint32_t start_load(mlir::Operation* op, const View& tile);
  void finish_load(uint32_t load);
  // Whether other agents may touch a memory at the same time.
  bool concurrent(const Memory& memory) const;

  // The value as one to decide or to address by: a value that was never written is an error, and one that rounding
  // decides makes all results incomparable.
  int64_t decided(const Scalar& value, mlir::Operation* op, const char* what);
  void require_defined(const Scalar& value, mlir::Operation* op, const std::string& use);
  void note_unstable(mlir::Operation* op, const std::string& what);

  // An undefined value, and why.
  uint32_t new_origin(mlir::Operation* op, std::string text);
  std::string explain(uint32_t origin) const { return origins_[origin - 1]; }

  // The memory of an alloc that outlives its block, null before its first; all of them are dropped between phases.
  std::shared_ptr<Memory>& kept(mlir::Operation* alloc) { return kept_[alloc]; }
  void drop_kept() { kept_.clear(); }

  // The order in which `count` agents run.
  std::vector<int64_t> sequence(int64_t count);

 private:
  void poll();
  static void set_pending(const View& view, uint32_t load);
  void touch(Memory& memory, int64_t first, int64_t last, Touch touch, Site site);
  [[noreturn]] void report_race(const Memory& memory, int64_t cell, const Agents& agents, Touch touch, Site site,
                                const TouchRecord& other);
  void check_pending(const Memory& memory, const Cell& cell, int64_t number, Site site, const char* verb);
  void store(const View& view, int64_t position, const Scalar& value, double magnitude, Site site, uint32_t terms = 0);
  Scalar fetch(const View& view, int64_t position, Site site, double* magnitude = nullptr);

  const Code& code_;
  const InterpreterOptions& options_;
  InterpreterResult result_;
  std::array<Agents, 3> agents_;
  std::array<std::function<std::string(int32_t)>, 3> agent_text_;
  std::vector<std::string> origins_;
  std::vector<std::pair<mlir::Operation*, View>> loads_;
  std::map<mlir::Operation*, std::shared_ptr<Memory>> kept_;
  uint64_t shuffles_ = 0;
  std::chrono::steady_clock::time_point next_poll_{};
  int64_t steps_at_poll_ = 0;
};

// "file:line:col: ", "" where it is unknown.
std::string where(mlir::Operation* op);

template <typename ErrorType>
[[noreturn]] void fail(mlir::Operation* op, const std::string& message) {
  throw ErrorType(where(op) + message);
}

// combine(a, b) in a type.
Scalar combined(const ScalarType& type, Combine kind, const Scalar& a, const Scalar& b, bool propagate_nan);
// What combining starts from.
Scalar identity(const ScalarType& type, Combine kind);
// From one compute type to another, as moves convert.
Scalar converted(const Scalar& value, const ScalarType& from, const ScalarType& to);

}  // namespace deep_accel::tile::interpreter
