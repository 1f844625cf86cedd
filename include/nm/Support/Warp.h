//===- Warp.h - What every NVIDIA GPU has ----------------------*- C++ -*-===//

#ifndef NM_SUPPORT_WARP_H
#define NM_SUPPORT_WARP_H

#include <cstdint>

namespace nm {

/// Lanes of a warp.
inline constexpr int64_t kWarpSize = 32;
/// 32-bit words of the widest access, 16 bytes.
inline constexpr int64_t kAccessWords = 4;

} // namespace nm

#endif // NM_SUPPORT_WARP_H
