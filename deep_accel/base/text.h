// Small helpers for messages.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace deep_accel {

// "; did you mean 'softmax'?" where one of `known` is near `text` (edit distance), else "".
std::string did_you_mean(std::string_view text, const std::vector<std::string>& known);

// The fewest insertions, deletions, replacements and swaps of neighbours that turn one into the other.
int edit_distance(std::string_view a, std::string_view b);

// "a, b, c"
std::string join(std::span<const std::string> parts, std::string_view separator = ", ");

// "1.5 GiB", "12 KiB", "17 bytes".
std::string format_bytes(int64_t bytes);

// Bytes from "1048576", "512K", "64M", "2G", "1T" (powers of 1024; "KiB", "MB" and so on mean the same).
// Throws ValueError.
int64_t parse_bytes(std::string_view text);

}  // namespace deep_accel
