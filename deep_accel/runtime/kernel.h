// Kernel: compiled code, and launching it over a grid on the worker threads.
//
// A kernel is a shared library image. It exports
//   deep_accel_signature                  zero-terminated JSON text, see kernel_signature.h
//   int64_t <name>_plan(const KernelContext*, const int64_t* params, int64_t* grids)
//       writes the grid of each phase to grids[3 * phase + axis], returns the bytes of workspace that the launch needs
//   void <name>_phase<k>(const KernelContext*, const int64_t* params, int64_t x, int64_t y, int64_t z)
//       runs one block of phase k; stores past the caches may still be under way when it returns: whoever runs blocks
//       issues a fence (sequentially consistent) before another thread looks
//   deep_accel_import_<symbol>            for each import a pointer variable, filled on loading
// params holds for each argument in order: a tensor's data pointer, its sizes, its strides (elements); a scalar's bits
// in one slot (floats: their bits in the low ones; integers sign-extended; bool 0 or 1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "deep_accel/runtime/kernel_signature.h"
#include "deep_accel/runtime/tensor.h"

namespace deep_accel {

inline constexpr char kIndexErrorMark = '\1';

// What a block sees of the runtime. The order of the members is part of the interface of compiled code.
struct KernelContext {
  char* arena;      // at least the signature's arena_bytes for this thread alone, 64-byte aligned, contents undefined
  char* workspace;  // as many bytes as <name>_plan returned, shared by all blocks and phases of the launch, 64-byte
                    // aligned
  // Reports a failure; the first message counts. The block may go on to its end; no new ones start. launch() throws it
  // as a ValueError, or, without the mark, as an IndexError where it begins with kIndexErrorMark.
  void (*fail)(const KernelContext*, const char* message);
  // Prints a text in which each "{}" stands for the next of `count` values.
  void (*print)(const KernelContext*, const char* text, int64_t count, const double* values);
  void* user;      // LaunchOptions::user
  int64_t worker;  // below the number of threads of the launch; unique among blocks that run at the same time
};

class Kernel {
 public:
  using PlanFunction = int64_t (*)(const KernelContext*, const int64_t*, int64_t*);
  using PhaseFunction = void (*)(const KernelContext*, const int64_t*, int64_t, int64_t, int64_t);

  // Loads a shared library image. The image's header is checked first, so that something else than a library for this
  // machine is refused (ValueError says why) rather than loaded; code itself is trusted.
  static std::shared_ptr<const Kernel> load(std::span<const std::byte> image);

  ~Kernel();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  const KernelSignature& signature() const { return signature_; }
  const std::string& name() const { return signature_.name; }
  int64_t image_bytes() const { return image_bytes_; }
  PlanFunction plan() const { return plan_; }
  PhaseFunction phase(size_t index) const { return phases_[index]; }

 private:
  Kernel() = default;

  void* handle_ = nullptr;
  KernelSignature signature_;
  int64_t image_bytes_ = 0;
  PlanFunction plan_ = nullptr;
  std::vector<PhaseFunction> phases_;
};

// A function or datum that kernels may import by name. Must stay for as long as kernels that use it. Symbols that
// nobody registered are looked up in the process (dlsym). Registering a name again replaces it for kernels loaded
// later.
void register_extern(const std::string& name, void* address);
// The address of an external function, null where there is none of that name.
void* find_extern(const std::string& name);

// What a kernel is launched on: a tensor, or a number.
class Argument {
 public:
  enum class Kind { tensor, floating, integer, boolean };

  Argument(Tensor tensor) : kind_(Kind::tensor), tensor_(std::move(tensor)) {}
  template <typename T>
    requires std::is_arithmetic_v<T>
  Argument(T value)
      : kind_(std::is_same_v<T, bool>       ? Kind::boolean
              : std::is_floating_point_v<T> ? Kind::floating
                                            : Kind::integer) {
    if constexpr (std::is_floating_point_v<T>) {
      floating_ = static_cast<double>(value);
    } else {
      integer_ = static_cast<int64_t>(value);
    }
  }

  Kind kind() const { return kind_; }
  const Tensor& tensor() const { return tensor_; }
  double floating() const { return floating_; }
  int64_t integer() const { return integer_; }

 private:
  Kind kind_;
  double floating_ = 0;
  int64_t integer_ = 0;
  Tensor tensor_;
};

enum class Partition {
  dynamic,      // blocks are handed out one after another to whoever is free
  static_split  // each thread gets one contiguous part: the same part in each launch
};

struct LaunchOptions {
  int threads = 0;  // 0: num_threads() of workers.h
  Partition partition = Partition::dynamic;
  std::optional<BlockOrder> order = std::nullopt;  // in place of the signature's, for all phases
  // Asked by the calling thread about every 20 ms; true stops the launch, which throws Interrupted.
  std::function<bool()> interrupted = nullptr;
  // Receives a kernel's print instead of standard output; calls come one at a time, from any thread.
  std::function<void(std::string_view line)> print = nullptr;
  void* user = nullptr;
};

// Runs the kernel to its end. Checks every argument first; throws TypeError (number or kind of arguments, dtype),
// ShapeError (rank, size, strides), ValueError (a scalar out of range, read-only or overlapping outputs, a message of
// the kernel's own assertions), IndexError (an element outside of its buffer, where the data decide which),
// OutOfMemoryError, Interrupted. After a failure the contents of outputs are undefined.
void launch(const Kernel& kernel, std::span<const Argument> arguments, const LaunchOptions& options = {});
inline void launch(const Kernel& kernel, std::initializer_list<Argument> arguments, const LaunchOptions& options = {}) {
  launch(kernel, std::span<const Argument>(arguments.begin(), arguments.size()), options);
}

}  // namespace deep_accel
