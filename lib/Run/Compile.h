//===- Compile.h - Compiling an .mlir file before it runs -------*- C++ -*-===//

#ifndef NM_LIB_RUN_COMPILE_H
#define NM_LIB_RUN_COMPILE_H

#include "Options.h"
#include "nm/Runtime/Module.h"

namespace nm {

/// Loads the module that the options name; an .mlir file is compiled to a
/// temporary one first, with a reference where it will be checked. Warnings of
/// the compiler go to stderr.
Result<Module> loadModule(const RunOptions &options);

} // namespace nm

#endif // NM_LIB_RUN_COMPILE_H
