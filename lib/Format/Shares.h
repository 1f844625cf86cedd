//===- Shares.h - Packing by several threads --------------------*- C++ -*-===//
//
// Internal to lib/Format.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_FORMAT_SHARES_H
#define NM_LIB_FORMAT_SHARES_H

#include <cstdint>
#include <functional>

namespace nm::detail {

/// Calls `fn(first, end)` for parts of [0, count), each number of which has
/// `valuesOfOne` values, on threads of their own where these are many.
void forEachShare(int64_t count, int64_t valuesOfOne,
                  const std::function<void(int64_t, int64_t)> &fn);

} // namespace nm::detail

#endif // NM_LIB_FORMAT_SHARES_H
