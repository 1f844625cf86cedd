//===- Target.h - The names of targets --------------------------*- C++ -*-===//

#ifndef NM_LIB_RUN_TARGET_H
#define NM_LIB_RUN_TARGET_H

#include "nm/Support/Error.h"

#include <string>

namespace nm {

/// Whether `target` is written as one is; the error names the valid ones.
Status checkTargetName(const std::string &target);

/// Whether this build can run `target`, whose name has been checked.
Status checkTargetBuilt(const std::string &target);

/// `cuda` of `cuda:sm_90a`.
std::string targetKind(const std::string &target);

} // namespace nm

#endif // NM_LIB_RUN_TARGET_H
