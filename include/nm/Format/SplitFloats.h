//===- SplitFloats.h - f32 as a sum of bf16 splits --------------*- C++ -*-===//
//
// Tensor cores multiply bf16, which has 8 bits of an f32's 24. An f32 x is
// split into t0 + t1 + t2 = 2^16 * x, each the bf16 nearest to what the
// splits before it leave, so that three are x exactly and two are within 2^-17
// of it. The factor keeps the lowest split of the smallest x, 2^-149, in reach
// of bf16, whose smallest is 2^-133.
//
// Values of 2^44 and more are huge: sums of 2^7 products of smaller ones, each
// scaled by 2^32, stay finite. Of a huge, an infinite or a NaN x, t0 is NaN,
// which no sum hides, and the others are the bits of x, the high half first; of
// two splits the second is the high half, a NaN's made one that this shows.
//
// A zero that only fills a group of a sparse operand up (SparseOperand.h) is
// stored as the splits 0, -0, 0, which no weight has, not even 0: the second is
// made of x less its first split, and x - x is +0.
//
//===----------------------------------------------------------------------===//

#ifndef NM_FORMAT_SPLITFLOATS_H
#define NM_FORMAT_SPLITFLOATS_H

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace nm {

/// The most splits of a value.
inline constexpr int64_t kMaxSplits = 3;
/// Splits add up to this times the value, which is not huge.
inline constexpr float kSplitScale = 0x1p16f;
inline constexpr float kHuge = 0x1p44f;
/// The factor that scales a sum of products of splits back.
inline constexpr float kSplitProductScale = 1 / (kSplitScale * kSplitScale);
/// The first split of a huge value, and a NaN of which no bit is lost in bf16.
inline constexpr uint16_t kHugeSplit = 0x7fc0;
/// The second split of a zero that fills a group up; its others are 0.
inline constexpr uint16_t kFilledSplit = 0x8000;
/// Elements of m that have a split each side by side.
inline constexpr int64_t kSplitColumns = 64;

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

/// The bits of the splits of `value`; those past `splits` are not set.
inline std::array<uint16_t, kMaxSplits> splitFloat(float value,
                                                   int64_t splits) {
  std::array<uint16_t, kMaxSplits> result = {};
  if (!(std::fabs(value) < kHuge)) {
    uint32_t bits = detail::toBits(value);
    bool isNaN = std::isnan(value);
    result[0] = kHugeSplit;
    result[1] = isNaN ? kHugeSplit : uint16_t(bits >> 16);
    if (splits == 3)
      result[2] = uint16_t(bits);
    return result;
  }
  float rest = value * kSplitScale;
  for (int64_t split = 0; split < splits; ++split) {
    result[split] = detail::roundToBF16(rest);
    rest -= detail::fromBF16(result[split]);
  }
  return result;
}

/// The float that `count` splits were made of; with two splits, one close to
/// it.
inline float joinFloat(const uint16_t *splits, int64_t count) {
  if ((splits[0] & 0x7fff) > 0x7f80)
    return detail::fromBits(uint32_t(splits[1]) << 16 |
                            (count == 3 ? splits[2] : 0));
  float sum = 0;
  for (int64_t split = count; split-- > 0;)
    sum += detail::fromBF16(splits[split]);
  return sum / kSplitScale;
}

} // namespace nm

#endif // NM_FORMAT_SPLITFLOATS_H
