// Launching: check the arguments, lay out the parameters, ask the kernel for its grids, walk them.
//
// A small kernel's launch costs about as much as its checks, so nothing here allocates unless the kernel is unusually
// large.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <mutex>

#include "deep_accel/base/error.h"
#include "deep_accel/base/text.h"
#include "deep_accel/runtime/bind.h"
#include "deep_accel/runtime/grid.h"
#include "deep_accel/runtime/kernel.h"
#include "deep_accel/runtime/memory.h"
#include "deep_accel/runtime/workers.h"
#include "deep_accel/trace/trace.h"

namespace deep_accel {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPollInterval = std::chrono::milliseconds(20);

// What all threads of one launch share.
struct Launch {
  const Kernel& kernel;
  const LaunchOptions& options;
  std::atomic<bool> stop{false};
  std::mutex mutex;
  // Under the mutex.
  bool failed = false;
  std::string message;
  std::exception_ptr thrown;  // by a callback of the options
  // Of the calling thread.
  bool interrupted = false;
  Clock::time_point next_poll{};

  void fail(const char* text) {
    std::lock_guard lock(mutex);
    if (!failed) message = text ? text : "failed without a message";
    failed = true;
    stop.store(true, std::memory_order_relaxed);
  }

  void caught() {
    std::lock_guard lock(mutex);
    if (!thrown) thrown = std::current_exception();
    stop.store(true, std::memory_order_relaxed);
  }

  // On the calling thread, only where somebody may interrupt.
  void poll() {
    Clock::time_point now = Clock::now();
    if (now < next_poll || stop.load(std::memory_order_relaxed)) return;
    next_poll = now + kPollInterval;
    try {
      interrupted = options.interrupted();
    } catch (...) {
      caught();
    }
    if (interrupted) stop.store(true, std::memory_order_relaxed);
  }

  void throw_if_stopped() {
    if (!stop.load(std::memory_order_acquire)) return;
    if (thrown) std::rethrow_exception(thrown);
    if (failed && message.starts_with(kIndexErrorMark)) {
      throw IndexError("kernel '" + kernel.name() + "': " + message.substr(1));
    }
    if (failed) throw ValueError("kernel '" + kernel.name() + "': " + message);
    throw Interrupted("kernel '" + kernel.name() + "' was interrupted");
  }
};

// The context that blocks see, and behind it the launch.
struct Context : KernelContext {
  Launch* launch;

  Context(Launch& owner, int64_t slot, char* arena_data, char* workspace_data)
      : KernelContext{arena_data, workspace_data, fail_callback, print_callback, owner.options.user, slot},
        launch(&owner) {}

