//===- NarrowFloats.cpp - bf16 and f16 for processors without them --------===//
//
// LLVM calls these where a processor has no instruction for them: to bf16 from
// f32, also to move a bf16 through a register, and from f64, which a processor
// has no instruction for but those with AVX512-FP16. GCC's libraries have those
// of bf16 from version 13 on, and libc and libm have none.
//
//===----------------------------------------------------------------------===//

#include "nm/Runtime/Export.h"

#include <cstdint>
#include <cstring>

/// The calling conventions of x86-64 and AArch64 return a float of 16 bits in
/// the low bits of the register of a float.
static float inLowBits(uint32_t bits) {
  float result;
  std::memcpy(&result, &bits, sizeof(result));
  return result;
}

/// Rounds to the nearest bf16, ties to even.
extern "C" NM_RUNTIME_API float __truncsfbf2(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  bool isNaN = (bits & 0x7fffffffu) > 0x7f800000u;
  // A NaN stays one: its payload may be in the bits that are cut off.
  uint32_t rounded =
      isNaN ? (bits | 0x400000u) : bits + 0x7fffu + ((bits >> 16) & 1);
  return inLowBits(rounded >> 16);
}

namespace {
/// A float of 16 bits: of its exponent and of its fraction.
struct NarrowFormat {
  int exponentBits, fractionBits;
};
} // namespace

static constexpr NarrowFormat kHalf{5, 10}, kBFloat{8, 7};
static constexpr int kDoubleFraction = 52, kDoubleBias = 1023,
                     kDoubleMaxExponent = 2047;

/// `significand` over 2^drop, to nearest, ties to even.
static uint64_t shiftRounding(uint64_t significand, int drop) {
  // A half of the last place is then more than any significand.
  if (drop > kDoubleFraction + 2)
    return 0;
  uint64_t kept = significand >> drop,
           rest = significand & ((uint64_t(1) << drop) - 1),
           half = uint64_t(1) << (drop - 1);
  return kept + (rest > half || (rest == half && (kept & 1)));
}

/// `value` rounded once, to nearest, ties to even.
static uint32_t roundDouble(double value, const NarrowFormat &format) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  auto sign = uint32_t(bits >> 63) << 15;
  auto exponent = int(bits >> kDoubleFraction & kDoubleMaxExponent);
  uint64_t fraction = bits & ((uint64_t(1) << kDoubleFraction) - 1);
  int drop = kDoubleFraction - format.fractionBits;
  uint32_t infinity = ((1u << format.exponentBits) - 1) << format.fractionBits;
  if (exponent == kDoubleMaxExponent) {
    uint32_t quiet = 1u << (format.fractionBits - 1);
    return sign | infinity |
           (fraction ? quiet | uint32_t(fraction >> drop) : 0);
  }
  // Subnormal doubles are far below the least of either format.
  if (exponent == 0)
    return sign;
  uint64_t significand = fraction | uint64_t(1) << kDoubleFraction;
  int narrow = exponent - kDoubleBias + (1 << (format.exponentBits - 1)) - 1;
  if (narrow <= 0)
    return sign | uint32_t(shiftRounding(significand, drop + 1 - narrow));
  // The leading one is added to the exponent, and so is what rounding carries.
  uint64_t rounded = (uint64_t(narrow - 1) << format.fractionBits) +
                     shiftRounding(significand, drop);
  return sign | (rounded < infinity ? uint32_t(rounded) : infinity);
}

/// Rounds to the nearest f16, ties to even.
extern "C" NM_RUNTIME_API float __truncdfhf2(double value) {
  return inLowBits(roundDouble(value, kHalf));
}

/// Rounds to the nearest bf16, ties to even.
extern "C" NM_RUNTIME_API float __truncdfbf2(double value) {
  return inLowBits(roundDouble(value, kBFloat));
}
