//===- TemporaryPath.cpp - Files that must not stay behind ----------------===//

#include "nm/Support/TemporaryPath.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace nm;

//===----------------------------------------------------------------------===//
// What there is to clean up
//===----------------------------------------------------------------------===//

/// An entry of a list that only grows: a signal's handler may walk it at any
/// time, so none is freed, and one that is done with is used again.
struct TemporaryPath::Entry {
  /// Null where there is none. Whoever takes it away removes what it names.
  std::atomic<char *> path{nullptr};
  Entry *next = nullptr;
};

namespace nm {
/// What the handler of signals reads.
class SignalCleanup {
public:
  using Entry = TemporaryPath::Entry;
  static std::atomic<Entry *> entries;
  static constexpr int kMaxChildren = 256;
  static std::atomic<pid_t> children[kMaxChildren];
};
std::atomic<SignalCleanup::Entry *> SignalCleanup::entries{nullptr};
std::atomic<pid_t> SignalCleanup::children[kMaxChildren];
} // namespace nm

TemporaryPath::Entry *TemporaryPath::record(const std::string &path) {
  char *copy = strdup(path.c_str());
  for (Entry *entry = SignalCleanup::entries; entry; entry = entry->next) {
    char *none = nullptr;
    if (entry->path.compare_exchange_strong(none, copy))
      return entry;
  }
  auto *entry = new Entry;
  entry->path = copy;
  entry->next = SignalCleanup::entries;
  while (!SignalCleanup::entries.compare_exchange_weak(entry->next, entry)) {
  }
  return entry;
}

//===----------------------------------------------------------------------===//
// Removing, with nothing but system calls
//===----------------------------------------------------------------------===//

/// As the kernel gives it.
struct DirectoryEntry {
  uint64_t inode;
  int64_t offset;
  unsigned short length;
  unsigned char type;
  char name[1];
};

static void removePath(int folder, const char *name);

static void removeEntries(int folder) {
  alignas(DirectoryEntry) char buffer[1024];
  long size;
  while ((size = syscall(SYS_getdents64, folder, buffer, sizeof(buffer))) > 0)
    for (long at = 0; at < size;) {
      auto *entry = reinterpret_cast<DirectoryEntry *>(buffer + at);
      if (std::strcmp(entry->name, ".") != 0 &&
          std::strcmp(entry->name, "..") != 0)
        removePath(folder, entry->name);
      at += entry->length;
    }
}

static void removePath(int folder, const char *name) {
  if (unlinkat(folder, name, 0) == 0)
    return;
  int inner =
      openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (inner < 0)
    return;
  removeEntries(inner);
  close(inner);
  unlinkat(folder, name, AT_REMOVEDIR);
}

//===----------------------------------------------------------------------===//
// Temporary files and folders
//===----------------------------------------------------------------------===//

namespace {
/// Holds signals back, so that none comes between making a file and recording
/// it.
class SignalBlock {
public:
  SignalBlock() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
  }
  ~SignalBlock() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }

private:
  sigset_t before;
};
} // namespace

/// Calls `make` with names until it makes one that was not there: a name may be
/// that of a process of this number in another container, or was left by one
/// that was killed.
template <typename Make>
static Result<std::string> makeUnique(const std::string &prefix,
                                      const std::string &suffix, Make make) {
  static std::atomic<unsigned> serial{0};
  std::string name;
  do {
    name = prefix + std::to_string(getpid()) + "." + std::to_string(serial++) +
           suffix;
    if (make(name.c_str()) >= 0)
      return name;
  } while (errno == EEXIST);
  return Error{std::strerror(errno)};
}

