//===- CpuFeatures.h - A CPU's features for the cost model ------*- C++ -*-===//

#ifndef NM_DIALECT_NM_TRANSFORMS_CPUFEATURES_H
#define NM_DIALECT_NM_TRANSFORMS_CPUFEATURES_H

#include "nm/Schedule/CpuSchedule.h"
#include "nm/Support/Error.h"

#include "llvm/ADT/StringRef.h"

namespace mlir::nm {

/// The CPU with `features`, names that LLVM knows, each with or without a
/// leading + or -, separated by commas; empty takes the host's. `threads` of 0
/// takes as many as this process may run at once.
::nm::Result<::nm::CpuTarget> getCpuTarget(llvm::StringRef features,
                                           int64_t threads);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_TRANSFORMS_CPUFEATURES_H
