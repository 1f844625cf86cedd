//===- ElfFile.h - What a shared object's headers tell ----------*- C++ -*-===//

#ifndef NM_LIB_RUNTIME_ELFFILE_H
#define NM_LIB_RUNTIME_ELFFILE_H

#include "nm/Support/Error.h"

#include <string>

namespace nm {

/// Checks that the file at `path` holds all bytes that its ELF headers tell of.
/// dlopen maps them without looking, and the first access past the end of the
/// file ends the process. What is no ELF file is left for dlopen to refuse.
Status checkElfIsWhole(const std::string &path);

} // namespace nm

#endif // NM_LIB_RUNTIME_ELFFILE_H
