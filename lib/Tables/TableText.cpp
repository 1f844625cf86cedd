//===- TableText.cpp - Documents of tables and chips ----------------------===//

#include "TableText.h"

#include "nm/Support/TemporaryPath.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

using namespace nm;

Result<std::string> nm::readWholeFile(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return Error{path + ": cannot be read: " + buffer.getError().message()};
  return (*buffer)->getBuffer().str();
}

Status nm::replaceFile(const std::string &path, const std::string &text) {
  int descriptor = -1;
  Result<TemporaryPath> beside =
      TemporaryPath::file(path + ".", ".new", /*mode=*/0666, &descriptor);
  if (!beside)
    return Error{path + ": cannot be written: " + beside.error().message};
  std::FILE *file = fdopen(descriptor, "wb");
  bool isWritten =
      file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  isWritten = file && std::fclose(file) == 0 && isWritten;
  if (!isWritten || std::rename(beside->str().c_str(), path.c_str()) != 0)
    return Error{path + ": cannot be written: " + std::strerror(errno)};
  beside->release();
  return Status::success();
}
