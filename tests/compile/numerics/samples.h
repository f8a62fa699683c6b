// Which arguments the numerics tests try, and how far a result is off.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <thread>
#include <vector>

namespace deep_accel::test {

/// `--exhaustive`: all 2^32 arguments of every function of f32, instead of one of each 256 neighbours and the special
/// ones.
extern bool exhaustive;

inline uint32_t mix(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352d;
  x = (x ^ (x >> 15)) * 0x846ca68b;
  return x ^ (x >> 16);
}

/// Calls check(first_bits, count, values) for chunks of f32 arguments: everything, or a stratified sample (one pattern
/// of each 256 neighbours) and the neighbourhood of every power of two. Two threads, so `check` works on its own data.
template <typename Check>
void for_f32_arguments(Check check) {
  constexpr uint32_t kChunk = 1 << 14;
  const uint64_t chunks = (exhaustive ? uint64_t{1} << 32 : uint64_t{1} << 24) / kChunk;
  const auto work = [&](uint64_t begin, uint64_t end, int thread) {
    std::vector<float> values(kChunk);
    for (uint64_t chunk = begin; chunk < end; ++chunk) {
      for (uint32_t i = 0; i < kChunk; ++i) {
        const uint32_t index = static_cast<uint32_t>(chunk * kChunk) + i;
        values[i] = std::bit_cast<float>(exhaustive ? index : index * 256 + (mix(index) & 255));
      }
      check(values, thread);
    }
  };
  std::thread other(work, chunks / 2, chunks, 1);
  work(0, chunks / 2, 0);
  other.join();
  // 16 patterns on either side of every exponent, both signs: zeros, denormal numbers, infinities and NaN among them.
  std::vector<float> boundaries;
  for (uint32_t exponent = 0; exponent < 512; ++exponent) {
    for (int offset = -16; offset < 16; ++offset) {
      boundaries.push_back(std::bit_cast<float>((exponent << 23) + static_cast<uint32_t>(offset)));
    }
  }
  check(boundaries, 0);
}

/// |got - want| in units of the last place of `want`; infinite where NaN, infinity or the sign of zero is wrong.
template <typename Float, typename Reference>
double ulp_error(Float got, Reference want) {
  constexpr double kWrong = std::numeric_limits<double>::infinity();
  if (std::isnan(want)) return std::isnan(got) ? 0 : kWrong;
  if (std::isnan(got)) return kWrong;
  if (std::signbit(got) != std::signbit(want)) return kWrong;
  if (want == 0 || std::isinf(want)) return got == static_cast<Float>(want) ? 0 : kWrong;
  using Limits = std::numeric_limits<Float>;
  // Infinity counts as the next number after the largest.
  const Reference end = std::ldexp(Reference{1}, Limits::max_exponent);
  const Reference exact = std::min(std::abs(want), end);
  const Reference result = std::isinf(got) ? end : std::abs(static_cast<Reference>(got));
  const int exponent = std::max(std::ilogb(exact), Limits::min_exponent - 1) - (Limits::digits - 1);
  return static_cast<double>(std::ldexp(std::abs(result - exact), -exponent));
}

}  // namespace deep_accel::test
