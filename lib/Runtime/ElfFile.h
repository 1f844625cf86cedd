//===- ElfFile.h - What a shared object's headers tell ----------*- C++ -*-===//

#ifndef NM_LIB_RUNTIME_ELFFILE_H
#define NM_LIB_RUNTIME_ELFFILE_H

#include "nm/Support/Error.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nm {

/// Checks that `file` holds all bytes that its ELF headers tell of. dlopen maps
/// them without looking, and the first access past the end of the file ends the
/// process. What is no ELF file is left for dlopen to refuse.
Status checkElfIsWhole(std::string_view file);

/// Checks that an ELF file is for the kind of processor that this process runs
/// on, of which dlopen says no more than that the file is for another.
Status checkElfMachine(std::string_view file);

/// The text that the exported symbol `name` of a shared object names, without
/// loading it, which would run its constructors; none where there is none.
std::optional<std::string_view> findElfText(std::string_view file,
                                            std::string_view name);

/// The libraries that a shared object needs, and where the dynamic linker looks
/// for them.
struct ElfNeeds {
  std::vector<std::string> libraries, folders;
};
ElfNeeds findElfNeeds(std::string_view file);

} // namespace nm

#endif // NM_LIB_RUNTIME_ELFFILE_H
