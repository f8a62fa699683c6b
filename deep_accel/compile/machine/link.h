// Linking an object file into a shared library, within the process.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace deep_accel::compile {

// The image of a shared library made of one object file. Uses LLD as a library; should that have failed in a way that
// it does not recover from, the program ld.lld-19 or ld.lld. Throws Error with the linker's words.
std::vector<std::byte> link_library(std::span<const std::byte> object);

}  // namespace deep_accel::compile
