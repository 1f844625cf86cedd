//===- ScheduleTables.h - Where schedules are looked up ---------*- C++ -*-===//

#ifndef NM_LIB_COMPILER_SCHEDULETABLES_H
#define NM_LIB_COMPILER_SCHEDULETABLES_H

#include "nm/Compiler/Options.h"

namespace mlir::nm {

/// The files of measured schedules, in the order of look-ups: those that the
/// options or NM_SCHEDULE_TABLE name, the one that the user's tuning has
/// written, and those that nm has. Empty where the options say none.
std::vector<std::string> getScheduleTables(const CompileOptions &options);

/// Gives a target's pipeline what products are looked up by: on `device`,
/// unless the options name another.
template <typename PipelineOptions>
void setTables(const CompileOptions &options, const std::string &device,
               PipelineOptions &pipeline) {
  pipeline.scheduleTables = llvm::ArrayRef(getScheduleTables(options));
  pipeline.device = options.device.empty() ? device : options.device;
  pipeline.batchInvariant = options.batchInvariant;
}

} // namespace mlir::nm

#endif // NM_LIB_COMPILER_SCHEDULETABLES_H
