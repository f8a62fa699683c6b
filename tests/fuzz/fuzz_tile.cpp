// libFuzzer on texts of programs: cmake -DDEEP_ACCEL_FUZZ=ON, then
//   build/fuzz/bin/fuzz_tile -max_len=20000 -timeout=20 -rss_limit_mb=4096 CORPUS
// Half of the mutations are our own, which keep programs nearly right; the other half are libFuzzer's, on bytes.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "examine.h"
#include "mutate.h"

namespace {

const deep_accel::test::Mutator& mutator() {
  static const deep_accel::test::Mutator mutator(deep_accel::test::repository_programs());
  return mutator;
}

}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  if (seed % 2 == 0) return LLVMFuzzerMutate(data, size, max_size);
  std::mt19937_64 random(seed);
  const std::string text = mutator().mutate(std::string(reinterpret_cast<const char*>(data), size), random);
  const size_t kept = std::min(text.size(), max_size);
  std::memcpy(data, text.data(), kept);
  return kept;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto result = deep_accel::test::examine(text, deep_accel::test::Effort::passes);
  if (!result.defect.empty()) {
    std::fprintf(stderr, "defect: %s\n", result.defect.c_str());
    std::abort();
  }
  return 0;
}
