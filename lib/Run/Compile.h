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

/// Compiles `model` to a module at `output` and gives the compiler's warnings.
/// It does so in a process of its own: the compiler's libraries are several
/// times what a run may take beside its data. Threads may do so at once.
Result<std::string> compileInChild(const std::string &model,
                                   const std::string &target,
                                   const std::string &compileOptions,
                                   const std::string &output);

} // namespace nm

#endif // NM_LIB_RUN_COMPILE_H
