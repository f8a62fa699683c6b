// Other libraries' f32 matrix products, where they are installed.
//
// Each is loaded into a namespace of its own (RTLD_LOCAL and RTLD_DEEPBIND): they define the same symbols.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace deep_accel::bench {

struct Peer {
  std::string name;         // "OpenBLAS"
  std::string description;  // its version, and the kernel that it chose for this machine
  std::function<void(int threads)> set_threads;
  // C (M x N) = A (M x K) B (K x N), row-major without gaps.
  std::function<void(int64_t M, int64_t N, int64_t K, const float* A, const float* B, float* C)> product;
};

// Those that could be loaded. To be called before any thread is pinned: libraries make their threads on loading.
const std::vector<Peer>& peers();

}  // namespace deep_accel::bench
