//===- ChildProcess.cpp - Work in a process of its own --------------------===//

#include "ChildProcess.h"

#include "nm/Runtime/Npy.h"
#include "nm/Support/TemporaryPath.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <mutex>

#include <sys/wait.h>
#include <unistd.h>

using namespace nm;

static void writeAll(int file, const std::string &text) {
  size_t written = 0;
  while (written < text.size()) {
    ssize_t count = write(file, text.data() + written, text.size() - written);
    if (count < 0 && errno != EINTR)
      return;
    written += count > 0 ? size_t(count) : 0;
  }
}

static std::string readAll(int file) {
  std::string text;
  char buffer[4096];
  while (true) {
    ssize_t count = read(file, buffer, sizeof(buffer));
    if (count == 0 || (count < 0 && errno != EINTR))
      return text;
    text.append(buffer, count > 0 ? size_t(count) : 0);
  }
}

/// A parent that ignores its children leaves that to the programs it starts,
/// and then nobody can wait for one.
static void waitForOwnChildren() {
  struct sigaction action;
  if (sigaction(SIGCHLD, nullptr, &action) == 0 &&
      (action.sa_handler == SIG_IGN || (action.sa_flags & SA_NOCLDWAIT)))
    signal(SIGCHLD, SIG_DFL);
}

namespace {
struct Child {
  pid_t process = 0;
  /// Where its text comes from, or in the child goes to.
  int text = 0;
};
} // namespace

/// Forks, with a pipe from the child to its parent. In the child `process` is
/// 0, and `text` is the end that is written to.
static Result<Child> forkWithPipe() {
  // A child of another thread must not inherit the end that is written to: the
  // text would not end before that child does. The lock is free again in the
  // child, which may start children of its own.
  static std::mutex starting;
  std::lock_guard<std::mutex> lock(starting);
  waitForOwnChildren();
  int ends[2];
  if (pipe(ends) != 0)
    return Error{std::string("cannot make a pipe: ") + std::strerror(errno)};
  // What is buffered would be written by both processes.
  std::fflush(nullptr);
  pid_t process = fork();
  if (process < 0) {
    int reason = errno;
    close(ends[0]);
    close(ends[1]);
    return Error{std::string("cannot start a process: ") +
                 std::strerror(reason)};
  }
  bool isChild = process == 0;
  close(ends[isChild ? 0 : 1]);
  return Child{process, ends[isChild ? 1 : 0]};
}

[[noreturn]] static void
runAndExit(int textFile, const std::function<int(std::string &text)> &work) {
  cleanUpOnSignals();
  cleanUpRuntimeOnSignals();
  std::string text;
  int exitCode = work(text);
  writeAll(textFile, text);
  std::fflush(nullptr);
  _exit(exitCode);
}

Result<ChildOutcome>
nm::runInChild(const std::function<int(std::string &text)> &work) {
  Result<Child> child = forkWithPipe();
  if (!child)
    return child.error();
  if (child->process == 0)
    runAndExit(child->text, work);
  ChildGuard guard(child->process);
  ChildOutcome outcome;
  outcome.text = readAll(child->text);
  close(child->text);
  int status = 0;
  while (waitpid(child->process, &status, 0) < 0)
    if (errno != EINTR)
      return Error{std::string("cannot wait for a process: ") +
                   std::strerror(errno)};
  if (WIFSIGNALED(status))
    return Error{std::string("the process was ended by signal ") +
                 std::to_string(WTERMSIG(status)) + " (" +
                 strsignal(WTERMSIG(status)) + ")"};
  outcome.exitCode = WEXITSTATUS(status);
  return outcome;
}
