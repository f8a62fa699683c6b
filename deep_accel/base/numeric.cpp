// One element at a time.
#include "deep_accel/base/numeric.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "deep_accel/base/float_formats.h"

namespace deep_accel {
namespace {

// The low `width` bits as a two's complement number.
int64_t sign_extend(uint64_t pattern, int width) {
  int shift = 64 - width;
  return static_cast<int64_t>(pattern << shift) >> shift;
}

int64_t truncate_saturating(double value, int64_t low, int64_t high) {
  if (std::isnan(value)) return 0;
  // 2^63 is the double nearest to the largest int64, and is itself outside.
  if (value >= static_cast<double>(high)) return high;
  if (value <= static_cast<double>(low)) return low;
  return static_cast<int64_t>(value);
}

// A double that rounds to any format of at most 51 bits as the integer itself would: 53 bits are kept, and where others
// were lost, the lowest kept one is set ("round to odd", Boldo and Melquiond 2008).
double to_double_odd(int64_t value) {
  uint64_t magnitude = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  int shift = std::bit_width(magnitude) - 53;
  if (shift > 0) {
    uint64_t kept = magnitude >> shift;
    kept |= (kept << shift) != magnitude;
    magnitude = kept << shift;
  }
  double result = static_cast<double>(magnitude);
  return value < 0 ? -result : result;
}

}  // namespace

double decode(DType dtype, uint64_t pattern) {
  switch (dtype) {
    case DType::f64:
      return std::bit_cast<double>(pattern);
    case DType::f32:
      return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(pattern)));
    case DType::f16:
      return static_cast<double>(formats::decode<formats::kF16>(pattern & 0xffff));
    case DType::bf16:
      return static_cast<double>(formats::decode<formats::kBF16>(pattern & 0xffff));
    case DType::f8e4m3:
      return static_cast<double>(formats::decode<formats::kE4M3>(pattern & 0xff));
    case DType::f8e5m2:
      return static_cast<double>(formats::decode<formats::kE5M2>(pattern & 0xff));
    case DType::f4e2m1:
      return static_cast<double>(formats::decode<formats::kE2M1>(pattern & 0xf));
    default:
      return static_cast<double>(decode_integer(dtype, pattern));
  }
}

uint64_t encode(DType dtype, double value) {
  switch (dtype) {
    case DType::f64:
      return std::bit_cast<uint64_t>(value);
    case DType::f32:
      return std::bit_cast<uint32_t>(static_cast<float>(value));
    case DType::f16:
      return formats::encode<formats::kF16>(value);
    case DType::bf16:
      return formats::encode<formats::kBF16>(value);
    case DType::f8e4m3:
      return formats::encode<formats::kE4M3>(value);
    case DType::f8e5m2:
      return formats::encode<formats::kE5M2>(value);
    case DType::f4e2m1:
      return formats::encode<formats::kE2M1>(value);
    case DType::u8:
      return static_cast<uint64_t>(truncate_saturating(value, 0, 255));
    case DType::boolean:
      return value != 0;
    default: {
      int width = bits(dtype);
      int64_t low = sign_extend(uint64_t{1} << (width - 1), width);
      return encode_integer(dtype, truncate_saturating(value, low, ~low));
    }
  }
}

int64_t decode_integer(DType dtype, uint64_t pattern) {
  if (is_float(dtype)) {
    return truncate_saturating(decode(dtype, pattern), std::numeric_limits<int64_t>::min(),
                               std::numeric_limits<int64_t>::max());
  }
  if (dtype == DType::boolean) return (pattern & 0xff) != 0;
  if (dtype == DType::u8) return static_cast<int64_t>(pattern & 0xff);
  return sign_extend(pattern, bits(dtype));
}

uint64_t encode_integer(DType dtype, int64_t value) {
  if (dtype == DType::f64) return std::bit_cast<uint64_t>(static_cast<double>(value));
  if (is_float(dtype)) return encode(dtype, to_double_odd(value));
  if (dtype == DType::boolean) return value != 0;
  int width = bits(dtype);
  return width == 64 ? static_cast<uint64_t>(value) : static_cast<uint64_t>(value) & ((uint64_t{1} << width) - 1);
}

uint64_t load_pattern(DType dtype, const void* base, int64_t index) {
  const auto* bytes = static_cast<const uint8_t*>(base);
  switch (bits(dtype)) {
    case 4:
      return (bytes[index >> 1] >> ((index & 1) * 4)) & 0xf;
    case 8:
      return bytes[index];
    case 16: {
      uint16_t pattern;
      std::memcpy(&pattern, bytes + index * 2, 2);
      return pattern;
    }
    case 32: {
      uint32_t pattern;
      std::memcpy(&pattern, bytes + index * 4, 4);
      return pattern;
    }
    default: {
      uint64_t pattern;
      std::memcpy(&pattern, bytes + index * 8, 8);
      return pattern;
    }
  }
}

void store_pattern(DType dtype, void* base, int64_t index, uint64_t pattern) {
  auto* bytes = static_cast<uint8_t*>(base);
  switch (bits(dtype)) {
    case 4: {
      int shift = static_cast<int>(index & 1) * 4;
      uint8_t& byte = bytes[index >> 1];
      byte = static_cast<uint8_t>((byte & (0xf0 >> shift)) | ((pattern & 0xf) << shift));
      break;
    }
    case 8:
      bytes[index] = static_cast<uint8_t>(pattern);
      break;
    case 16: {
      auto narrow = static_cast<uint16_t>(pattern);
      std::memcpy(bytes + index * 2, &narrow, 2);
      break;
    }
    case 32: {
      auto narrow = static_cast<uint32_t>(pattern);
      std::memcpy(bytes + index * 4, &narrow, 4);
      break;
    }
    default:
      std::memcpy(bytes + index * 8, &pattern, 8);
  }
}

double largest(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return std::numeric_limits<double>::max();
    case DType::f32:
      return static_cast<double>(std::numeric_limits<float>::max());
    case DType::f16:
      return 65504;
    case DType::bf16:
      return decode(dtype, formats::kBF16.largest());
    case DType::f8e4m3:
      return 448;
    case DType::f8e5m2:
      return 57344;
    case DType::f4e2m1:
      return 6;
    case DType::u8:
      return 255;
    case DType::boolean:
      return 1;
    default:
      return static_cast<double>(~sign_extend(uint64_t{1} << (bits(dtype) - 1), bits(dtype)));
  }
}

double epsilon(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return std::numeric_limits<double>::epsilon();
    case DType::f32:
      return static_cast<double>(std::numeric_limits<float>::epsilon());
    case DType::f16:
      return 0x1p-10;
    case DType::bf16:
      return 0x1p-7;
    case DType::f8e4m3:
      return 0x1p-3;
    case DType::f8e5m2:
      return 0x1p-2;
    case DType::f4e2m1:
      return 0x1p-1;
    default:
      return 0;
  }
}

}  // namespace deep_accel
