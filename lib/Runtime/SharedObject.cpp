//===- SharedObject.cpp - Shared objects, loaded by content ---------------===//

#include "SharedObject.h"

#include "ElfFile.h"
#include "File.h"

#include "nm/Support/TemporaryPath.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace nm;

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// A file that is in memory alone, called after `path` in lists of mappings;
/// negative where the system has none.
static int makeMemoryFile(const std::string &path) {
  // MFD_CLOEXEC with MFD_EXEC or MFD_NOEXEC_SEAL, of which a system may demand
  // either, and which Linux has from 6.3 on. Mapping code needs no right to
  // execute the file.
  constexpr unsigned kFlags[] = {0x1 | 0x10, 0x1 | 0x8, 0x1};
  std::string name = path.substr(path.rfind('/') + 1).substr(0, 200);
  for (unsigned flags : kFlags) {
    int fd = int(::syscall(SYS_memfd_create, name.c_str(), flags));
    if (fd >= 0)
      return fd;
  }
  return -1;
}

/// A file without a name in the folder for temporary ones.
static int makeUnnamedFile() {
  int fd = -1;
  // Its name goes at the end of this function.
  Result<TemporaryPath> file =
      TemporaryPath::file(inTemporaryFolder("nm-module-"), ".so", 0600, &fd);
  return file ? fd : -1;
}

