// POSIX files with the system's reason in each message.
#include "deep_accel/base/files.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <random>
#include <system_error>
#include <utility>

#include "deep_accel/base/environment.h"
#include "deep_accel/base/error.h"

namespace deep_accel {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTemporaryMark = ".deep_accel-tmp-";

[[noreturn]] void fail(const std::string& action, const fs::path& path, int error) {
  throw IoError("cannot " + action + " '" + path.string() + "': " + std::generic_category().message(error));
}

// Closes on all paths; release() hands the descriptor to somebody who looks at close()'s result.
class File {
 public:
  File(const fs::path& path, int flags, mode_t mode = 0) {
    do {
      descriptor_ = ::open(path.c_str(), flags | O_CLOEXEC, mode);
    } while (descriptor_ < 0 && errno == EINTR);
  }
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return descriptor_; }
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_ = -1;
};

template <typename Container>
Container read_into(const fs::path& path) {
  File file(path, O_RDONLY);
  if (file.get() < 0) fail("open", path, errno);
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) fail("examine", path, errno);
  if (S_ISDIR(info.st_mode)) fail("read", path, EISDIR);
  Container contents;
  // Files in /proc say 0 and others may grow: read until the end, the size is a hint.
  contents.resize(info.st_size > 0 ? static_cast<size_t>(info.st_size) : 4096);
  size_t used = 0;
  for (;;) {
    ssize_t got = ::read(file.get(), contents.data() + used, contents.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path, errno);
    if (got == 0) break;
    used += static_cast<size_t>(got);
    if (used == contents.size()) contents.resize(used + used / 2 + 64);
  }
  contents.resize(used);
  return contents;
}

void write_all(int descriptor, std::span<const std::byte> contents, const fs::path& path) {
  while (!contents.empty()) {
    ssize_t written = ::write(descriptor, contents.data(), contents.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", path, errno);
    contents = contents.subspan(static_cast<size_t>(written));
  }
}

fs::path temporary_name(const fs::path& path) {
  static std::atomic<uint64_t> serial{0};
  // The process id alone is not enough: folders are shared between machines and containers.
  thread_local std::random_device random;
  return path.parent_path() / (path.filename().string() + kTemporaryMark + std::to_string(::getpid()) + "-" +
                               std::to_string(serial.fetch_add(1)) + "-" + std::to_string(random()));
}

void sync_folder(const fs::path& folder) {
  File file(folder.empty() ? fs::path(".") : folder, O_RDONLY | O_DIRECTORY);
  // Some file systems cannot sync a folder (EINVAL); the file is in place all the same.
  if (file.get() >= 0) ::fsync(file.get());
}

}  // namespace

std::vector<std::byte> read_file(const fs::path& path) { return read_into<std::vector<std::byte>>(path); }
std::string read_text(const fs::path& path) { return read_into<std::string>(path); }

void write_file_atomically(const fs::path& path, std::span<const std::byte> contents) {
  if (!path.parent_path().empty()) {
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) fail("create folder", path.parent_path(), error.value());
  }
  fs::path temporary = temporary_name(path);
  File file(temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
  if (file.get() < 0) fail("create", temporary, errno);
  try {
    write_all(file.get(), contents, path);
    if (::fsync(file.get()) != 0 && errno != EINVAL) fail("write", path, errno);
    // Network file systems report a full disk here.
    if (::close(file.release()) != 0 && errno != EINTR) fail("write", path, errno);
    if (::rename(temporary.c_str(), path.c_str()) != 0) fail("write", path, errno);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_folder(path.parent_path());
}

void write_file_atomically(const fs::path& path, const std::string& contents) {
  write_file_atomically(path, std::as_bytes(std::span(contents)));
}

int remove_stale_temporaries(const fs::path& folder, std::chrono::seconds age) {
  int removed = 0;
  std::error_code error;
  auto oldest = fs::file_time_type::clock::now() - age;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().filename().string().find(kTemporaryMark) == std::string::npos) continue;
    std::error_code ignored;
    auto written = entry->last_write_time(ignored);
    if (!ignored && written < oldest && fs::remove(entry->path(), ignored) && !ignored) ++removed;
  }
  return removed;
}

fs::path cache_directory() {
  if (auto chosen = environment("DEEP_ACCEL_CACHE_DIR")) return *chosen;
  // The XDG specification: a relative path there is invalid and to be ignored.
  if (auto xdg = environment("XDG_CACHE_HOME"); xdg && fs::path(*xdg).is_absolute())
    return fs::path(*xdg) / "deep_accel";
  if (auto home = environment("HOME")) return fs::path(*home) / ".cache" / "deep_accel";
  return fs::path("/tmp") / ("deep_accel-" + std::to_string(::getuid()));
}

}  // namespace deep_accel
