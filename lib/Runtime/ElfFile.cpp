//===- ElfFile.cpp - What a shared object's headers tell ------------------===//

#include "ElfFile.h"

#include "File.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>

using namespace nm;

/// Reads `count` bytes from `offset` on; false where there are fewer.
static bool readAt(int fd, void *to, size_t count, uint64_t offset) {
  return ::pread(fd, to, count, static_cast<off_t>(offset)) ==
         static_cast<ssize_t>(count);
}

/// Where `size` bytes at `offset` end; more than any file has if that is more
/// than can be counted.
static uint64_t endOf(uint64_t offset, uint64_t size) {
  return offset + size < offset ? UINT64_MAX : offset + size;
}

Status nm::checkElfIsWhole(const std::string &path) {
  FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info;
  Elf64_Ehdr header;
  if (fd.get() < 0 || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode) ||
      !readAt(fd.get(), &header, sizeof(header), 0) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_phentsize != sizeof(Elf64_Phdr))
    return Status::success();
  uint64_t size = static_cast<uint64_t>(info.st_size);
  uint64_t end = std::max(
      endOf(header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr)),
      endOf(header.e_shoff, uint64_t(header.e_shnum) * header.e_shentsize));
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  if (end <= size &&
      readAt(fd.get(), segments.data(), segments.size() * sizeof(Elf64_Phdr),
             header.e_phoff))
    for (const Elf64_Phdr &segment : segments)
      end = std::max(end, endOf(segment.p_offset, segment.p_filesz));
  if (end <= size)
    return Status::success();
  return Error{"expected a file of at least " + std::to_string(end) +
               " bytes, as its headers say, but got " + std::to_string(size) +
               ": it is truncated or damaged"};
}
