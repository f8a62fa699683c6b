// Facts about the machine that we run on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace deep_accel {

struct CpuInfo {
  std::string name;                   // "AMD EPYC 9654 96-Core Processor"
  std::string architecture;           // "x86-64", "aarch64", "riscv64", "loongarch64"
  std::vector<std::string> features;  // as the system calls them: "avx2", "asimd", ...; sorted
  int cores = 0;                      // physical, of those that this process may use
  int processors = 0;                 // logical, likewise
  int64_t l1d_bytes = 0;              // of one core; 0 where unknown
  int64_t l1i_bytes = 0;
  int64_t l2_bytes = 0;  // of one cache, ...
  int l2_shared_by = 0;  // ... which so many cores share
  int64_t l3_bytes = 0;
  int l3_shared_by = 0;
  int64_t line_bytes = 64;
  int64_t memory_bytes = 0;

  bool has(const std::string& feature) const;
  // Of name and features: machines with the same one run the same code at the same speed, save for clocks and memory.
  std::string fingerprint() const;
};

// Found once.
const CpuInfo& host_cpu();

}  // namespace deep_accel
