// Conversions between f32 and the narrow types, on integers, for all formats by one pair of functions.
#include "deep_accel/compile/numerics/narrow.h"

#include <cmath>

#include "deep_accel/compile/numerics/lanes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace deep_accel::compile {
namespace {

enum class Specials { Ieee, NanOnly, None };  // of the largest codes: inf and NaN, one NaN, or neither

// A binary floating-point format of 1 + exponent_bits + mantissa_bits bits.
struct FloatFormat {
  int exponent_bits, mantissa_bits, bias;
  Specials specials;
  bool keeps_payload = false;  // of NaN, as the hardware does for f16

  int bits() const { return 1 + exponent_bits + mantissa_bits; }
  int shift() const { return 23 - mantissa_bits; }              // of the mantissa, to that of f32
  int64_t rebias() const { return int64_t{127 - bias} << 23; }  // of the exponent, to that of f32
  int64_t magnitude_mask() const { return (int64_t{1} << (bits() - 1)) - 1; }
  int64_t infinity() const { return ((int64_t{1} << exponent_bits) - 1) << mantissa_bits; }
  double smallest_normal() const { return std::ldexp(1.0, 1 - bias); }
};

FloatFormat format_of(Narrow kind) {
  switch (kind) {
    case Narrow::Fp8E4M3:
      return {4, 3, 7, Specials::NanOnly};
    case Narrow::Fp8E5M2:
      return {5, 2, 15, Specials::Ieee};
    case Narrow::Fp4E2M1:
      return {2, 1, 1, Specials::None};
    default:
      return {5, 10, 15, Specials::Ieee, true};
  }
}

constexpr int64_t kQuietNan = 0x7fc00000;
constexpr int64_t kInfinity = 0x7f800000;
constexpr int64_t kOneExponent = int64_t{1} << 23;

// `code` in i32 lanes to f32.
Lanes decode(Lanes code, const FloatFormat& format) {
  const Lanes magnitude = code & format.magnitude_mask();
  const Lanes sign = shift_left(code & (int64_t{1} << (format.bits() - 1)), 32 - format.bits());
  const Lanes normal = shift_left(magnitude, format.shift()) + format.rebias();
  // A denormal code has no hidden one: given one by the next exponent, it is subtracted again. (Scaling by a
  // multiplication would be shorter, but reads f32 denormals, which some processors do slowly or, when told so, take
  // for 0.)
  const Lanes denormal = from_bits(normal + kOneExponent);
  Lanes result = select(magnitude < (int64_t{1} << format.mantissa_bits),
                        bits(denormal - denormal.constant(format.smallest_normal())), normal);
  if (format.specials == Specials::Ieee) {
    const int64_t to_all_ones = int64_t{255 - ((1 << format.exponent_bits) - 1) - (127 - format.bias)} << 23;
    result = select(magnitude < format.infinity(), result, normal + to_all_ones);
  } else if (format.specials == Specials::NanOnly) {
    result = select(magnitude == format.magnitude_mask(), kQuietNan, result);
  }
  return from_bits(result | sign);
}

// f32 to codes in i32 lanes.
Lanes encode(Lanes x, const FloatFormat& format) {
  const Lanes all = bits(x);
  const Lanes magnitude = all & int64_t{0x7fffffff};
  const Lanes sign = shift_right(all & int64_t{0x80000000}, 32 - format.bits());
  // To nearest even: half a unit is added, less one bit when the last bit kept is 0. A carry runs into the exponent.
  const int shift = format.shift();
  const Lanes odd = shift_right(magnitude, shift) & 1;
  const Lanes rounded = shift_right(magnitude + ((int64_t{1} << (shift - 1)) - 1) + odd, shift);
  const Lanes normal = rounded - (int64_t{127 - format.bias} << format.mantissa_bits);
  // Below the normal numbers the unit is fixed: adding 2^23 units lets the addition round.
  const double unit = std::ldexp(1.0, 1 - format.bias - format.mantissa_bits);
  const Lanes anchor = x.constant(unit * 0x1p23);
  const Lanes denormal = bits(from_bits(magnitude) + anchor) - bits(anchor);
  const Lanes smallest_normal = bits(x.constant(format.smallest_normal()));
  Lanes code = select(magnitude < smallest_normal, denormal, normal);
  switch (format.specials) {
    case Specials::Ieee: {
      code = unsigned_min(code, code.constant(format.infinity()));
      Lanes nan = code.constant(format.infinity() | (int64_t{1} << (format.mantissa_bits - 1)));
      if (format.keeps_payload) nan = nan | shift_right(magnitude & 0x7fffff, shift);
      code = select(magnitude > kInfinity, nan, code) | sign;
      break;
    }
    case Specials::NanOnly:
      code = unsigned_min(code, code.constant(format.magnitude_mask())) | sign;
      break;
    case Specials::None:
      code = unsigned_min(code, code.constant(format.magnitude_mask())) | sign;
      // There is no NaN to give: the zero of the other sign, as ml_dtypes does.
      code = select(magnitude > kInfinity, sign ^ (int64_t{1} << (format.bits() - 1)), code);
      break;
  }
  return code;
}

Lanes decode_bf16(Lanes raw) { return from_bits(shift_left(zero_extend(raw, 32), 16)); }

Lanes encode_bf16(Lanes x) {
  const Lanes all = bits(x);
  const Lanes upper = shift_right(all, 16);
  const Lanes rounded = shift_right(all + ((upper & 1) + 0x7fff), 16);
  return truncate(select(is_nan(x), (upper & 0x8000) | 0x7fc0, rounded), 16);
}

// Hardware converts f16: e5m2 is its upper byte, and e4m3 with its exponent moved over is a 256th of its value.
Lanes decode_by_f16(Lanes raw, Narrow kind) {
  const auto f32 = raw.builder().getF32Type();
  if (kind == Narrow::F16) return convert_float(from_bits(raw), f32);
  const Lanes code = zero_extend(raw, 16);
  if (kind == Narrow::Fp8E5M2) return convert_float(from_bits(shift_left(code, 8)), f32);
  const Lanes half = from_bits(shift_left(code & 0x80, 8) | shift_left(code & 0x7f, 7));
  const Lanes value = convert_float(half, f32) * 256.0;
  const Lanes is_nan_code = (code & 0x7f) == 0x7f;
  return select(is_nan_code, value.constant(std::nan("")), value);
}

mlir::Value cast_through(Lanes raw, mlir::Type element) {
  return raw.builder().create<mlir::arith::BitcastOp>(raw.shaped(element), raw.value());
}

}  // namespace

