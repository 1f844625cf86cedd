//===- Measure.cpp - Measuring a list of cases ----------------------------===//

#include "Measure.h"

#include "ChildProcess.h"
#include "Summary.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include <sys/mman.h>
#include <unistd.h>

using namespace nm;

namespace {
/// How far the cases are; in memory that a child shares.
struct RunState {
  /// The case to run next, or the one that is running.
  size_t next = 0;
  bool allPassed = true;
  bool hasHeader = false;
};

/// `RunState` and the speed-up of each case, 0 where there is none.
class SharedProgress {
public:
  static Result<SharedProgress> create(size_t cases);
  SharedProgress(SharedProgress &&other) noexcept
      : memory(other.memory), bytes(other.bytes) {
    other.memory = nullptr;
  }
  SharedProgress &operator=(SharedProgress &&) = delete;
  ~SharedProgress() {
    if (memory)
      munmap(memory, bytes);
  }

  RunState *operator->() const { return static_cast<RunState *>(memory); }
  double &speedup(size_t i) const {
    return reinterpret_cast<double *>(static_cast<RunState *>(memory) + 1)[i];
  }

private:
  SharedProgress(void *memory, size_t bytes) : memory(memory), bytes(bytes) {}

  void *memory;
  size_t bytes;
};
} // namespace

Result<SharedProgress> SharedProgress::create(size_t cases) {
  size_t bytes = sizeof(RunState) + cases * sizeof(double);
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return Error{std::string("cannot share memory: ") + std::strerror(errno)};
  new (memory) RunState;
  return SharedProgress(memory, bytes);
}

static void printError(const BenchCase &bench, const std::string &message) {
  std::fflush(stdout);
  std::fprintf(stderr, "nm-bench: error: %s: %s\n", bench.str().c_str(),
               message.c_str());
}

/// Runs cases from `progress` on, to the end or to one after which the runner
/// is of no use.
static Status runSome(const std::vector<BenchCase> &cases,
                      const std::string &csv, const MakeRunner &makeRunner,
                      const SharedProgress &progress) {
  Result<std::unique_ptr<CaseRunner>> runner = makeRunner();
  if (!runner)
    return runner.error();
  if (!progress->hasHeader)
    std::printf("%s\n", (*runner)->describe().c_str());
  Result<Report> report = Report::open(csv, /*isNew=*/!progress->hasHeader);
  if (!report)
    return report.error();
  progress->hasHeader = true;
  bool isUsable = true;
  while (isUsable && progress->next < cases.size()) {
    if ((*runner)->isDone()) {
      progress->next = cases.size();
      break;
    }
    const BenchCase &bench = cases[progress->next];
    Result<CaseResult> result = (*runner)->run(bench);
    if (result) {
      report->add(*result);
      progress.speedup(progress->next) = result->speedup();
    } else {
      printError(bench, result.error().message);
      isUsable = (*runner)->isUsable();
    }
    progress->allPassed &= result && result->isAccurate();
    ++progress->next;
  }
  return report->close();
}

/// Runs cases as runSome does, in a child process.
static Status runSomeInChild(const std::vector<BenchCase> &cases,
                             const std::string &csv,
                             const MakeRunner &makeRunner,
                             const SharedProgress &progress) {
  Result<ChildOutcome> outcome = runInChild([&](std::string &text) {
    Status status = runSome(cases, csv, makeRunner, progress);
    if (!status)
      text = status.error().message;
    return status ? 0 : 1;
  });
  if (outcome)
    return outcome->exitCode == 0 ? Status::success() : Error{outcome->text};
  if (!progress->hasHeader || progress->next >= cases.size())
    return outcome.error();
  printError(cases[progress->next], outcome.error().message);
  progress->allPassed = false;
  ++progress->next;
  return Status::success();
}

Result<bool> nm::measureCases(const std::vector<BenchCase> &cases,
                              const std::string &csv,
                              const MakeRunner &makeRunner, Isolation isolation,
                              Reporting reporting) {
  Result<SharedProgress> progress = SharedProgress::create(cases.size());
  if (!progress)
    return progress.error();
  bool isContinued = reporting == Reporting::Continued;
  (*progress)->hasHeader = isContinued && Report::canContinue(csv);
  auto *run = isolation == Isolation::None ? runSome : runSomeInChild;
  while ((*progress)->next < cases.size())
    if (Status status = run(cases, csv, makeRunner, *progress); !status)
      return status.error();

  if (isContinued)
    return (*progress)->allPassed;
  Summary summary;
  for (size_t i = 0; i < cases.size(); ++i)
    if (progress->speedup(i) > 0)
      summary.add(cases[i], progress->speedup(i));
  std::printf("%s", summary.text().c_str());
  if (std::fflush(stdout) != 0)
    return Error{"cannot write to the standard output"};
  return (*progress)->allPassed;
}
