//===- ChildProcess.cpp - Work in a process of its own --------------------===//

#include "ChildProcess.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

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

Result<ChildOutcome>
nm::runInChild(const std::function<int(std::string &text)> &work) {
  int ends[2];
  if (pipe(ends) != 0)
    return Error{std::string("cannot make a pipe: ") + std::strerror(errno)};
  // What is buffered would be written by both processes.
  std::fflush(nullptr);
  pid_t child = fork();
  if (child < 0) {
    int reason = errno;
    close(ends[0]);
    close(ends[1]);
    return Error{std::string("cannot start a process: ") +
                 std::strerror(reason)};
  }
  if (child == 0) {
    close(ends[0]);
    std::string text;
    int exitCode = work(text);
    writeAll(ends[1], text);
    std::fflush(nullptr);
    _exit(exitCode);
  }
  close(ends[1]);
  ChildOutcome outcome;
  outcome.text = readAll(ends[0]);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return Error{std::string("cannot wait for a process: ") +
                   std::strerror(errno)};
  if (WIFSIGNALED(status))
    return Error{std::string("ended by signal ") +
                 std::to_string(WTERMSIG(status)) + " (" +
                 strsignal(WTERMSIG(status)) + ")"};
  outcome.exitCode = WEXITSTATUS(status);
  return outcome;
}
