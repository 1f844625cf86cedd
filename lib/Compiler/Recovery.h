//===- Recovery.h - Surviving what LLVM does not ----------------*- C++ -*-===//

#ifndef NM_LIB_COMPILER_RECOVERY_H
#define NM_LIB_COMPILER_RECOVERY_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <string>

namespace mlir::nm {

/// Calls `work`, and survives where it crashes or LLVM would end the process:
/// then it says how. What `work` held is lost.
std::optional<std::string> whyCrashed(llvm::function_ref<void()> work);

} // namespace mlir::nm

#endif // NM_LIB_COMPILER_RECOVERY_H
