//===- ReadInput.cpp - Files that a user names ----------------------------===//

#include "nm/ReadInput.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"

using llvm::StringRef;
namespace fs = llvm::sys::fs;

static constexpr size_t kMostOfPipe = size_t(1) << 30;

/// Null after an error.
static std::unique_ptr<llvm::MemoryBuffer>
readStream(fs::file_t file, StringRef name, std::string &error) {
  llvm::SmallString<0> text;
  while (text.size() <= kMostOfPipe) {
    size_t before = text.size();
    text.resize_for_overwrite(before + fs::DefaultReadChunkSize);
    llvm::Expected<size_t> count = fs::readNativeFile(
        file, llvm::MutableArrayRef(text.begin() + before, text.end()));
    if (!count) {
      error = llvm::toString(count.takeError());
      return nullptr;
    }
    text.resize(before + *count);
    if (*count == 0)
      return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(text),
                                                             name);
  }
  error = "expected at most 1 GiB from a pipe, but got more";
  return nullptr;
}

/// Why what `status` tells of is not read, if so.
static const char *whyNotRead(const fs::file_status &status, fs::file_t file) {
  switch (status.type()) {
  case fs::file_type::directory_file:
    return "expected a file, but got a folder";
  case fs::file_type::block_file:
    return "expected a file or a pipe, but got a device";
  case fs::file_type::character_file:
    return llvm::sys::Process::FileDescriptorIsDisplayed(file)
               ? nullptr
               : "expected a file or a pipe, but got a device";
  default:
    return nullptr;
  }
}

/// Reads what is open, which is called `name` in messages.
static std::unique_ptr<llvm::MemoryBuffer>
readOpen(fs::file_t file, StringRef path, StringRef name, std::string &error) {
  fs::file_status status;
  if (std::error_code code = fs::status(file, status)) {
    error = code.message();
    return nullptr;
  }
  if (const char *reason = whyNotRead(status, file)) {
    error = reason;
    return nullptr;
  }
  bool isFile = status.type() == fs::file_type::regular_file;
  if (!isFile || path == "-")
    return readStream(file, name, error);
  auto buffer = llvm::MemoryBuffer::getOpenFile(file, name, status.getSize());
  if (buffer)
    return std::move(*buffer);
  error = buffer.getError().message();
  return nullptr;
}

std::unique_ptr<llvm::MemoryBuffer> mlir::nm::readInput(StringRef path,
                                                        std::string &error) {
  std::string reason;
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  if (path == "-") {
    buffer = readOpen(fs::getStdinHandle(), path, "<stdin>", reason);
  } else if (auto file = fs::openNativeFileForRead(path)) {
    buffer = readOpen(*file, path, path, reason);
    fs::closeFile(*file);
  } else {
    reason = llvm::errorToErrorCode(file.takeError()).message();
  }
  if (!buffer)
    error = ("cannot read '" + path + "': " + reason).str();
  return buffer;
}
