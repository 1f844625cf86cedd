//===- SharedObject.h - Shared objects, loaded by content -------*- C++ -*-===//

#ifndef NM_LIB_RUNTIME_SHAREDOBJECT_H
#define NM_LIB_RUNTIME_SHAREDOBJECT_H

#include "nm/Support/Error.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nm {

/// The bytes of a file as they were at one moment, in memory that no one else
/// writes to. The dynamic linker knows what it has loaded by its path and its
/// inode, so that of a file that was written again it gives what the file held
/// before; and code that is mapped from a file changes with the file.
class FileCopy {
public:
  static Result<FileCopy> read(const std::string &path);
  FileCopy(FileCopy &&other) noexcept;
  FileCopy &operator=(FileCopy &&) = delete;
  ~FileCopy();

  std::string_view bytes() const {
    return {static_cast<const char *>(data), size};
  }
  /// What dlopen gives for the copy, of any number of copies; on failure null,
  /// and `reason` is set.
  void *open(std::string &reason) const;
  /// Leaves the bytes, which take no descriptor, and no way to open them again.
  void closeDescriptor();
  /// Has the bytes, which were read to check them, count no longer as memory
  /// that this process uses; they can still be read.
  void release() const;

private:
  FileCopy() = default;
  Status fill(int from, const std::string &path);

  int fd = -1;
  void *data = nullptr;
  size_t size = 0;
};

/// A shared object whose code runs here, until this goes.
class SharedObject {
public:
  /// Loads a copy of the file at `path`, which was read from there, or gives
  /// what is loaded from another copy of the same bytes. Of the libraries that
  /// it needs, those that its run path says are beside it are taken from the
  /// folder of `path`.
  static Result<std::shared_ptr<SharedObject>> load(FileCopy copy,
                                                    const std::string &path);
  SharedObject(const SharedObject &) = delete;
  SharedObject &operator=(const SharedObject &) = delete;

  void *find(const std::string &symbol) const;
  /// The file that was loaded.
  std::string_view bytes() const { return copy.bytes(); }

private:
  struct Close {
    void operator()(void *handle) const;
  };
  using Handle = std::unique_ptr<void, Close>;

  explicit SharedObject(FileCopy copy) : copy(std::move(copy)) {}
  Status open(const std::string &path);
  void loadNeeded(const std::string &path);

  FileCopy copy;
  /// Outlive the object, which is declared after them.
  std::vector<Handle> needed;
  Handle handle;
};

} // namespace nm

#endif // NM_LIB_RUNTIME_SHAREDOBJECT_H