static bool copyContents(int from, int to) {
  std::vector<char> buffer(size_t(1) << 20);
  while (true) {
    ssize_t count = ::read(from, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return count == 0;
    for (ssize_t at = 0; at < count;) {
      ssize_t written = ::write(to, buffer.data() + at, size_t(count - at));
      if (written < 0 && errno != EINTR)
        return false;
      at += std::max<ssize_t>(written, 0);
    }
  }
}

Status FileCopy::fill(int from, const std::string &path) {
  fd = makeMemoryFile(path);
  if (fd < 0)
    fd = makeUnnamedFile();
  struct stat info;
  if (fd < 0 || !copyContents(from, fd) || ::fstat(fd, &info) != 0)
    return systemError("cannot copy the file to memory");
  size = size_t(info.st_size);
  if (size == 0)
    return Status::success();
  data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  if (data != MAP_FAILED)
    return Status::success();
  data = nullptr;
  return systemError("cannot map a copy of the file");
}

Result<FileCopy> FileCopy::read(const std::string &path) {
  // A pipe that no one writes to would be waited for.
  FileDescriptor from(
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat info;
  if (from.get() < 0 || ::fstat(from.get(), &info) != 0)
    return systemError("cannot open shared object file");
  if (!S_ISREG(info.st_mode))
    return Error{std::string("expected a file, but got a ") +
                 (S_ISDIR(info.st_mode) ? "folder" : "device or a pipe")};
  FileCopy copy;
  if (Status status = copy.fill(from.get(), path); !status)
    return status.error();
  return copy;
}

FileCopy::FileCopy(FileCopy &&other) noexcept
    : fd(std::exchange(other.fd, -1)), data(std::exchange(other.data, nullptr)),
      size(other.size) {}

FileCopy::~FileCopy() {
  if (data)
    ::munmap(data, size);
  closeDescriptor();
}

void FileCopy::closeDescriptor() {
  if (fd >= 0)
    ::close(fd);
  fd = -1;
}

void FileCopy::release() const {
  if (data)
    (void)::madvise(data, size, MADV_DONTNEED);
}

/// A path of the descriptor that no call has given before: of two equal paths
/// the dynamic linker takes the second for the first, and numbers of
/// descriptors are used again. The bits of a count are the way to say the same
/// in other words: `/` or `/.` between `fd` and the number.
static std::string uniquePath(int fd) {
  static std::atomic<uint64_t> serial{1};
  std::string path = "/proc/thread-self/fd";
  for (uint64_t bits = serial++; bits > 0; bits >>= 1)
    path += bits & 1 ? "/." : "/";
  return path + "/" + std::to_string(fd);
}

/// dlopen of a named copy, for a system that maps no code of files in memory or
/// has no /proc.
static void *openNamed(std::string_view bytes, std::string &reason) {
  int descriptor = -1;
  Result<TemporaryPath> file = TemporaryPath::file(
      inTemporaryFolder("nm-module-"), ".so", 0600, &descriptor);
  if (!file)
    return nullptr;
  FileDescriptor fd(descriptor);
  while (!bytes.empty()) {
    ssize_t count = ::write(fd.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return nullptr;
    bytes.remove_prefix(size_t(count));
  }
  void *handle = ::dlopen(file->str().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    reason = ::dlerror();
  return handle;
}

void *FileCopy::open(std::string &reason) const {
  std::string path = uniquePath(fd);
  void *handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle)
    return handle;
  reason = ::dlerror();
  if (reason.find("failed to map") != std::string::npos ||
      ::access(path.c_str(), R_OK) != 0)
    handle = openNamed(bytes(), reason);
  if (reason.rfind(path + ": ", 0) == 0)
    reason.erase(0, path.size() + 2);
  return handle;
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

void SharedObject::Close::operator()(void *handle) const { ::dlclose(handle); }

/// The folder that a run path names, of an object in `origin`; empty where it
/// does not say it by $ORIGIN.
static std::string besideOrigin(const std::string &folder,
                                const std::string &origin) {
  for (const char *name : {"$ORIGIN", "${ORIGIN}"})
    if (folder.rfind(name, 0) == 0)
      return origin + folder.substr(std::strlen(name));
  return "";
}

/// The dynamic linker takes $ORIGIN for the folder of the copy, and libraries
/// that are loaded already for those that are needed.
void SharedObject::loadNeeded(const std::string &path) {
  ElfNeeds needs = findElfNeeds(bytes());
  size_t end = path.rfind('/');
  std::string origin = end == std::string::npos ? "." : path.substr(0, end + 1);
  for (const std::string &library : needs.libraries)
    for (const std::string &folder : needs.folders) {
      std::string beside = besideOrigin(folder, origin);
      std::string file = beside + "/" + library;
      if (beside.empty() || library.find('/') != std::string::npos ||
          ::access(file.c_str(), R_OK) != 0)
        continue;
      Handle loaded(
          ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD));
      if (!loaded)
        loaded.reset(::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL));
      if (loaded)
        needed.push_back(std::move(loaded));
      break;
    }
}

Status SharedObject::open(const std::string &path) {
  loadNeeded(path);
  std::string reason;
  handle.reset(copy.open(reason));
  if (!handle)
    return Error{reason};
  copy.closeDescriptor();
  copy.release();
  return Status::success();
}

namespace {
/// The objects that are loaded, so that programs that load a file twice have
/// its constants once. The lock is only tried: in the child of a fork it may
/// stay locked.
struct LoadedObjects {
  std::mutex mutex;
  std::vector<std::weak_ptr<SharedObject>> objects;

  std::shared_ptr<SharedObject> find(std::string_view bytes);
  void add(const std::shared_ptr<SharedObject> &object);
};
} // namespace

std::shared_ptr<SharedObject> LoadedObjects::find(std::string_view bytes) {
  std::unique_lock<std::mutex> lock(mutex, std::try_to_lock);
  if (!lock)
    return nullptr;
  for (const std::weak_ptr<SharedObject> &known : objects)
    if (std::shared_ptr<SharedObject> object = known.lock();
        object && object->bytes() == bytes)
      return object;
  return nullptr;
}

void LoadedObjects::add(const std::shared_ptr<SharedObject> &object) {
  std::unique_lock<std::mutex> lock(mutex, std::try_to_lock);
  if (!lock)
    return;
  objects.erase(
      std::remove_if(objects.begin(), objects.end(),
                     [](const auto &known) { return known.expired(); }),
      objects.end());
  objects.push_back(object);
}

Result<std::shared_ptr<SharedObject>>
SharedObject::load(FileCopy copy, const std::string &path) {
  // Never destroyed: threads may still load while the process exits.
  static auto *loaded = new LoadedObjects;
  if (std::shared_ptr<SharedObject> same = loaded->find(copy.bytes())) {
    same->copy.release();
    return same;
  }
  std::shared_ptr<SharedObject> object(new SharedObject(std::move(copy)));
  if (Status status = object->open(path); !status)
    return status.error();
  loaded->add(object);
  return object;
}

void *SharedObject::find(const std::string &symbol) const {
  return ::dlsym(handle.get(), symbol.c_str());
}
