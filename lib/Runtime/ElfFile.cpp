//===- ElfFile.cpp - What a shared object's headers tell ------------------===//

#include "ElfFile.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <elf.h>

using namespace nm;

//===----------------------------------------------------------------------===//
// Parts of a file, none of which need be there
//===----------------------------------------------------------------------===//

/// `count` entries from `offset` on; none where the file ends before.
template <typename Entry>
static std::optional<std::vector<Entry>>
readEntries(std::string_view file, uint64_t offset, uint64_t count) {
  if (offset > file.size() || count > (file.size() - offset) / sizeof(Entry))
    return std::nullopt;
  std::vector<Entry> entries(count);
  if (count > 0)
    std::memcpy(entries.data(), file.data() + offset, count * sizeof(Entry));
  return entries;
}

static std::optional<Elf64_Ehdr> readHeader(std::string_view file) {
  auto headers = readEntries<Elf64_Ehdr>(file, 0, 1);
  if (!headers)
    return std::nullopt;
  const Elf64_Ehdr &header = headers->front();
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_phentsize != sizeof(Elf64_Phdr))
    return std::nullopt;
  return header;
}

static std::vector<Elf64_Phdr> readSegments(std::string_view file) {
  std::optional<Elf64_Ehdr> header = readHeader(file);
  if (!header)
    return {};
  return readEntries<Elf64_Phdr>(file, header->e_phoff, header->e_phnum)
      .value_or(std::vector<Elf64_Phdr>());
}

static std::vector<Elf64_Shdr> readSections(std::string_view file) {
  std::optional<Elf64_Ehdr> header = readHeader(file);
  if (!header || header->e_shentsize != sizeof(Elf64_Shdr))
    return {};
  return readEntries<Elf64_Shdr>(file, header->e_shoff, header->e_shnum)
      .value_or(std::vector<Elf64_Shdr>());
}

/// Where the byte that is loaded to `address` lies in the file.
static std::optional<uint64_t> findOffset(std::string_view file,
                                          uint64_t address) {
  for (const Elf64_Phdr &segment : readSegments(file))
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
        address - segment.p_vaddr < segment.p_filesz)
      return segment.p_offset + (address - segment.p_vaddr);
  return std::nullopt;
}

/// The text from `offset` on, up to its NUL.
static std::optional<std::string_view> readText(std::string_view file,
                                                uint64_t offset) {
  if (offset >= file.size())
    return std::nullopt;
  size_t end = file.find('\0', offset);
  if (end == std::string_view::npos)
    return std::nullopt;
  return file.substr(offset, end - offset);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// Where `size` bytes at `offset` end; more than any file has if that is more
/// than can be counted.
static uint64_t endOf(uint64_t offset, uint64_t size) {
  return offset + size < offset ? UINT64_MAX : offset + size;
}

Status nm::checkElfIsWhole(std::string_view file) {
  std::optional<Elf64_Ehdr> header = readHeader(file);
  if (!header)
    return Status::success();
  uint64_t end = std::max(
      endOf(header->e_phoff, header->e_phnum * sizeof(Elf64_Phdr)),
      endOf(header->e_shoff, uint64_t(header->e_shnum) * header->e_shentsize));
  for (const Elf64_Phdr &segment : readSegments(file))
    end = std::max(end, endOf(segment.p_offset, segment.p_filesz));
  if (end <= file.size())
    return Status::success();
  return Error{"expected a file of at least " + std::to_string(end) +
               " bytes, as its headers say, but got " +
               std::to_string(file.size()) + ": it is truncated or damaged"};
}

//===----------------------------------------------------------------------===//
// Processors
//===----------------------------------------------------------------------===//

#if defined(__x86_64__)
static constexpr uint16_t kOwnMachine = EM_X86_64;
#elif defined(__aarch64__)
static constexpr uint16_t kOwnMachine = EM_AARCH64;
#elif defined(__riscv)
static constexpr uint16_t kOwnMachine = EM_RISCV;
#else
static constexpr uint16_t kOwnMachine = EM_NONE;
#endif

/// The name that the compiler's targets have for a kind of processor.
static std::string nameOfMachine(uint16_t machine) {
  switch (machine) {
  case EM_X86_64:
    return "x86_64";
  case EM_AARCH64:
    return "aarch64";
  case EM_RISCV:
    return "riscv64";
  default:
    return "ELF machine " + std::to_string(machine);
  }
}

Status nm::checkElfMachine(std::string_view file) {
  std::optional<Elf64_Ehdr> header = readHeader(file);
  if (!header || kOwnMachine == EM_NONE || header->e_machine == kOwnMachine)
    return Status::success();
  return Error{"expected a module for a processor of " +
               nameOfMachine(kOwnMachine) + ", but got one for " +
               nameOfMachine(header->e_machine)};
}

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

std::optional<std::string_view> nm::findElfText(std::string_view file,
                                                std::string_view name) {
  std::vector<Elf64_Shdr> sections = readSections(file);
  for (const Elf64_Shdr &section : sections) {
    if (section.sh_type != SHT_DYNSYM || section.sh_link >= sections.size())
      continue;
    auto symbols = readEntries<Elf64_Sym>(file, section.sh_offset,
                                          section.sh_size / sizeof(Elf64_Sym));
    uint64_t names = sections[section.sh_link].sh_offset;
    for (const Elf64_Sym &symbol : symbols.value_or(std::vector<Elf64_Sym>())) {
      if (symbol.st_shndx == SHN_UNDEF ||
          readText(file, names + symbol.st_name) != name)
        continue;
      std::optional<uint64_t> offset = findOffset(file, symbol.st_value);
      return offset ? readText(file, *offset) : std::nullopt;
    }
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Libraries
//===----------------------------------------------------------------------===//

/// `a:b` as two texts.
static void addFolders(std::string_view text,
                       std::vector<std::string> &folders) {
  while (!text.empty()) {
    size_t end = std::min(text.find(':'), text.size());
    folders.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

ElfNeeds nm::findElfNeeds(std::string_view file) {
  ElfNeeds needs;
  std::vector<Elf64_Dyn> entries;
  for (const Elf64_Phdr &segment : readSegments(file))
    if (segment.p_type == PT_DYNAMIC)
      entries = readEntries<Elf64_Dyn>(file, segment.p_offset,
                                       segment.p_filesz / sizeof(Elf64_Dyn))
                    .value_or(std::vector<Elf64_Dyn>());
  std::optional<uint64_t> texts;
  for (const Elf64_Dyn &entry : entries)
    if (entry.d_tag == DT_STRTAB)
      texts = findOffset(file, entry.d_un.d_ptr);
  if (!texts)
    return needs;
  for (const Elf64_Dyn &entry : entries) {
    std::optional<std::string_view> text =
        readText(file, *texts + entry.d_un.d_val);
    if (text && entry.d_tag == DT_NEEDED)
      needs.libraries.emplace_back(*text);
    if (text && (entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH))
      addFolders(*text, needs.folders);
  }
  return needs;
}
