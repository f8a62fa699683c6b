// Small helpers for messages.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deep_accel/base/function_ref.h"

namespace deep_accel {

// "; did you mean 'softmax'?" where one of `known` is near `text` (edit distance), else "".
std::string did_you_mean(std::string_view text, const std::vector<std::string>& known);

// The fewest insertions, deletions, replacements and swaps of neighbours that turn one into the other.
int edit_distance(std::string_view a, std::string_view b);

// "a, b, c"
std::string join(std::span<const std::string> parts, std::string_view separator = ", ");

// What a kernel prints (tile.print): each "{}" of the text stands for the next of `count` values, and values for which
// there is none follow, each after a blank. More "{}" than values stay as they are.
std::string fill_placeholders(std::string_view text, size_t count, FunctionRef<std::string(size_t)> value);
// A number as kernels print it: whole numbers below 2^53 in full, others with nine significant digits.
std::string printed_number(double value);

// "1.5 GiB", "12 KiB", "17 bytes".
std::string format_bytes(int64_t bytes);

// Bytes from "1048576", "512K", "64M", "2G", "1T" (powers of 1024; "KiB", "MB" and so on mean the same).
// Throws ValueError.
int64_t parse_bytes(std::string_view text);

}  // namespace deep_accel