mlir::Value widen(mlir::ImplicitLocOpBuilder& builder, mlir::Value raw, Narrow kind, NarrowOptions options) {
  LaneContext context{builder};
  const Lanes lanes(context, raw);
  switch (kind) {
    case Narrow::Int4:
      return shift_right_signed(shift_left(zero_extend(lanes, 32), 28), 28).value();
    case Narrow::BF16:
      return decode_bf16(lanes).value();
    case Narrow::Fp4E2M1:
      return decode(zero_extend(lanes, 32), format_of(kind)).value();
    case Narrow::Fp8E4M3:
    case Narrow::Fp8E5M2:
    case Narrow::F16:
      if (options.native_f16) return decode_by_f16(lanes, kind).value();
      return decode(zero_extend(lanes, 32), format_of(kind)).value();
  }
  llvm_unreachable("every narrow type is decoded above");
}

mlir::Value narrow(mlir::ImplicitLocOpBuilder& builder, mlir::Value wide, Narrow kind, NarrowOptions options) {
  LaneContext context{builder};
  const Lanes lanes(context, wide);
  switch (kind) {
    case Narrow::Int4:
      return (truncate(lanes, 8) & 0xf).value();
    case Narrow::BF16:
      if (options.native_bf16) {
        return cast_through(convert_float(lanes, builder.getBF16Type()), builder.getI16Type());
      }
      return encode_bf16(lanes).value();
    case Narrow::F16:
      if (options.native_f16) return bits(convert_float(lanes, builder.getF16Type())).value();
      return truncate(encode(lanes, format_of(kind)), 16).value();
    case Narrow::Fp8E4M3:
    case Narrow::Fp8E5M2:
    case Narrow::Fp4E2M1:
      return truncate(encode(lanes, format_of(kind)), 8).value();
  }
  llvm_unreachable("every narrow type is encoded above");
}

mlir::Value saturating_to_int(mlir::ImplicitLocOpBuilder& builder, mlir::Value x, int bits, bool is_signed) {
  LaneContext context{builder};
  const Lanes lanes(context, x);
  const unsigned width = bits <= 32 ? 32 : 64;
  const double low = is_signed ? -std::ldexp(1.0, bits - 1) : 0.0;
  const double end = std::ldexp(1.0, is_signed ? bits - 1 : bits);
  const Lanes number = select(is_nan(lanes), 0.0, lanes);
  const bool fits_signed = is_signed || bits < static_cast<int>(width);
  if (fits_signed && bits < (lanes.width() == 64 ? 53 : 24)) {
    // Both ends are numbers of the floating point type too.
    return to_int(at_most(at_least(number, low), end - 1), width).value();
  }
  // The upper end is not. What the conversion gives outside its range is not defined, so it is kept from it; the upper
  // half of an unsigned range is converted as if below it, and moved up after.
  const Lanes too_large = lanes.constant(end) <= number;
  const int64_t largest = is_signed ? static_cast<int64_t>(~uint64_t{0} >> (65 - bits)) : int64_t{-1};
  const Lanes inside = select(too_large, 0.0, at_least(number, low));
  if (is_signed) {
    const Lanes whole = to_int(inside, width);
    return select(too_large, largest, whole).value();
  }
  const Lanes upper = lanes.constant(end / 2) <= inside;
  const Lanes moved = to_int(select(upper, inside - end / 2, inside), width);
  const Lanes whole = select(upper, moved ^ (int64_t{1} << (bits - 1)), moved);
  return select(too_large, largest, whole).value();
}

mlir::Value unpack_nibbles(mlir::ImplicitLocOpBuilder& builder, mlir::Value packed) {
  LaneContext context{builder};
  const Lanes lanes(context, packed);
  const int64_t count = llvm::cast<mlir::VectorType>(packed.getType()).getNumElements();
  llvm::SmallVector<int64_t> order;
  for (int64_t i = 0; i < count; ++i) order.append({i, count + i});
  return builder.create<mlir::vector::ShuffleOp>((lanes & 0xf).value(), shift_right(lanes, 4).value(), order);
}

mlir::Value pack_nibbles(mlir::ImplicitLocOpBuilder& builder, mlir::Value nibbles) {
  LaneContext context{builder};
  const int64_t count = llvm::cast<mlir::VectorType>(nibbles.getType()).getNumElements();
  llvm::SmallVector<int64_t> even, odd;
  for (int64_t i = 0; i < count; i += 2) {
    even.push_back(i);
    odd.push_back(i + 1);
  }
  const Lanes low(context, builder.create<mlir::vector::ShuffleOp>(nibbles, nibbles, even));
  const Lanes high(context, builder.create<mlir::vector::ShuffleOp>(nibbles, nibbles, odd));
  return ((low & 0xf) | shift_left(high, 4)).value();
}

}  // namespace deep_accel::compile
