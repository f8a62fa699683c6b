#include "peers.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <optional>

namespace deep_accel::bench {
namespace {

void* open_first(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND)) return library;
  }
  return nullptr;
}

template <typename Function>
Function* symbol(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

using CblasSgemm = void(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float* a,
                        int lda, const float* b, int ldb, float beta, float* c, int ldc);
constexpr int kRowMajor = 101, kNoTranspose = 111;

auto cblas_product(CblasSgemm* sgemm) {
  return [sgemm](int64_t M, int64_t N, int64_t K, const float* A, const float* B, float* C) {
    const int m = static_cast<int>(M), n = static_cast<int>(N), k = static_cast<int>(K);
    sgemm(kRowMajor, kNoTranspose, kNoTranspose, m, n, k, 1, A, k, B, n, 0, C, n);
  };
}

std::optional<Peer> openblas() {
  // A setting for other runs must not choose the kernel that we compare with.
  unsetenv("OPENBLAS_CORETYPE");
  void* library = open_first({"libopenblas.so.0", "openblas-pthread/libopenblas.so.0"});
  if (!library) return std::nullopt;
  auto* sgemm = symbol<CblasSgemm>(library, "cblas_sgemm");
  auto* threads = symbol<void(int)>(library, "openblas_set_num_threads");
  auto* core = symbol<char*()>(library, "openblas_get_corename");
  auto* config = symbol<char*()>(library, "openblas_get_config");
  if (!sgemm || !threads || !core || !config) return std::nullopt;
  return Peer{"OpenBLAS", std::string(config()) + ", kernel " + core(), [threads](int count) { threads(count); },
              cblas_product(sgemm)};
}

std::optional<Peer> blis() {
  void* library = open_first({"libblis.so.4", "blis-openmp/libblis.so.4", "libblis.so.3", "libblis.so"});
  if (!library) return std::nullopt;
  auto* sgemm = symbol<CblasSgemm>(library, "cblas_sgemm");
  auto* threads = symbol<void(int64_t)>(library, "bli_thread_set_num_threads");
  auto* version = symbol<const char*()>(library, "bli_info_get_version_str");
  auto* arch = symbol<int()>(library, "bli_arch_query_id");
  auto* arch_name = symbol<const char*(int)>(library, "bli_arch_string");
  if (!sgemm || !threads || !version) return std::nullopt;
  std::string description = std::string("BLIS ") + version();
  if (arch && arch_name) description += std::string(", kernel ") + arch_name(arch());
  return Peer{"BLIS", description, [threads](int count) { threads(count); }, cblas_product(sgemm)};
}

std::optional<Peer> onednn() {
  void* library = open_first({"libdnnl.so.3", "libdnnl.so.2"});
  if (!library) return std::nullopt;
  auto* sgemm = symbol<int(char, char, int64_t, int64_t, int64_t, float, const float*, int64_t, const float*, int64_t,
                           float, float*, int64_t)>(library, "dnnl_sgemm");
  struct Version {
    int major, minor, patch;
  };
  auto* version = symbol<const Version*()>(library, "dnnl_version");
  auto* isa = symbol<int()>(library, "dnnl_get_effective_cpu_isa");
  // Its threads are OpenMP's, of the library that it brought along.
  auto* threads = symbol<void(int)>(library, "omp_set_num_threads");
  if (!sgemm || !version || !threads) return std::nullopt;
  const Version* v = version();
  std::string description =
      "oneDNN " + std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
  if (isa) {
    char hexadecimal[16];
    std::snprintf(hexadecimal, sizeof(hexadecimal), "%#x", static_cast<unsigned>(isa()));
    description += std::string(", instruction set ") + hexadecimal;
  }
  return Peer{"oneDNN", description, [threads](int count) { threads(count); },
              [sgemm](int64_t M, int64_t N, int64_t K, const float* A, const float* B, float* C) {
                sgemm('N', 'N', M, N, K, 1, A, K, B, N, 0, C, N);
              }};
}

}  // namespace

const std::vector<Peer>& peers() {
  static const std::vector<Peer> found = [] {
    std::vector<Peer> list;
    for (const std::optional<Peer>& peer : {openblas(), blis(), onednn()}) {
      if (peer) list.push_back(*peer);
    }
    return list;
  }();
  return found;
}

}  // namespace deep_accel::bench
