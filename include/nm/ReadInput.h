//===- ReadInput.h - Files that a user names --------------------*- C++ -*-===//

#ifndef NM_READINPUT_H
#define NM_READINPUT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace mlir::nm {

/// The text of a file or a pipe, `-` for stdin; on failure null, and `error`
/// says why. Of a pipe at most 1 GiB is read, and no device is but a terminal:
/// /dev/zero has no end.
std::unique_ptr<llvm::MemoryBuffer> readInput(llvm::StringRef path,
                                              std::string &error);

} // namespace mlir::nm

#endif // NM_READINPUT_H
