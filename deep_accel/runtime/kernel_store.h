// The part of the kernel cache that is on disk: one file for each kernel, in a folder that many processes may share.
//
// A file is a header (what it holds, of which key, with which SHA-256) and the kernel's image. Files appear whole
// (write_file_atomically); a damaged one is reported, removed, and counts as absent.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "deep_accel/base/fork.h"
#include "deep_accel/base/hash.h"

namespace deep_accel {

struct StoredKernel {
  std::string key;   // hexadecimal
  std::string name;  // the kernel's
  int64_t bytes = 0;
  std::chrono::system_clock::time_point last_used;
};

class KernelStore {
 public:
  struct Counts {
    int64_t damaged = 0;  // entries found damaged
    int64_t evicted = 0;  // entries removed to stay within the limit
  };

  // An empty folder or a limit of 0: nothing is stored.
  KernelStore(std::filesystem::path folder, int64_t limit_bytes);

  const std::filesystem::path& folder() const { return folder_; }
  int64_t limit() const { return limit_; }

  // The image, if it is there and whole. Marks it as used now.
  std::optional<std::vector<std::byte>> read(const Sha256& key);
  // Keeps an image, then removes those least recently used until the folder is within its limit. Where the folder
  // cannot be written (read-only, full), one warning, and no more tries in this process.
  void write(const Sha256& key, const std::string& name, std::span<const std::byte> image);
  // For an image that was whole and yet could not be loaded.
  void remove_damaged(const Sha256& key, const std::string& reason);

  std::vector<StoredKernel> list() const;
  // Removes all entries; returns how many.
  int64_t clear();
  Counts counts() const;

 private:
  std::filesystem::path path_of(const Sha256& key) const;
  void evict(const std::filesystem::path& newest);

  std::filesystem::path folder_;
  int64_t limit_;
  mutable ForkSafeMutex mutex_;
  Counts counts_;
  bool writable_ = true;
  bool cleaned_ = false;  // stale temporaries of others were looked for
};

}  // namespace deep_accel
