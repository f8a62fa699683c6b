#include "deep_accel/kernels/gemm/kernels.h"

#include <functional>
#include <string_view>
#include <unordered_map>

#include "deep_accel/base/fork.h"
#include "deep_accel/compile/compiler.h"
#include "deep_accel/kernels/gemm/program.h"

namespace deep_accel::kernels {
namespace {

struct Hash {
  size_t operator()(const GemmConfig& config) const {
    return std::hash<std::string_view>()({reinterpret_cast<const char*>(&config), sizeof(config)});
  }
};

struct Table {
  ForkSafeMutex mutex;
  std::unordered_map<GemmConfig, std::shared_ptr<const Kernel>, Hash> kernels;
};

// Never destroyed: threads may still multiply while the process ends.
Table& table() {
  static Table& instance = *new Table;
  return instance;
}

}  // namespace

const Kernel& gemm_kernel(const GemmConfig& config) {
  Table& t = table();
  {
    std::lock_guard lock(t.mutex);
    if (auto found = t.kernels.find(config); found != t.kernels.end()) return *found->second;
  }
  // Without the lock: threads that want the same kernel now wait for one another in the kernel cache.
  std::shared_ptr<const Kernel> kernel = compile::jit(gemm_program(config));
  std::lock_guard lock(t.mutex);
  return *t.kernels.try_emplace(config, std::move(kernel)).first->second;
}

}  // namespace deep_accel::kernels
