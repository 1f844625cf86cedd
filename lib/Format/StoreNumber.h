//===- StoreNumber.h - Numbers of several bytes -----------------*- C++ -*-===//

#ifndef NM_LIB_FORMAT_STORENUMBER_H
#define NM_LIB_FORMAT_STORENUMBER_H

#include <cstdint>

namespace nm::detail {

/// Stores the lowest `bytes` bytes of `number`, the lowest first.
inline void storeNumber(int64_t number, int64_t bytes, uint8_t *to) {
  for (int64_t i = 0; i < bytes; ++i)
    to[i] = static_cast<uint8_t>(number >> 8 * i);
}

} // namespace nm::detail

#endif // NM_LIB_FORMAT_STORENUMBER_H
