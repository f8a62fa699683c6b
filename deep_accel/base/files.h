// Files: reading whole, and writing so that nobody ever sees half of one.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace deep_accel {

// All throw IoError that names the file and the system's reason.

std::vector<std::byte> read_file(const std::filesystem::path& path);
std::string read_text(const std::filesystem::path& path);

// Writes under a temporary name in the same folder, syncs, renames over `path`, syncs the folder: readers in this and
// other processes see the old file or the new one, also after a crash. On failure no temporary is left. Makes the
// folder.
void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> contents);
void write_file_atomically(const std::filesystem::path& path, const std::string& contents);

// Removes temporaries of write_file_atomically in a folder that are older than `age`: those of processes that were
// killed between. Returns how many; what cannot be removed or read is passed over.
int remove_stale_temporaries(const std::filesystem::path& folder, std::chrono::seconds age);

// A folder of this program's user for things that can be made again: DEEP_ACCEL_CACHE_DIR, else
// $XDG_CACHE_HOME/deep_accel, else ~/.cache/deep_accel, else one below the temporary folder. Not created here.
std::filesystem::path cache_directory();

}  // namespace deep_accel
