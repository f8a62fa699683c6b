// The machine that we run on, as a target.
#include "llvm/TargetParser/Host.h"

#include <cstdlib>

#include "deep_accel/compile/target/target.h"
#include "deep_accel/runtime/device.h"
#include "llvm/ADT/StringMap.h"
#if defined(__aarch64__)
#include <sys/prctl.h>
#elif defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace deep_accel::compile {
namespace {

using Features = llvm::StringMap<bool>;

bool has(const Features& features, std::initializer_list<const char*> wanted) {
  for (const char* feature : wanted) {
    auto found = features.find(feature);
    if (found == features.end() || !found->second) return false;
  }
  return true;
}

// The length of SVE registers, 0 where there are none.
int sve_bits() {
#if defined(__aarch64__) && defined(PR_SVE_GET_VL)
  int length = ::prctl(PR_SVE_GET_VL);
  return length > 0 ? (length & PR_SVE_VL_LEN_MASK) * 8 : 0;
#else
  return 0;
#endif
}

// AMX's registers are large, and Linux gives them to processes that ask (Documentation/arch/x86/xstate.rst). Asks.
bool may_use_tile_registers() {
#if defined(__x86_64__) && defined(SYS_arch_prctl)
  constexpr int kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

std::string x86_name(const Features& features, const std::string& cpu) {
  if (!has(features, {"avx2", "fma", "f16c", "bmi2"})) return "x86-64";
  if (!has(features, {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})) {
    return has(features, {"avxvnni"}) ? "x86-64-avx2-vnni" : "x86-64-avx2";
  }
  if (!has(features, {"avx512vnni"})) return "x86-64-avx512";
  if (!has(features, {"avx512bf16"})) return "x86-64-avx512-vnni";
  if (cpu.starts_with("znver")) return "x86-64-zen4";
  const bool amx = has(features, {"amx-tile", "amx-int8", "amx-bf16"}) && may_use_tile_registers();
  return amx ? "x86-64-amx" : "x86-64-avx512-bf16";
}

// The name in the tables; "" where the machine has no vectors that we know.
std::string table_name(const std::string& architecture, const Features& features, const std::string& cpu) {
  if (architecture == "x86-64") return x86_name(features, cpu);
  if (architecture == "aarch64") {
    return sve_bits() >= 512 ? "aarch64-sve512" : sve_bits() >= 256 ? "aarch64-sve" : "aarch64-neon";
  }
  // LLVM cannot ask a RISC-V machine on older kernels: the system's own list knows more.
  if (architecture == "riscv64") return has(features, {"v"}) || host_cpu().has("v") ? "riscv64-v" : "riscv64";
  if (architecture == "loongarch64") {
    if (has(features, {"lasx"}) || host_cpu().has("lasx")) return "loongarch64-lasx";
    if (has(features, {"lsx"}) || host_cpu().has("lsx")) return "loongarch64-lsx";
  }
  return "";
}

Target generic() {
  Target target;
  target.name = "generic";
  target.cpu = "generic";
  target.f32_register_tile = {4, 1};
  return target;
}

// What the processor says that it has, which may be less than what its name promises (virtual machines hide some).
std::string feature_list(const Features& features) {
  std::vector<std::string> words;
  for (const auto& feature : features) words.push_back((feature.second ? "+" : "-") + feature.first().str());
  std::sort(words.begin(), words.end());
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

Target describe_host() {
  const CpuInfo& cpu = host_cpu();
  const Features features = llvm::sys::getHostCPUFeatures();
  const std::string llvm_name = llvm::sys::getHostCPUName().str();
  const std::string name = table_name(cpu.architecture, features, llvm_name);
  Target target = name.empty() ? generic() : find_target(name);
  target.triple = llvm::sys::getProcessTriple();
  if (!features.empty()) {
    // A chip that LLVM does not know keeps the table's name, and with it sensible costs.
    if (llvm_name != "generic") target.cpu = llvm_name;
    target.features = feature_list(features);
  }
  if (cpu.architecture == "x86-64") {
    target.native_f16 = has(features, {"avx512fp16"});
  }
  if (cpu.architecture == "aarch64") {
    target.native_f16 = has(features, {"fullfp16"});
    target.vnni = target.vscale > 0 || has(features, {"dotprod"});
  }
  if (cpu.l1d_bytes) target.l1d = cpu.l1d_bytes;
  if (cpu.l2_bytes) target.l2 = cpu.l2_bytes / std::max(1, cpu.l2_shared_by);
  target.l3 = cpu.l3_bytes;
  if (cpu.line_bytes) target.line = static_cast<int>(cpu.line_bytes);
  return target;
}

}  // namespace

const Target& host_target() {
  static const Target target = describe_host();
  return target;
}

}  // namespace deep_accel::compile
