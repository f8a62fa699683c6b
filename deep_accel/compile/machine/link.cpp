// LLD keeps its state in globals: one link at a time. Its output must be a file with a name, so there is a folder for
// each link, in memory where the system has such.
#include "deep_accel/compile/machine/link.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>

#include "deep_accel/base/error.h"
#include "deep_accel/base/files.h"
#include "deep_accel/base/fork.h"
#include "deep_accel/base/text.h"
#include "lld/Common/Driver.h"

LLD_HAS_DRIVER(elf)

extern char** environ;

namespace deep_accel::compile {
namespace {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    const char* chosen = std::getenv("TMPDIR");
    for (std::string parent : {std::string("/dev/shm"), std::string(chosen ? chosen : ""), std::string("/tmp")}) {
      if (parent.empty()) continue;
      std::string path = parent + "/deep_accel-link-XXXXXX";
      if (::mkdtemp(path.data())) {
        path_ = path;
        return;
      }
    }
    throw IoError(std::string("cannot create a folder for linking in /dev/shm, TMPDIR or /tmp: ") +
                  std::strerror(errno));
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

void write_object(const std::string& path, std::span<const std::byte> object) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(object.data()), static_cast<std::streamsize>(object.size()));
  file.close();
  if (!file) throw IoError("cannot write '" + path + "' for linking: " + std::strerror(errno));
}

// Symbols that the object lacks are found in the process when the library is loaded.
std::vector<std::string> arguments(const std::string& object, const std::string& library) {
  return {"ld.lld", "-shared", "--threads=1", "--build-id=none", "--hash-style=gnu", "-z", "noexecstack", "-z", "now",
          "-o",     library,   object};
}

struct Linker {
  ForkSafeMutex mutex;
  bool usable = true;
};

Linker& linker() {
  static Linker& instance = *new Linker;
  return instance;
}

// False where LLD can no longer run within the process. What it says is in `words`.
bool link_within(const std::vector<std::string>& words_of_command, bool& linked, std::string& words) {
  Linker& shared = linker();
  std::lock_guard lock(shared.mutex);
  if (!shared.usable) return false;
  std::vector<const char*> argv;
  for (const std::string& word : words_of_command) argv.push_back(word.c_str());
  llvm::raw_string_ostream stream(words);
  const lld::DriverDef drivers[] = {{lld::Gnu, &lld::elf::link}};
  const lld::Result result = lld::lldMain(argv, stream, stream, drivers);
  linked = result.retCode == 0;
  shared.usable = result.canRunAgain;
  return true;
}

bool link_by_program(const std::vector<std::string>& words_of_command, std::string& words) {
  std::vector<char*> argv;
  for (const std::string& word : words_of_command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  for (const char* program : {"ld.lld-19", "ld.lld", "/usr/lib/llvm-19/bin/ld.lld"}) {
    pid_t child = 0;
    if (int error = ::posix_spawnp(&child, program, nullptr, nullptr, argv.data(), environ)) {
      words = std::string(program) + ": " + std::strerror(error);
      continue;
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0) {
      if (errno != EINTR) throw Error(std::string("the linker got lost: ") + std::strerror(errno));
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    words = std::string(program) + " failed; its reason stands on the standard error output";
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 127) return false;
  }
  return false;
}

}  // namespace

std::vector<std::byte> link_library(std::span<const std::byte> object) {
  TemporaryFolder folder;
  const std::string input = folder.file("kernel.o"), output = folder.file("kernel.so");
  write_object(input, object);
  const std::vector<std::string> command = arguments(input, output);
  bool linked = false;
  std::string words;
  if (!link_within(command, linked, words)) linked = link_by_program(command, words);
  if (!linked) throw Error("linking a kernel failed: " + words);
  return read_file(output);
}

}  // namespace deep_accel::compile
