//===- Compile.h - Compiling an .mlir file before it runs -------*- C++ -*-===//

#ifndef NM_LIB_RUN_COMPILE_H
#define NM_LIB_RUN_COMPILE_H

#include "RunOptions.h"
#include "nm/Runtime/Module.h"
#include "nm/Support/TemporaryPath.h"

namespace nm {

/// Loads the module that the options name; an .mlir file is compiled to a
/// temporary one first, with a reference where it will be checked. Warnings of
/// the compiler go to stderr.
Result<Module> loadModule(const RunOptions &options);

/// A module that was compiled in a folder of its own.
struct CompiledFile {
  TemporaryPath folder;
  /// The shared object, in that folder.
  std::string path;
  /// The compiler's.
  std::string warnings;
};

/// Compiles `model` to a module in a new folder whose name starts with
/// `prefix`. It does so in a process of its own: the compiler's libraries are
/// several times what a run may take beside its data. Threads may do so at
/// once.
Result<CompiledFile> compileInChild(const std::string &model,
                                    const std::string &target,
                                    const std::string &compileOptions,
                                    const std::string &prefix);

} // namespace nm

#endif // NM_LIB_RUN_COMPILE_H
