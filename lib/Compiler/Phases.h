//===- Phases.h - Running a module through the pipeline ---------*- C++ -*-===//

#ifndef NM_LIB_COMPILER_PHASES_H
#define NM_LIB_COMPILER_PHASES_H

#include "WriteManifest.h"

#include "nm/Compiler/Diagnostics.h"
#include "nm/Compiler/Options.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace mlir::nm {

/// Runs the passes that `build` adds on `module`; an error names the pass that
/// failed and the op it failed on. Where there are `records`, they are told
/// what the manifest says of schedules and packed weights.
LogicalResult runPasses(ModuleOp module, const CompileOptions &options,
                        Diagnostics &diagnostics,
                        llvm::function_ref<void(OpPassManager &)> build,
                        std::vector<FunctionRecord> *records = nullptr);

} // namespace mlir::nm

#endif // NM_LIB_COMPILER_PHASES_H
