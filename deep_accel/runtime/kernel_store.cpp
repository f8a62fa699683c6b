// Files of kernels: header, image, and the order in which they go.
#include "deep_accel/runtime/kernel_store.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <mutex>
#include <system_error>
#include <utility>

#include "deep_accel/base/error.h"
#include "deep_accel/base/files.h"
#include "deep_accel/base/log.h"
#include "deep_accel/base/text.h"

namespace deep_accel {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExtension = ".kernel";
constexpr auto kStale = std::chrono::hours(1);

// As in the file, little-endian like every machine that we run on.
struct Header {
  char magic[8] = {'D', 'A', 'K', 'E', 'R', 'N', 'E', 'L'};
  uint32_t version = 1;
  uint32_t header_bytes = sizeof(Header);
  uint64_t payload_bytes = 0;
  Sha256 payload_sha256{};
  Sha256 key{};
  char name[64] = {};
};
static_assert(sizeof(Header) == 152);

std::optional<Header> parse_header(std::span<const std::byte> file) {
  Header header;
  if (file.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, file.data(), sizeof header);
  Header expected;
  bool sound = std::memcmp(header.magic, expected.magic, sizeof header.magic) == 0 &&
               header.version == expected.version && header.header_bytes == sizeof header;
  header.name[sizeof header.name - 1] = 0;
  return sound ? std::optional(header) : std::nullopt;
}

// What is wrong with a file, or "".
std::string damage(std::span<const std::byte> file, const Sha256& key) {
  std::optional<Header> header = parse_header(file);
  if (!header) return "its header is damaged";
  std::span<const std::byte> payload = file.subspan(sizeof(Header));
  if (payload.size() != header->payload_bytes) {
    return "it has " + std::to_string(payload.size()) + " bytes of " + std::to_string(header->payload_bytes);
  }
  if (header->key != key) return "it belongs to another key";
  if (sha256(payload) != header->payload_sha256) return "its contents do not match their SHA-256";
  return "";
}

bool is_entry(const fs::directory_entry& entry) {
  return entry.path().extension() == kExtension && entry.path().stem().string().size() == 64;
}

// Calls visit(path, bytes, last use) for each entry; what vanishes meanwhile (other processes clean up too) is passed
// over.
template <typename Visit>
void for_each_entry(const fs::path& folder, Visit visit) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    struct stat info{};
    if (!is_entry(*entry) || ::stat(entry->path().c_str(), &info) != 0) continue;
    auto since_epoch = std::chrono::seconds(info.st_mtim.tv_sec) + std::chrono::nanoseconds(info.st_mtim.tv_nsec);
    visit(entry->path(), static_cast<int64_t>(info.st_size),
          std::chrono::system_clock::time_point(
              std::chrono::duration_cast<std::chrono::system_clock::duration>(since_epoch)));
  }
}

}  // namespace

KernelStore::KernelStore(fs::path folder, int64_t limit_bytes)
    : folder_(std::move(folder)), limit_(folder_.empty() ? 0 : limit_bytes) {}

fs::path KernelStore::path_of(const Sha256& key) const { return folder_ / (to_hex(key) + kExtension); }

std::optional<std::vector<std::byte>> KernelStore::read(const Sha256& key) {
  if (limit_ <= 0) return std::nullopt;
  fs::path path = path_of(key);
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  std::vector<std::byte> file;
  try {
    file = read_file(path);
  } catch (const IoError& error) {
    // Gone since we looked, or not ours to read: as if it were not there.
    log_info(error.what());
    return std::nullopt;
  }
  if (std::string reason = damage(file, key); !reason.empty()) {
    remove_damaged(key, reason);
    return std::nullopt;
  }
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // used now; in vain on a read-only folder
  file.erase(file.begin(), file.begin() + sizeof(Header));
  return file;
}

void KernelStore::remove_damaged(const Sha256& key, const std::string& reason) {
  fs::path path = path_of(key);
  log_warning("the cached kernel '" + path.string() + "' is damaged and is compiled again: " + reason);
  std::error_code ignored;
  fs::remove(path, ignored);
  std::lock_guard lock(mutex_);
  ++counts_.damaged;
}

void KernelStore::write(const Sha256& key, const std::string& name, std::span<const std::byte> image) {
  Header header;
  header.payload_bytes = image.size();
  header.payload_sha256 = sha256(image);
  header.key = key;
  std::memcpy(header.name, name.data(), std::min(name.size(), sizeof header.name - 1));
  std::vector<std::byte> file(sizeof header + image.size());
  std::memcpy(file.data(), &header, sizeof header);
  std::copy(image.begin(), image.end(), file.begin() + sizeof header);
  if (static_cast<int64_t>(file.size()) > limit_) return;

  bool clean = false;
  {
    std::lock_guard lock(mutex_);
    if (!writable_) return;
    clean = !std::exchange(cleaned_, true);
  }
  if (clean) remove_stale_temporaries(folder_, kStale);
  try {
    write_file_atomically(path_of(key), file);
  } catch (const IoError& error) {
    std::lock_guard lock(mutex_);
    if (!std::exchange(writable_, false)) return;
    log_warning(std::string("kernels are cached in memory only: ") + error.what() +
                "; choose another folder with DEEP_ACCEL_CACHE_DIR");
    return;
  }
  evict(path_of(key));
}

void KernelStore::evict(const fs::path& newest) {
  struct Entry {
    std::chrono::system_clock::time_point last_used;
    int64_t bytes;
    fs::path path;
  };
  std::vector<Entry> entries;
  int64_t total = 0;
  for_each_entry(folder_, [&](const fs::path& path, int64_t bytes, std::chrono::system_clock::time_point last_used) {
    total += bytes;
    if (path != newest) entries.push_back({last_used, bytes, path});
  });
  if (total <= limit_) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.last_used < b.last_used; });
  // Somewhat below, so that not every later entry has to evict again.
  int64_t wanted = limit_ / 10 * 9;
  int64_t evicted = 0;
  for (const Entry& entry : entries) {
    if (total <= wanted) break;
    std::error_code ignored;
    if (fs::remove(entry.path, ignored)) ++evicted;
    total -= entry.bytes;
  }
  std::lock_guard lock(mutex_);
  counts_.evicted += evicted;
}

std::vector<StoredKernel> KernelStore::list() const {
  std::vector<StoredKernel> result;
  for_each_entry(folder_, [&](const fs::path& path, int64_t bytes, std::chrono::system_clock::time_point last_used) {
    std::vector<std::byte> start(sizeof(Header));
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(start.data()), static_cast<std::streamsize>(start.size()));
    std::optional<Header> header = file ? parse_header(start) : std::nullopt;
    result.push_back({path.stem().string(), header ? header->name : "(damaged)", bytes, last_used});
  });
  std::sort(result.begin(), result.end(),
            [](const StoredKernel& a, const StoredKernel& b) { return a.last_used > b.last_used; });
  return result;
}

int64_t KernelStore::clear() {
  int64_t removed = 0;
  for_each_entry(folder_, [&](const fs::path& path, int64_t, std::chrono::system_clock::time_point) {
    std::error_code ignored;
    removed += fs::remove(path, ignored);
  });
  remove_stale_temporaries(folder_, kStale);
  return removed;
}

KernelStore::Counts KernelStore::counts() const {
  std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace deep_accel
