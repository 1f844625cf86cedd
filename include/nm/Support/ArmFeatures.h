//===- ArmFeatures.h - How Linux tells of AArch64's features ----*- C++ -*-===//

#ifndef NM_SUPPORT_ARMFEATURES_H
#define NM_SUPPORT_ARMFEATURES_H

#include <string_view>

namespace nm {

/// A feature of AArch64, by LLVM's name, and the bit of AT_HWCAP, or of
/// AT_HWCAP2, by which Linux says that a processor has it (Linux,
/// arch/arm64/include/uapi/asm/hwcap.h).
struct ArmFeature {
  std::string_view name;
  bool isInSecondWord;
  unsigned bit;
};

/// The features of AArch64 that LLVM uses in code that no intrinsic asks to.
/// Code may contain their instructions, so the runtime looks for them.
inline constexpr ArmFeature kArmFeatures[] = {
    {"fp-armv8", false, 0},  {"neon", false, 1},     {"lse", false, 8},
    {"fullfp16", false, 10}, {"rdm", false, 12},     {"complxnum", false, 14},
    {"rcpc", false, 15},     {"sha3", false, 17},    {"dotprod", false, 20},
    {"sve", false, 22},      {"fp16fml", false, 23}, {"sve2", true, 1},
    {"f32mm", true, 10},     {"f64mm", true, 11},    {"i8mm", true, 13},
    {"bf16", true, 14},      {"cssc", true, 34},     {"sve2p1", true, 36},
    {"mops", true, 43},
};

} // namespace nm

#endif // NM_SUPPORT_ARMFEATURES_H
