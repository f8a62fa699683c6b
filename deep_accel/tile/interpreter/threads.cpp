// tile.threads: each thread runs until it waits for others or ends; then whoever can go on does.
#include "deep_accel/tile/interpreter/decode.h"
#include "deep_accel/tile/ir/program_impl.h"

namespace deep_accel::tile::interpreter {

namespace {

class Threads {
 public:
  Threads(Thread& block, ThreadsOp op, llvm::ArrayRef<Slot> arguments, size_t begin, size_t end)
      : machine_(block.machine), op_(op), end_(end), agents_(machine_.agents(Level::threads)) {
    const Indices extents(op.getExtents());
    for (int64_t number = 0; number < op.count(); ++number) {
      Thread thread = block;
      thread.number = static_cast<int32_t>(number);
      thread.pc = begin;
      int64_t rest = number;  // the first index is the fastest
      for (size_t dim = 0; dim < extents.size(); ++dim) {
        thread.scalars[arguments[dim]] = Scalar::of_integer(rest % extents[dim]);
        rest /= extents[dim];
      }
      threads_.push_back(std::move(thread));
    }
  }

  void run() {
    agents_.count = static_cast<int64_t>(threads_.size());
    machine_.agent_text(Level::threads) = [](int32_t number) { return "thread " + std::to_string(number); };
    new_epoch();
    do {
      for (int64_t number : machine_.sequence(agents_.count)) {
        Thread& thread = threads_[static_cast<size_t>(number)];
        if (thread.wait.kind != Wait::Kind::none) continue;
        agents_.current = thread.number;
        machine_.run(thread, end_);
      }
      agents_.current = -1;
    } while (release());
    agents_.stamps.clear();
    agents_.knows.clear();
    agents_.count = 0;
  }

 private:
  bool waits(const Thread& thread) const { return thread.wait.kind != Wait::Kind::none; }
  bool ended(const Thread& thread) const { return !waits(thread) && thread.pc == end_; }

  // All threads have come to one place: what they did before is before what they do now.
  void new_epoch() {
    ++agents_.epoch;
    agents_.stamps.clear();
    agents_.knows.clear();
  }

  void order(const std::vector<int32_t>& members) {
    if (members.size() == threads_.size()) return new_epoch();
    synchronise(agents_, members, threads_.size());
  }

  // Lets threads go on whose partners have all come. False when all have ended.
  bool release() {
    if (llvm::all_of(threads_, [&](const Thread& thread) { return ended(thread); })) return false;
    bool released = release_barrier();
    released = release_named() || released;
    released = release_groups() || released;
    if (!released) report_stuck();
    return true;
  }

  bool release_barrier() {
    mlir::Operation* op = threads_.front().wait.op;
    for (const Thread& thread : threads_) {
      if (thread.wait.kind != Wait::Kind::barrier || thread.wait.id >= 0 || thread.wait.op != op) return false;
    }
    for (Thread& thread : threads_) thread.wait = {};
    new_epoch();
    return true;
  }

  // Barriers with an id: of as many threads as they count, wherever those stand.
  bool release_named() {
    std::map<int64_t, std::vector<int32_t>> arrived;
    for (const Thread& thread : threads_) {
      if (thread.wait.kind == Wait::Kind::barrier && thread.wait.id >= 0)
        arrived[thread.wait.id].push_back(thread.number);
    }
    bool released = false;
    for (auto& [id, members] : arrived) {
      int64_t wanted = threads_[static_cast<size_t>(members.front())].wait.count;
      if (wanted == 0) wanted = static_cast<int64_t>(threads_.size());
      if (static_cast<int64_t>(members.size()) < wanted) continue;
      members.resize(static_cast<size_t>(wanted));
      for (int32_t member : members) threads_[static_cast<size_t>(member)].wait = {};
      order(members);
      released = true;
    }
    return released;
  }

  // Shuffles and votes, of which all threads of a group have to come to the same one.
  bool release_groups() {
    bool released = false;
    for (size_t first = 0; first < threads_.size(); ++first) {
      const Wait wait = threads_[first].wait;
      if (wait.kind != Wait::Kind::shuffle && wait.kind != Wait::Kind::vote) continue;
      const auto width = static_cast<size_t>(wait.width);
      if (first % width != 0) continue;
      const size_t last = std::min(first + width, threads_.size());
      std::vector<int32_t> members;
      for (size_t number = first; number < last; ++number) {
        if (threads_[number].wait.op == wait.op) members.push_back(static_cast<int32_t>(number));
      }
      if (members.size() != last - first) continue;
      exchange(first, last, wait);
      for (int32_t member : members) threads_[static_cast<size_t>(member)].wait = {};
      order(members);
      released = true;
    }
    return released;
  }

