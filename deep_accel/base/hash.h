// SHA-256 (OpenSSL's), for naming things by their contents and for noticing damage.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace deep_accel {

using Sha256 = std::array<uint8_t, 32>;

// Throws Error where OpenSSL has no SHA-256 (a provider that forbids it).
Sha256 sha256(std::span<const std::byte> data);
Sha256 sha256(const std::string& text);

// Lower-case hexadecimal digits.
std::string to_hex(std::span<const uint8_t> bytes);

}  // namespace deep_accel
