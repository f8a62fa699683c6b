// One call of OpenSSL's digest interface.
#include "deep_accel/base/hash.h"

#include <openssl/evp.h>

#include "deep_accel/base/error.h"

namespace deep_accel {

Sha256 sha256(std::span<const std::byte> data) {
  Sha256 digest{};
  unsigned length = 0;
  if (EVP_Digest(data.data(), data.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1 ||
      length != digest.size()) {
    throw Error("OpenSSL could not compute a SHA-256");
  }
  return digest;
}

Sha256 sha256(const std::string& text) { return sha256(std::as_bytes(std::span(text))); }

std::string to_hex(std::span<const uint8_t> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace deep_accel
