//===- Counted.h - Numbers of things in messages ----------------*- C++ -*-===//

#ifndef NM_SUPPORT_COUNTED_H
#define NM_SUPPORT_COUNTED_H

#include <cstdint>
#include <string>

namespace nm {

/// `1 thread`, `2 threads`.
inline std::string counted(int64_t count, const std::string &what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

} // namespace nm

#endif // NM_SUPPORT_COUNTED_H
