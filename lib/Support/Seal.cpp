//===- Seal.cpp - Shared objects that tell whether they are whole ---------===//

#include "nm/Support/Seal.h"

#include "nm/Support/Checksum.h"
#include "nm/Support/Hex.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace nm;

static constexpr std::string_view kMagic("NMSEAL\0\1", 8);
static constexpr size_t kSealSize = 24;
/// A build id is among the first of a file's notes.
static constexpr size_t kMaxNoteBytes = 4096;

namespace {
/// A file that is open.
class OpenFile {
public:
  OpenFile(const std::string &path, int flags)
      : fd(::open(path.c_str(), flags | O_CLOEXEC)) {
    struct stat info;
    if (fd >= 0 && ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
      bytes = uint64_t(info.st_size);
    else
      close();
  }
  OpenFile(const OpenFile &) = delete;
  OpenFile &operator=(const OpenFile &) = delete;
  ~OpenFile() { close(); }

  bool isOpen() const { return fd >= 0; }
  uint64_t size() const { return bytes; }
  /// `count` bytes from `offset` on; none where there are fewer.
  std::optional<std::string> read(uint64_t offset, size_t count) const;
  /// The checksum of the first `count` bytes; none where they cannot be read.
  std::optional<uint32_t> checksum(uint64_t count) const;
  bool append(std::string_view text) const {
    return ::pwrite(fd, text.data(), text.size(), off_t(bytes)) ==
           ssize_t(text.size());
  }

private:
  void close() {
    if (fd >= 0)
      ::close(fd);
    fd = -1;
  }
  int fd;
  uint64_t bytes = 0;
};
} // namespace

std::optional<std::string> OpenFile::read(uint64_t offset, size_t count) const {
  if (offset > bytes || count > bytes - offset)
    return std::nullopt;
  std::string text(count, '\0');
  if (::pread(fd, text.data(), count, off_t(offset)) != ssize_t(count))
    return std::nullopt;
  return text;
}

std::optional<uint32_t> OpenFile::checksum(uint64_t count) const {
  constexpr uint64_t kChunk = uint64_t(1) << 18;
  Crc32 sum;
  for (uint64_t at = 0; at < count; at += kChunk) {
    std::optional<std::string> chunk =
        read(at, size_t(std::min(kChunk, count - at)));
    if (!chunk)
      return std::nullopt;
    sum.add(*chunk);
  }
  return sum.value();
}

static void append(std::string &out, uint64_t value) {
  for (size_t byte = 0; byte < sizeof value; ++byte)
    out += char(value >> (8 * byte));
}

static uint64_t readNumber(std::string_view from) {
  uint64_t value = 0;
  for (size_t byte = 0; byte < sizeof value; ++byte)
    value |= uint64_t(static_cast<unsigned char>(from[byte])) << (8 * byte);
  return value;
}

std::string nm::sealedBuildId(uint64_t content) {
  std::string bytes(kSealedMark);
  append(bytes, content);
  return toHex(bytes);
}

Status nm::addSeal(const std::string &path) {
  OpenFile file(path, O_RDWR);
  std::optional<uint32_t> sum;
  if (file.isOpen())
    sum = file.checksum(file.size());
  if (!sum)
    return Error{path + ": cannot read: " + std::strerror(errno)};
  std::string seal(kMagic);
  append(seal, file.size());
  append(seal, *sum);
  if (!file.append(seal))
    return Error{path + ": cannot write: " + std::strerror(errno)};
  return Status::success();
}

/// Up to `count` bytes from `offset` on; none where that is beyond the end.
static std::string_view part(std::string_view file, uint64_t offset,
                             uint64_t count) {
  return offset < file.size() ? file.substr(offset, count) : "";
}

/// Whether the file is ELF with a build id that has the mark.
static bool hasMark(std::string_view file) {
  Elf64_Ehdr header;
  if (file.size() < sizeof header || file.compare(0, SELFMAG, ELFMAG) != 0)
    return false;
  std::memcpy(&header, file.data(), sizeof header);
  for (size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::string_view bytes =
        part(file, header.e_phoff + i * sizeof segment, sizeof segment);
    if (bytes.size() < sizeof segment)
      return false;
    std::memcpy(&segment, bytes.data(), sizeof segment);
    if (segment.p_type == PT_NOTE &&
        part(file, segment.p_offset,
             std::min<uint64_t>(segment.p_filesz, kMaxNoteBytes))
                .find(kSealedMark) != std::string_view::npos)
      return true;
  }
  return false;
}

Status nm::checkSeal(std::string_view file) {
  std::string_view seal;
  if (file.size() >= kSealSize)
    seal = file.substr(file.size() - kSealSize);
  if (seal.compare(0, kMagic.size(), kMagic) != 0) {
    if (!hasMark(file))
      return Status::success();
    return Error{"expected the checksum that it was written with at its end, "
                 "but found none: the file is truncated, damaged, or was "
                 "changed by a tool like strip"};
  }
  file.remove_suffix(kSealSize);
  uint64_t expectedSize = readNumber(seal.substr(8));
  uint64_t expected = readNumber(seal.substr(16));
  if (file.size() != expectedSize)
    return Error{"expected " + std::to_string(expectedSize) +
                 " bytes before its checksum, but got " +
                 std::to_string(file.size()) + ": the file is damaged"};
  Crc32 sum;
  sum.add(file);
  if (sum.value() != expected)
    return Error{"expected its bytes to have the checksum " +
                 formatChecksum(uint32_t(expected)) + ", but got " +
                 formatChecksum(sum.value()) + ": the file is damaged"};
  return Status::success();
}