Result<TemporaryPath> TemporaryPath::file(const std::string &prefix,
                                          const std::string &suffix,
                                          mode_t mode, int *descriptor) {
  SignalBlock block;
  int fd = -1;
  Result<std::string> name =
      makeUnique(prefix, suffix, [&](const char *candidate) {
        return fd =
                   open(candidate, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
      });
  if (!name)
    return name.error();
  if (descriptor)
    *descriptor = fd;
  else
    close(fd);
  return TemporaryPath(record(*name));
}

Result<TemporaryPath> TemporaryPath::folder(const std::string &prefix) {
  SignalBlock block;
  Result<std::string> name = makeUnique(
      prefix, "", [](const char *candidate) { return mkdir(candidate, 0700); });
  if (!name)
    return name.error();
  return TemporaryPath(record(*name));
}

TemporaryPath::~TemporaryPath() {
  if (!entry)
    return;
  if (char *path = entry->path.exchange(nullptr)) {
    removePath(AT_FDCWD, path);
    free(path);
  }
}

std::string TemporaryPath::str() const {
  const char *path = entry ? entry->path.load() : nullptr;
  return path ? path : "";
}

void TemporaryPath::release() {
  if (entry)
    free(entry->path.exchange(nullptr));
  entry = nullptr;
}

std::string nm::inTemporaryFolder(const std::string &name) {
  const char *folder = std::getenv("TMPDIR");
  return std::string(folder && *folder ? folder : "/tmp") + "/" + name;
}

//===----------------------------------------------------------------------===//
// Children
//===----------------------------------------------------------------------===//

ChildGuard::ChildGuard(pid_t process) : process(process) {
  for (std::atomic<pid_t> &child : SignalCleanup::children) {
    pid_t none = 0;
    if (child.compare_exchange_strong(none, process))
      return;
  }
}

ChildGuard::~ChildGuard() {
  for (std::atomic<pid_t> &child : SignalCleanup::children) {
    pid_t expected = process;
    if (child.compare_exchange_strong(expected, 0))
      return;
  }
}

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

/// Those that end a process and that a user, a shell or a batch system sends.
static constexpr int kSignals[] = {SIGHUP,  SIGINT,  SIGQUIT,
                                   SIGPIPE, SIGTERM, SIGXCPU};
/// What was there before, another copy of this code perhaps.
static struct sigaction previous[NSIG];
static pid_t installedBy = 0;

/// Lets `process` clean up after itself for two seconds.
static void endChild(pid_t process) {
  kill(process, SIGTERM);
  for (int tries = 0; tries < 200; ++tries) {
    if (waitpid(process, nullptr, WNOHANG) != 0)
      return;
    timespec pause = {0, 10'000'000};
    nanosleep(&pause, nullptr);
  }
  kill(process, SIGKILL);
  waitpid(process, nullptr, 0);
}

static void cleanUp() {
  // What a forked child has here is its parent's.
  if (getpid() != installedBy)
    return;
  // First those that may still write.
  for (std::atomic<pid_t> &child : SignalCleanup::children)
    if (pid_t process = child.exchange(0))
      endChild(process);
  for (auto *entry = SignalCleanup::entries.load(); entry; entry = entry->next)
    if (char *path = entry->path.exchange(nullptr))
      removePath(AT_FDCWD, path);
}

static void handleSignal(int signal) {
  int error = errno;
  cleanUp();
  // So that whoever waits for this process sees which signal ended it.
  sigaction(signal, &previous[signal], nullptr);
  raise(signal);
  errno = error;
}

/// What the list had is the parent's to remove.
static void startAgainInChild() {
  SignalCleanup::entries = nullptr;
  for (std::atomic<pid_t> &child : SignalCleanup::children)
    child = 0;
}

void nm::cleanUpOnSignals() {
  bool isInstalled = installedBy != 0;
  if (isInstalled && installedBy != getpid())
    startAgainInChild();
  installedBy = getpid();
  if (isInstalled)
    return;
  for (int signal : kSignals) {
    struct sigaction action = {};
    action.sa_handler = handleSignal;
    sigfillset(&action.sa_mask);
    // nohup, for one, starts programs that ignore a signal.
    if (sigaction(signal, nullptr, &previous[signal]) == 0 &&
        previous[signal].sa_handler != SIG_IGN)
      sigaction(signal, &action, nullptr);
  }
  signal(SIGXFSZ, SIG_IGN);
}
