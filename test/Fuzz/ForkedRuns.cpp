//===- ForkedRuns.cpp - Work in a child that may die ----------------------===//

#include "ForkedRuns.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/Signals.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

static constexpr int kSeconds = 10;
/// Seconds of the clock on the wall that one number may take, for what waits.
static constexpr int kSecondsOfWall = 120;
static constexpr rlim_t kBytes = rlim_t(8) << 30;

namespace {
/// What a child and its parent both see.
struct Progress {
  volatile uint64_t number, accepted;
};
} // namespace

static Progress &progress() {
  static void *memory = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return *static_cast<Progress *>(memory);
}

/// Takes what children print to standard error.
static FILE *errorFile() {
  static FILE *file = std::tmpfile();
  return file;
}

static void limitChild() {
  // AddressSanitizer reserves more than there is.
  rlimit memory{kBytes, kBytes}, none{0, 0};
  if (!std::getenv("ASAN_OPTIONS"))
    setrlimit(RLIMIT_AS, &memory);
  setrlimit(RLIMIT_CORE, &none);
}

/// Ends the child by a signal where one number takes longer than it may.
static void restartTimers() {
  itimerval limit{{0, 0}, {kSeconds, 0}};
  setitimer(ITIMER_PROF, &limit, nullptr);
  alarm(kSecondsOfWall);
}

[[noreturn]] static void runChild(uint64_t first, uint64_t end,
                                  const std::function<bool(uint64_t)> &work) {
  limitChild();
  dup2(fileno(errorFile()), STDERR_FILENO);
  sys::PrintStackTraceOnErrorSignal("");
  for (uint64_t number = first; number < end; ++number) {
    progress().number = number;
    restartTimers();
    if (work(number))
      progress().accepted = progress().accepted + 1;
  }
  _exit(0);
}

static std::string takeErrors() {
  std::string text;
  std::rewind(errorFile());
  for (int c; (c = std::fgetc(errorFile())) != EOF;)
    text += char(c);
  return text;
}

static void clearErrors() {
  std::rewind(errorFile());
  (void)!ftruncate(fileno(errorFile()), 0);
}

/// The names in the stack below the handler of signals.
static std::vector<std::string> stackIn(StringRef errors) {
  Regex frame("^ *#?[0-9]+ .*0x[0-9a-f]+ ([A-Za-z_][A-Za-z0-9_:~]*)");
  std::vector<std::string> stack;
  SmallVector<StringRef> found;
  for (StringRef line : split(errors, '\n'))
    if (frame.match(line, &found) && !found[1].starts_with("llvm::sys::"))
      stack.push_back(found[1].str());
  return stack;
}

static Ending endingOf(int status, StringRef errors) {
  Ending ending;
  ending.accepted = progress().accepted;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return ending;
  ending.number = progress().number;
  int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  bool isTooMuch = signal == SIGPROF || signal == SIGALRM ||
                   signal == SIGKILL || errors.contains("out of memory") ||
                   errors.contains("bad_alloc");
  ending.kind = isTooMuch ? Ending::TookTooMuch : Ending::Died;
  ending.cause = signal ? "signal " + std::to_string(signal)
                        : "exit " + std::to_string(WEXITSTATUS(status));
  ending.stack = stackIn(errors);
  return ending;
}

Ending runForked(uint64_t first, uint64_t end,
                 const std::function<bool(uint64_t)> &work) {
  clearErrors();
  progress().accepted = 0;
  std::fflush(nullptr);
  pid_t child = fork();
  if (child == 0)
    runChild(first, end, work);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    std::perror("expected to fork");
    std::exit(2);
  }
  return endingOf(status, takeErrors());
}
