//===- OutputFile.h - Writing results whole or not at all -------*- C++ -*-===//

#ifndef NM_COMPILER_OUTPUTFILE_H
#define NM_COMPILER_OUTPUTFILE_H

#include "nm/Support/Error.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::nm {

/// Writes `contents` to the file `path`, or to stdout for `-`. A file appears
/// whole under its name or not at all.
::nm::Status writeOutput(llvm::StringRef path, llvm::StringRef contents);

/// Calls `make` with the name of a file to make, which then becomes `path`, in
/// a folder for it and for files with names that start with it.
::nm::Status makeOutput(llvm::StringRef path,
                        llvm::function_ref<::nm::Status(llvm::StringRef)> make);

} // namespace mlir::nm

#endif // NM_COMPILER_OUTPUTFILE_H
