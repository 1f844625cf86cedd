//===- CheckText.h - What MLIR's parser must not be given -------*- C++ -*-===//

#ifndef NM_CHECKTEXT_H
#define NM_CHECKTEXT_H

#include "llvm/Support/MemoryBufferRef.h"

#include <optional>
#include <string>

namespace mlir::nm {

/// Says why the parser must not be given this, if so: it is text that starts
/// with a mark that the parser does not know, or nests brackets deeper than
/// there is stack for, as the parser calls itself for each.
std::optional<std::string> whyNoText(llvm::MemoryBufferRef text);

} // namespace mlir::nm

#endif // NM_CHECKTEXT_H
