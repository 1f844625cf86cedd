//===- BuildId.cpp - Which build of the compiler this is ------------------===//
//
// The linker's build id is a hash over all of the library's contents, so it
// changes with any line of code; a version number would not.
//
//===----------------------------------------------------------------------===//

#include "nm-c/Compiler.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"

#include <cstring>
#include <string>

#include <elf.h>
#include <link.h>

using namespace llvm;

static bool containsThisCode(const dl_phdr_info &info) {
  auto here = reinterpret_cast<ElfW(Addr)>(&nmGetCompilerBuildId);
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = info.dlpi_phdr[i];
    ElfW(Addr) begin = info.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && here >= begin &&
        here < begin + segment.p_memsz)
      return true;
  }
  return false;
}

/// The description of the GNU build id among the notes of a segment.
static StringRef findBuildId(const char *notes, size_t size) {
  auto align = [](size_t bytes) { return (bytes + 3) & ~size_t(3); };
  for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= size;) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes + at, sizeof(note));
    const char *name = notes + at + sizeof(note);
    const char *description = name + align(note.n_namesz);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof("GNU") &&
        std::memcmp(name, "GNU", sizeof("GNU")) == 0)
      return {description, note.n_descsz};
    at += sizeof(note) + align(note.n_namesz) + align(note.n_descsz);
  }
  return {};
}

static int addBuildId(dl_phdr_info *info, size_t, void *text) {
  if (!containsThisCode(*info))
    return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE)
      continue;
    StringRef id = findBuildId(
        reinterpret_cast<const char *>(info->dlpi_addr + segment.p_vaddr),
        segment.p_memsz);
    if (!id.empty())
      *static_cast<std::string *>(text) += toHex(id, /*LowerCase=*/true);
  }
  return 1;
}

extern "C" __attribute__((visibility("default"))) const char *
nmGetCompilerBuildId(void) {
  // LLVM is a library of its own, which may be replaced under this one.
  static const std::string id = [] {
    std::string text = "llvm-" LLVM_VERSION_STRING "-";
    dl_iterate_phdr(addBuildId, &text);
    return text;
  }();
  return id.c_str();
}
