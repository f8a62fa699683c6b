// NumPy's .npy files: one array each, for the command line's inputs and outputs.
//
// Types that NumPy does not have: bf16 and f8 are written as ml_dtypes writes them (opaque elements of 2 and 1 bytes);
// f4e2m1 and i4 as bytes of two elements, as they lie in memory, so that the last axis is half as long.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "deep_accel/runtime/tensor.h"

namespace deep_accel::cli {

// The array in a file's bytes, as a contiguous tensor. `wanted` is the dtype that the caller needs: opaque elements and
// bytes (uint8) are taken as the bits of a wanted bf16, f8, f4e2m1 or i4; other values are converted.
// `name` is for messages. Throws ValueError where the bytes are no such file, TypeError for element types that there is
// no dtype for.
Tensor parse_npy(std::span<const std::byte> file, const std::string& name, std::optional<DType> wanted = std::nullopt);

// A file's bytes (format 1.0).
std::vector<std::byte> npy_bytes(const Tensor& tensor);

// The same from and to files. Also throw IoError.
Tensor read_npy(const std::string& path, std::optional<DType> wanted = std::nullopt);
void write_npy(const std::string& path, const Tensor& tensor);

}  // namespace deep_accel::cli
