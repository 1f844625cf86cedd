//===- File.h - Files that are written whole or not at all ------*- C++ -*-===//

#ifndef NM_LIB_RUNTIME_FILE_H
#define NM_LIB_RUNTIME_FILE_H

#include "nm/Support/Error.h"

#include <initializer_list>
#include <string>
#include <string_view>

#include <unistd.h>

namespace nm {

/// Closes a file descriptor when it goes out of scope.
class FileDescriptor {
public:
  explicit FileDescriptor(int fd) : fd(fd) {}
  FileDescriptor(const FileDescriptor &) = delete;
  FileDescriptor &operator=(const FileDescriptor &) = delete;
  ~FileDescriptor() {
    if (fd >= 0)
      ::close(fd);
  }

  int get() const { return fd; }
  /// Closes now; false where the system reports that a write was lost.
  bool close();

private:
  int fd;
};

/// `what: <the text of errno>`.
Error systemError(const std::string &what);

/// Writes `parts` one after the other to `path`. A regular file is written
/// under another name in the same folder and renamed, so that a failure leaves
/// `path` as it was; a device or a pipe is written directly.
Status writeFile(const std::string &path,
                 std::initializer_list<std::string_view> parts);

} // namespace nm

#endif // NM_LIB_RUNTIME_FILE_H
