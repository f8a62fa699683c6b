// The arenas of threads: from the C library rather than the pool, whose blocks other threads may have touched first.
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

#include "deep_accel/base/error.h"
#include "deep_accel/base/round_up.h"
#include "deep_accel/base/text.h"
#include "deep_accel/runtime/memory.h"
#include "deep_accel/runtime/workers.h"

namespace deep_accel {
namespace {

std::atomic<int64_t> arena_bytes{0};

// The arenas of one thread: one for each depth of nesting.
struct Arenas {
  struct Arena {
    char* data = nullptr;
    int64_t size = 0;
  };
  std::vector<Arena> stack;
  size_t depth = 0;

  ~Arenas() {
    for (Arena& arena : stack) free(arena);
  }

  static void free(Arena& arena) {
    std::free(arena.data);
    arena_bytes.fetch_sub(arena.size, std::memory_order_relaxed);
    arena = {};
  }

  char* enter(int64_t bytes) {
    if (depth == stack.size()) stack.emplace_back();
    Arena& arena = stack[depth];
    if (arena.size < bytes) {
      free(arena);
      constexpr int64_t kHugePage = int64_t{2} << 20;
      int64_t alignment = bytes >= kHugePage ? kHugePage : 4096;
      // The system would promise more than it has, and kill the process when the arena is used.
      if (bytes > MemoryPool::instance().statistics().limit) {
        throw OutOfMemoryError("an arena of " + format_bytes(bytes) +
                               " for each thread is more than the memory limit of " +
                               format_bytes(MemoryPool::instance().statistics().limit) + "; use smaller tiles");
      }
      int64_t size = round_up(bytes, alignment);
      arena.data = static_cast<char*>(std::aligned_alloc(static_cast<size_t>(alignment), static_cast<size_t>(size)));
      if (!arena.data) {
        throw OutOfMemoryError("cannot allocate an arena of " + format_bytes(bytes) +
                               " for a worker thread; use smaller tiles");
      }
#ifdef MADV_HUGEPAGE
      if (bytes >= kHugePage) ::madvise(arena.data, static_cast<size_t>(size), MADV_HUGEPAGE);  // a wish
#endif
      arena.size = size;
      arena_bytes.fetch_add(size, std::memory_order_relaxed);
    }
    ++depth;
    return arena.data;
  }
};

thread_local Arenas arenas;

}  // namespace

ThreadArena::ThreadArena(int64_t bytes) : data_(arenas.enter(bytes)) {}
ThreadArena::~ThreadArena() { --arenas.depth; }

int64_t arena_bytes_held() { return arena_bytes.load(std::memory_order_relaxed); }

}  // namespace deep_accel
