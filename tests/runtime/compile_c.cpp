// The compiler is the one that built the tests.
#include "tests/runtime/compile_c.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "deep_accel/base/files.h"
#include "tests/temporary_folder.h"

namespace deep_accel {
namespace {

constexpr const char* kPrologue = R"(
#include <stdint.h>
typedef struct KernelContext KernelContext;
struct KernelContext {
  char* arena;
  char* workspace;
  void (*fail)(const KernelContext*, const char*);
  void (*print)(const KernelContext*, const char*, int64_t, const double*);
  void* user;
  int64_t worker;
};
)";

// SIGNATURE('...') -> the data symbol, with ' for ".
std::string expand_signature(std::string source) {
  size_t start = source.find("SIGNATURE(");
  if (start == std::string::npos) return source;
  size_t end = source.find(")END", start);
  std::string json = source.substr(start + 10, end - start - 10);
  std::string text;
  for (char c : json) text += c == '\'' ? std::string("\\\"") : c == '\n' ? std::string(" ") : std::string(1, c);
  return source.replace(start, end + 4 - start, "const char deep_accel_signature[] = \"" + text + "\";");
}

}  // namespace

std::vector<std::byte> compile_c(const std::string& source) {
  TemporaryFolder folder;
  auto from = folder.path() / "kernel.c", to = folder.path() / "kernel.so";
  write_file_atomically(from, kPrologue + expand_signature(source));
  std::string command =
      std::string(DEEP_ACCEL_TEST_CC) + " -O1 -shared -fPIC -o '" + to.string() + "' '" + from.string() + "'";
  if (std::system(command.c_str()) != 0) throw std::runtime_error("the test's kernel does not compile");
  return read_file(to);
}

}  // namespace deep_accel
