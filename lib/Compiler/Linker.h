//===- Linker.h - Objects to shared objects ---------------------*- C++ -*-===//

#ifndef NM_LIB_COMPILER_LINKER_H
#define NM_LIB_COMPILER_LINKER_H

#include "nm/Support/Error.h"

#include "llvm/ADT/StringRef.h"

namespace llvm {
class Triple;
} // namespace llvm

namespace mlir::nm {

class LargeConstants;

/// Links the object file `object`, which is for `triple` and declares
/// `constants`, with the nm runtime, libm and libc to the shared object
/// `output`, by the lld that is built in, or by one on PATH, and writes the
/// constants there.
::nm::Status linkSharedObject(llvm::StringRef object, llvm::StringRef output,
                              const llvm::Triple &triple,
                              const LargeConstants &constants);

} // namespace mlir::nm

#endif // NM_LIB_COMPILER_LINKER_H