  void exchange(size_t first, size_t last, const Wait& wait) {
    if (wait.kind == Wait::Kind::shuffle) {
      for (size_t number = first; number < last; ++number) {
        Wait& own = threads_[number].wait;
        const auto other = static_cast<int64_t>(first) + own.lane;
        const bool exists = own.lane >= 0 && own.lane < wait.width && other < static_cast<int64_t>(last);
        threads_[number].scalars[own.result] = exists ? threads_[static_cast<size_t>(other)].wait.value : own.value;
      }
      return;
    }
    int64_t yes = 0;
    double error = 0;
    uint32_t origin = 0;
    for (size_t number = first; number < last; ++number) {
      const Scalar& value = threads_[number].wait.value;
      yes += value.integer;
      error = std::max(error, value.error);
      if (value.origin != 0) origin = value.origin;
    }
    const Vote mode = mlir::cast<VoteOp>(wait.op).getMode();
    const int64_t all = static_cast<int64_t>(last - first);
    const int64_t result = mode == Vote::any ? yes > 0 : mode == Vote::all ? yes == all : yes;
    for (size_t number = first; number < last; ++number) {
      Scalar scalar = Scalar::of_integer(result, error);
      scalar.origin = origin;
      threads_[number].scalars[threads_[number].wait.result] = scalar;
    }
  }

  [[noreturn]] void report_stuck() {
    const Thread* waiting = nullptr;
    const Thread* elsewhere = nullptr;
    for (const Thread& thread : threads_) {
      if (waits(thread) && !waiting) waiting = &thread;
    }
    const Wait& wait = waiting->wait;
    size_t arrived = 0, needed = threads_.size();
    const bool in_group = wait.kind != Wait::Kind::barrier;
    if (in_group) needed = std::min(static_cast<size_t>(wait.width), needed);
    if (wait.count > 0) needed = static_cast<size_t>(wait.count);
    for (const Thread& thread : threads_) {
      const bool same_group = !in_group || thread.number / wait.width == waiting->number / wait.width;
      const bool here = waits(thread) && (wait.id >= 0 ? thread.wait.id == wait.id : thread.wait.op == wait.op);
      if (here && same_group) ++arrived;
      if (!here && same_group && !elsewhere) elsewhere = &thread;
    }
    std::string text = std::to_string(arrived) + " of " + std::to_string(needed) + " threads wait here (thread " +
                       std::to_string(waiting->number) + " is one)";
    if (elsewhere) {
      text += ", but thread " + std::to_string(elsewhere->number) +
              (waits(*elsewhere) ? " waits at " + location_text(elsewhere->wait.op->getLoc()) : " has come to its end");
    }
    fail<ValueError>(wait.op,
                     text + "; barriers, shuffles and votes need conditions that are the same for all threads");
  }

  Machine& machine_;
  ThreadsOp op_;
  size_t end_;
  Agents& agents_;
  std::vector<Thread> threads_;
};

// The lane that a shuffle asks; -1 where there is none.
int64_t asked_lane(Shuffle mode, int64_t own, int64_t lane) {
  switch (mode) {
    case Shuffle::index:
      return lane;
    case Shuffle::up:
      return own - lane;
    case Shuffle::down:
      return own + lane;
    case Shuffle::lane_xor:
      return own ^ lane;
  }
  return -1;
}

}  // namespace

void Decoder::decode_threads(ThreadsOp op) {
  const size_t at = reserve(op);
  const auto arguments = slots(op.getBody().getArguments());
  block(op.getBody().front());
  fill(at, [op, arguments, begin = at + 1, end = here()](Thread& t) {
    Threads(t, op, arguments, begin, end).run();
    t.pc = end;
  });
}

bool Decoder::threads(mlir::Operation* op) {
  if (auto threads_op = mlir::dyn_cast<ThreadsOp>(op)) {
    decode_threads(threads_op);
  } else if (auto barrier = mlir::dyn_cast<BarrierOp>(op)) {
    Wait wait;
    wait.kind = Wait::Kind::barrier;
    wait.op = op;
    if (auto id = barrier.getId()) wait.id = static_cast<int64_t>(*id);
    if (auto count = barrier.getCount()) wait.count = static_cast<int64_t>(*count);
    emit(op, [wait](Thread& t) { t.wait = wait; });
  } else if (auto shuffle = mlir::dyn_cast<ShuffleOp>(op)) {
    Wait wait;
    wait.kind = Wait::Kind::shuffle;
    wait.op = op;
    wait.width = static_cast<int64_t>(shuffle.getWidth());
    wait.result = slot(shuffle.getResult());
    emit(op, [wait, mode = shuffle.getMode(), value = slot(shuffle.getValue()), lane = slot(shuffle.getLane()),
              op](Thread& t) {
      t.wait = wait;
      t.wait.value = t.scalars[value];
      t.wait.lane = asked_lane(mode, t.number % wait.width, t.machine.decided(t.scalars[lane], op, "a lane"));
    });
  } else if (auto vote = mlir::dyn_cast<VoteOp>(op)) {
    Wait wait;
    wait.kind = Wait::Kind::vote;
    wait.op = op;
    wait.width = static_cast<int64_t>(vote.getWidth());
    wait.result = slot(vote.getResult());
    emit(op, [wait, condition = slot(vote.getCondition())](Thread& t) {
      t.wait = wait;
      t.wait.value = t.scalars[condition];
    });
  } else {
    return false;
  }
  return true;
}

}  // namespace deep_accel::tile::interpreter
