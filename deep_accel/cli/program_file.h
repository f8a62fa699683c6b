// What the `tile` sub-commands share: the program that they work on, and where their text goes.
#pragma once

#include <string>

#include "deep_accel/tile/program.h"

namespace deep_accel::cli {

// Parses a file, or standard input where the path is "-". Throws ValueError, IoError.
tile::Program read_program(const std::string& path);

// Writes a text to a file, or to standard output where the path is empty or "-".
void write_text(const std::string& path, const std::string& text);

}  // namespace deep_accel::cli
