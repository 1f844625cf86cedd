//===- SplitTerms.h - f32 as a sum of bf16 terms ----------------*- C++ -*-===//
//
// Tensor cores multiply bf16, which has 8 bits of an f32's 24. An f32 x is
// split into terms t0 + t1 + t2 = 2^16 * x, each the bf16 nearest to what the
// terms before it leave, so that three are x exactly and two are within 2^-17
// of it. The factor keeps the lowest term of the smallest x, 2^-149, in reach
// of bf16, whose smallest is 2^-133.
//
// Values of 2^44 and more are huge: sums of 2^7 products of smaller ones, each
// scaled by 2^32, stay finite. Of a huge, an infinite or a NaN x, t0 is NaN,
// which no sum hides, and the others are the bits of x, the high half first; of
// two terms the second is the high half, a NaN's made one that this shows.
//
// A zero that only fills a group of a sparse operand up (SparseOperand.h) is
// stored as the terms 0, -0, 0, which no weight has, not even 0: the second is
// made of x less its first term, and x - x is +0.
//
//===----------------------------------------------------------------------===//

#ifndef NM_FORMAT_SPLITTERMS_H
#define NM_FORMAT_SPLITTERMS_H

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace nm {

/// The most terms of a value.
inline constexpr int64_t kMaxTerms = 3;
/// Terms add up to this times the value, which is not huge.
inline constexpr float kTermScale = 0x1p16f;
inline constexpr float kHuge = 0x1p44f;
/// What products of terms are multiplied by.
inline constexpr float kTermProductScale = 1 / (kTermScale * kTermScale);
/// The first term of a huge value, and a NaN of which no bit is lost in bf16.
inline constexpr uint16_t kHugeTerm = 0x7fc0;
/// The second term of a zero that fills a group up; its others are 0.
inline constexpr uint16_t kFilledTerm = 0x8000;
/// Elements of m that have a term each side by side.
inline constexpr int64_t kTermColumns = 64;

namespace detail {
inline uint32_t toBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}
inline float fromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}
/// A finite value, far from the largest, to the nearest bf16, ties to even.
inline uint16_t roundToBF16(float value) {
  uint32_t bits = toBits(value);
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
inline float fromBF16(uint16_t bits) { return fromBits(uint32_t(bits) << 16); }
} // namespace detail

/// The bits of the terms of `value`; those past `terms` are not set.
inline std::array<uint16_t, kMaxTerms> splitTerms(float value, int64_t terms) {
  std::array<uint16_t, kMaxTerms> result = {};
  if (!(std::fabs(value) < kHuge)) {
    uint32_t bits = detail::toBits(value);
    bool isNaN = std::isnan(value);
    result[0] = kHugeTerm;
    result[1] = isNaN ? kHugeTerm : uint16_t(bits >> 16);
    if (terms == 3)
      result[2] = uint16_t(bits);
    return result;
  }
  float rest = value * kTermScale;
  for (int64_t term = 0; term < terms; ++term) {
    result[term] = detail::roundToBF16(rest);
    rest -= detail::fromBF16(result[term]);
  }
  return result;
}

/// What `terms` terms are of: with two, as close as they are.
inline float joinTerms(const uint16_t *terms, int64_t count) {
  if ((terms[0] & 0x7fff) > 0x7f80)
    return detail::fromBits(uint32_t(terms[1]) << 16 |
                            (count == 3 ? terms[2] : 0));
  float sum = 0;
  for (int64_t term = count; term-- > 0;)
    sum += detail::fromBF16(terms[term]);
  return sum / kTermScale;
}

} // namespace nm

#endif // NM_FORMAT_SPLITTERMS_H
