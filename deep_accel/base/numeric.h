// Values of every dtype: to and from double and int64, one at a time and in bulk.
//
// Rules, the same in tensors, in the interpreter and in compiled kernels:
// - to a float type: round to nearest, ties to even, in one step from the source (double and int64 too: no rounding
// twice).
//   NaN stays NaN. Above the largest value: f16, bf16, f8e5m2 give infinity; f8e4m3 gives NaN (it has no infinity),
//   also for infinities; f4e2m1 saturates at 6, and NaN becomes its zero with the sign bit flipped (0x8, or 0x0 for
//   -NaN). This is what ml_dtypes does, save that it rounds double to bf16 twice.
// - float to integer: truncates towards zero, as in C; outside the range, where C is undefined, it saturates, and NaN
// gives 0.
// - integer to integer: keeps the low bits (wraps).
// - to bool: 1 unless the value equals 0 (NaN gives 1). From bool: 0 or 1.
#pragma once

#include <cstdint>

#include "deep_accel/base/dtype.h"

namespace deep_accel {

// The value of a bit pattern in the low bits(dtype) bits, and the pattern of a value. i64 beyond 2^53 loses bits here.
double decode(DType dtype, uint64_t pattern);
uint64_t encode(DType dtype, double value);

// The same through int64, exact for integers.
int64_t decode_integer(DType dtype, uint64_t pattern);
uint64_t encode_integer(DType dtype, int64_t value);

// The bit pattern of element `index` counted from `base`; packed types: two to a byte, even index in the low nibble. A
// packed store reads and writes the whole byte: two threads must not store into the same byte.
uint64_t load_pattern(DType dtype, const void* base, int64_t index);
void store_pattern(DType dtype, void* base, int64_t index, uint64_t pattern);

inline double load_element(DType dtype, const void* base, int64_t index) {
  return decode(dtype, load_pattern(dtype, base, index));
}
inline void store_element(DType dtype, void* base, int64_t index, double value) {
  store_pattern(dtype, base, index, encode(dtype, value));
}
inline int64_t load_integer(DType dtype, const void* base, int64_t index) {
  return decode_integer(dtype, load_pattern(dtype, base, index));
}
inline void store_integer(DType dtype, void* base, int64_t index, int64_t value) {
  store_pattern(dtype, base, index, encode_integer(dtype, value));
}

// `count` consecutive elements from one dtype to another; the memory must not overlap. Where an odd count ends within a
// byte of a packed destination, its other nibble is kept.
void convert(DType from, const void* source, DType to, void* destination, int64_t count);

// The largest finite value of a type, the distance from 1 to the next value (0 for integers and bool).
double largest(DType dtype);
double epsilon(DType dtype);

}  // namespace deep_accel
