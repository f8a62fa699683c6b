// The small floating point formats as parameters, and rounding into them from the bits of a float or double. Integer
// arithmetic only: independent of the processor's rounding and flush-to-zero modes.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace deep_accel::formats {

enum class Specials {
  ieee,         // the largest exponent holds infinities and NaN
  nan_only,     // a NaN at all ones, no infinities ("fn")
  finite_only,  // neither
};

struct Format {
  int exponent_bits;
  int mantissa_bits;
  Specials specials;
  bool keeps_payload = false;  // of NaN, as F16C and NumPy do for f16; the others have one NaN

  constexpr int width() const { return 1 + exponent_bits + mantissa_bits; }
  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr uint32_t sign() const { return 1u << (width() - 1); }
  constexpr uint32_t infinity() const { return ((1u << exponent_bits) - 1) << mantissa_bits; }
  // The pattern of the largest finite value.
  constexpr uint32_t largest() const {
    return specials == Specials::ieee ? infinity() - 1 : specials == Specials::nan_only ? sign() - 2 : sign() - 1;
  }
  constexpr uint32_t nan() const {
    return specials == Specials::ieee ? infinity() | (1u << (mantissa_bits - 1)) : sign() - 1;
  }
};

inline constexpr Format kF16{5, 10, Specials::ieee, true};
inline constexpr Format kBF16{8, 7, Specials::ieee};
inline constexpr Format kE4M3{4, 3, Specials::nan_only};
inline constexpr Format kE5M2{5, 2, Specials::ieee};
inline constexpr Format kE2M1{2, 1, Specials::finite_only};

// Round to nearest even from float or double; see numeric.h for the rules.
template <Format F, typename Source>
constexpr uint32_t encode(Source value) {
  using Bits = std::conditional_t<sizeof(Source) == 8, uint64_t, uint32_t>;
  constexpr int kMantissa = sizeof(Source) == 8 ? 52 : 23;
  constexpr int kBias = sizeof(Source) == 8 ? 1023 : 127;
  constexpr int kDrop = kMantissa - F.mantissa_bits;
  constexpr Bits kInfinity = static_cast<Bits>(2 * kBias + 1) << kMantissa;

  Bits pattern = std::bit_cast<Bits>(value);
  uint32_t sign = (pattern >> (8 * sizeof(Bits) - 1)) ? F.sign() : 0;
  Bits magnitude = pattern << 1 >> 1;
  if (magnitude > kInfinity) {
    if constexpr (F.specials == Specials::finite_only) return sign ^ F.sign();
    if constexpr (F.keeps_payload) {
      return sign | F.nan() | static_cast<uint32_t>((magnitude & ((Bits{1} << kMantissa) - 1)) >> kDrop);
    }
    return sign | F.nan();
  }
  int exponent = static_cast<int>(magnitude >> kMantissa);
  Bits significand = magnitude & ((Bits{1} << kMantissa) - 1);
  if (exponent) {
    significand |= Bits{1} << kMantissa;
  } else {
    exponent = 1;  // a subnormal source
  }
  int target = exponent - kBias + F.bias();  // its exponent field
  int drop = target >= 1 ? kDrop : kDrop + 1 - target;
  if (drop > kMantissa + 2) return sign;  // below half of the smallest subnormal
  Bits half = Bits{1} << (drop - 1);
  Bits kept = significand >> drop;
  Bits rest = significand & ((half << 1) - 1);
  kept += rest > half || (rest == half && (kept & 1));
  // The implicit one of a normal number adds one to the exponent field, and so does a carry of the rounding.
  uint32_t rounded = static_cast<uint32_t>(kept);
  if (target >= 1) {
    if (target > (1 << F.exponent_bits)) {
      rounded = F.sign();  // far above the largest
    } else {
      rounded += static_cast<uint32_t>(target - 1) << F.mantissa_bits;
    }
  }
  if (rounded > F.largest()) {
    return sign | (F.specials == Specials::ieee       ? F.infinity()
                   : F.specials == Specials::nan_only ? F.nan()
                                                      : F.largest());
  }
  return sign | rounded;
}

// Exact: every value of these formats is a float.
template <Format F>
constexpr float decode(uint32_t pattern) {
  uint32_t sign = (pattern & F.sign()) ? 0x80000000u : 0;
  uint32_t magnitude = pattern & (F.sign() - 1);
  uint32_t exponent = magnitude >> F.mantissa_bits;
  uint32_t mantissa = magnitude & ((1u << F.mantissa_bits) - 1);
  if (magnitude > F.largest()) {
    if (F.specials == Specials::ieee && magnitude == F.infinity()) return std::bit_cast<float>(sign | 0x7f800000u);
    uint32_t payload = F.keeps_payload ? mantissa << (23 - F.mantissa_bits) : 0;
    return std::bit_cast<float>(sign | 0x7fc00000u | payload);
  }
  if (exponent == 0) {
    if (mantissa == 0) return std::bit_cast<float>(sign);
    if constexpr (F.exponent_bits == 8) return std::bit_cast<float>(sign | (mantissa << (23 - F.mantissa_bits)));
    int leading = std::bit_width(mantissa) - 1;
    mantissa = (mantissa << (F.mantissa_bits - leading)) & ((1u << F.mantissa_bits) - 1);
    uint32_t field = static_cast<uint32_t>(127 - F.bias() + 1 - (F.mantissa_bits - leading));
    return std::bit_cast<float>(sign | (field << 23) | (mantissa << (23 - F.mantissa_bits)));
  }
  uint32_t field = exponent + static_cast<uint32_t>(127 - F.bias());
  return std::bit_cast<float>(sign | (field << 23) | (mantissa << (23 - F.mantissa_bits)));
}

}  // namespace deep_accel::formats
