//===- Store.h - Keeping a result or giving its error -----------*- C++ -*-===//

#ifndef NM_SUPPORT_STORE_H
#define NM_SUPPORT_STORE_H

#include "nm/Support/Error.h"

#include <utility>

namespace nm {

/// Stores the value of `result` in `target`, or gives its error.
template <typename T, typename Value>
Status store(T &target, Result<Value> result) {
  if (!result)
    return result.error();
  target = std::move(*result);
  return Status::success();
}

} // namespace nm

#endif // NM_SUPPORT_STORE_H
