//===- TemporaryPath.h - Files that must not stay behind --------*- C++ -*-===//

#ifndef NM_SUPPORT_TEMPORARYPATH_H
#define NM_SUPPORT_TEMPORARYPATH_H

#include "nm/Support/Error.h"

#include <string>

#include <sys/types.h>

namespace nm {

/// A file, or a folder with all in it, that is removed when this goes.
class TemporaryPath {
public:
  /// Makes a file with the permissions that the process's mask leaves of
  /// `mode`. Its name is `prefix`, digits, and `suffix`. An open descriptor
  /// of it goes to `*descriptor`, unless that is null.
  static Result<TemporaryPath> file(const std::string &prefix,
                                    const std::string &suffix, mode_t mode,
                                    int *descriptor = nullptr);
  /// Makes a folder for this user alone, whose name begins with `prefix`.
  static Result<TemporaryPath> folder(const std::string &prefix);

  TemporaryPath(TemporaryPath &&other) noexcept : entry(other.entry) {
    other.entry = nullptr;
  }
  TemporaryPath &operator=(TemporaryPath &&) = delete;
  ~TemporaryPath();

  std::string str() const;
  /// Keeps it, or leaves it to whoever has renamed it.
  void release();

private:
  struct Entry;
  friend class SignalCleanup;
  explicit TemporaryPath(Entry *entry) : entry(entry) {}
  static Entry *record(const std::string &path);

  Entry *entry;
};

/// `name` in the system's folder for temporary files, which TMPDIR sets.
std::string inTemporaryFolder(const std::string &name);

/// A child process that a signal to this one ends, too.
class ChildGuard {
public:
  explicit ChildGuard(pid_t process);
  ChildGuard(const ChildGuard &) = delete;
  ChildGuard &operator=(const ChildGuard &) = delete;
  ~ChildGuard();

private:
  pid_t process;
};

/// From now on a signal that ends the process first ends its children and
/// removes its temporary files. A file that grows over the limit becomes an
/// error of the write. For programs, and again in each child that they fork: a
/// library leaves signals alone.
void cleanUpOnSignals();

} // namespace nm

#endif // NM_SUPPORT_TEMPORARYPATH_H