  // No exception may cross the kernel's frames.
  static void fail_callback(const KernelContext* context, const char* message) {
    static_cast<const Context*>(context)->launch->fail(message);
  }
  static void print_callback(const KernelContext* context, const char* text, int64_t count, const double* values) {
    Launch& owner = *static_cast<const Context*>(context)->launch;
    static std::mutex one_at_a_time;
    try {
      std::string line = fill_placeholders(text, static_cast<size_t>(count),
                                           [&](size_t index) { return printed_number(values[index]); });
      std::lock_guard lock(one_at_a_time);
      if (owner.options.print) {
        owner.options.print(line);
      } else {
        line += '\n';
        std::fwrite(line.data(), 1, line.size(), stdout);
        std::fflush(stdout);
      }
    } catch (...) {
      owner.caught();
    }
  }
};

// Orders stores past the caches, which blocks may leave under way, before whatever the end of the launch releases.
struct StoresDone {
  ~StoresDone() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
};

void run_blocks(Launch& launch, const Context& context, Kernel::PhaseFunction phase, const int64_t* params,
                const Grid& grid, int64_t begin, int64_t end, bool polls) {
  StoresDone stores_done;
  for (int64_t index = begin; index < end; ++index) {
    if (launch.stop.load(std::memory_order_relaxed)) return;
    if (polls) launch.poll();
    Block block = grid.block(index);
    phase(&context, params, block.x, block.y, block.z);
  }
}

// The arena of a worker for the blocks of a phase.
struct PhaseArena : ThreadArena {
  PhaseArena(const KernelSignature& signature, size_t phase) : ThreadArena(signature.arena_bytes) {
    const int64_t bytes = signature.phases[phase].marks_bytes;
    if (bytes > 0) std::memset(data(), kMarksByte, static_cast<size_t>(bytes));
  }
};

void run_phase(Launch& launch, size_t index, const int64_t* params, const Grid& grid, char* workspace, int threads) {
  Kernel::PhaseFunction phase = launch.kernel.phase(index);
  int64_t total = grid.blocks();
  bool may_poll = static_cast<bool>(launch.options.interrupted);
  int slots = static_cast<int>(std::min<int64_t>(threads, total));
  if (slots <= 1 || in_worker()) {
    PhaseArena arena(launch.kernel.signature(), index);
    return run_blocks(launch, {launch, 0, arena.data(), workspace}, phase, params, grid, 0, total, may_poll);
  }
  bool dynamic = launch.options.partition == Partition::dynamic;
  // Where blocks are many, several are taken at a time; still few enough that threads end at about the same moment.
  int64_t chunk = std::clamp<int64_t>(total / (int64_t{32} * slots), 1, 64);
  std::atomic<int64_t> next{0};
  auto body = [&](int slot) {
    PhaseArena arena(launch.kernel.signature(), index);
    Context context(launch, slot, arena.data(), workspace);
    bool polls = may_poll && slot == 0;  // the calling thread
    if (!dynamic) {
      auto [begin, end] = part_of(total, slot, slots);
      return run_blocks(launch, context, phase, params, grid, begin, end, polls);
    }
    while (!launch.stop.load(std::memory_order_relaxed)) {
      int64_t begin = next.fetch_add(chunk, std::memory_order_relaxed);
      if (begin >= total) return;
      run_blocks(launch, context, phase, params, grid, begin, std::min(begin + chunk, total), polls);
    }
  };
  if (may_poll) {
    run_on_workers(slots, body, [&] {
      launch.poll();
      return launch.stop.load(std::memory_order_relaxed);
    });
  } else {
    run_on_workers(slots, body);
  }
}

// Memory for the length of a launch.
struct Workspace {
  MemoryBlock block;
  explicit Workspace(int64_t bytes) : block(MemoryPool::instance().allocate(bytes)) {}
  ~Workspace() { MemoryPool::instance().release(block); }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
};

int threads_of(const Kernel& kernel, const LaunchOptions& options) {
  if (options.threads < 0 || options.threads > kMaxThreads) {
    throw ValueError("kernel '" + kernel.name() + "': threads must be 0 (the default number) to " +
                     std::to_string(kMaxThreads) + "; got " + std::to_string(options.threads));
  }
  return options.threads ? options.threads : num_threads();
}

}  // namespace

void launch(const Kernel& kernel, std::span<const Argument> arguments, const LaunchOptions& options) {
  trace::Scope scope("launch", kernel.name());
  const KernelSignature& signature = kernel.signature();
  int threads = threads_of(kernel, options);
  SmallArray<int64_t, 128> params(static_cast<size_t>(signature.params_count));
  bind_arguments(signature, arguments, params.data());

  Launch state{.kernel = kernel, .options = options, .mutex = {}, .message = {}, .thrown = {}};
  if (options.interrupted) state.next_poll = Clock::now() + kPollInterval;
  size_t phases = signature.phases.size();
  SmallArray<int64_t, 24> grids(3 * phases);
  std::fill(grids.data(), grids.data() + 3 * phases, 1);
  Context context(state, 0, nullptr, nullptr);
  int64_t workspace_bytes = kernel.plan()(&context, params.data(), grids.data());
  state.throw_if_stopped();
  if (workspace_bytes < 0) {
    throw Error("kernel '" + kernel.name() + "' asks for a workspace of " + std::to_string(workspace_bytes) +
                " bytes; its sizes overflow");
  }
  Workspace workspace(workspace_bytes);
  for (size_t phase = 0; phase < phases; ++phase) {
    Grid grid(kernel.name(), grids.data() + 3 * phase, options.order.value_or(signature.phases[phase].order));
    if (grid.blocks() == 0) continue;
    run_phase(state, phase, params.data(), grid, static_cast<char*>(workspace.block.data), threads);
    state.throw_if_stopped();
  }
}

}  // namespace deep_accel
