//===- File.cpp - Files that are written whole or not at all --------------===//

#include "File.h"

#include "nm/Runtime/Npy.h"
#include "nm/Support/TemporaryPath.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>

using namespace nm;

bool FileDescriptor::close() {
  int result = ::close(fd);
  fd = -1;
  return result == 0;
}

Error nm::systemError(const std::string &what) {
  return Error{what + ": " + std::strerror(errno)};
}

static bool writeAll(int fd, std::string_view bytes) {
  // One write call takes at most 2 GiB on Linux.
  constexpr size_t kChunk = size_t(1) << 30;
  while (!bytes.empty()) {
    ssize_t count =
        ::write(fd, bytes.data(), std::min<size_t>(bytes.size(), kChunk));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return false;
    bytes.remove_prefix(count);
  }
  return true;
}

/// Writes and closes an open file. Only close and, on some file systems, fsync
/// tell of space that was promised and not there.
static bool writeAndClose(FileDescriptor &fd,
                          std::initializer_list<std::string_view> parts) {
  if (fd.get() < 0)
    return false;
  for (std::string_view part : parts)
    if (!writeAll(fd.get(), part))
      return false;
  // A pipe or a device that cannot be synchronised says EINVAL.
  if (::fsync(fd.get()) != 0 && errno != EINVAL && errno != EROFS &&
      errno != ENOTSUP)
    return false;
  return fd.close();
}

void nm::cleanUpRuntimeOnSignals() { cleanUpOnSignals(); }

Status nm::writeFile(const std::string &path,
                     std::initializer_list<std::string_view> parts) {
  struct stat info;
  bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    return systemError(path + ": cannot write");
  }
  if (exists && !S_ISREG(info.st_mode)) {
    FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (writeAndClose(fd, parts))
      return Status::success();
    return systemError(path + ": cannot write");
  }

  // Follow links, so that the rename replaces the file and not a link to it.
  char resolved[PATH_MAX];
  std::string target = exists && ::realpath(path.c_str(), resolved)
                           ? std::string(resolved)
                           : path;
  int descriptor = -1;
  Result<TemporaryPath> temporary =
      TemporaryPath::file(target + ".tmp.", "", 0666, &descriptor);
  if (!temporary)
    return Error{path + ": cannot write: " + temporary.error().message};
  FileDescriptor fd(descriptor);
  // Whom the old file was kept from, the new one is; some file systems have no
  // modes.
  if (exists)
    (void)::fchmod(fd.get(), info.st_mode & 07777);
  if (!writeAndClose(fd, parts) ||
      ::rename(temporary->str().c_str(), target.c_str()) != 0)
    return systemError(path + ": cannot write");
  temporary->release();
  return Status::success();
}
