//===- CompileAll.cpp - Compiling cases beforehand ------------------------===//

#include "CompileAll.h"

#include "nm/Support/Counted.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <optional>
#include <thread>

#include <unistd.h>

using namespace nm;

namespace {
/// What the threads share.
class CompileJob {
public:
  CompileJob(const std::vector<BenchCase> &cases,
             const CompileSettings &settings, const KernelFolder &folder,
             const std::function<bool()> &isOver)
      : seconds(cases.size()), cases(cases), settings(settings), folder(folder),
        isOver(isOver) {}

  /// Compiles until no case is left.
  void work();

  /// The time of a step that its product cannot have, and of a case that no
  /// time was left for.
  static constexpr double kLeftOut = -1, kTooLate = -2;

  /// By case; none where it could not be compiled.
  std::vector<std::optional<double>> seconds;

private:
  void showProgress() const;

  const std::vector<BenchCase> &cases;
  const CompileSettings &settings;
  const KernelFolder &folder;
  const std::function<bool()> &isOver;
  const bool onTerminal = isatty(STDERR_FILENO);
  std::mutex mutex;
  size_t next = 0, done = 0;
};
} // namespace

void CompileJob::showProgress() const {
  if (onTerminal)
    std::fprintf(stderr, "\r\033[Knm-bench: compiled %zu of %zu", done,
                 cases.size());
}

void CompileJob::work() {
  std::unique_lock<std::mutex> lock(mutex);
  while (next < cases.size()) {
    size_t at = next++;
    if (isOver && isOver()) {
      seconds[at] = kTooLate;
      continue;
    }
    lock.unlock();
    Result<double> spent =
        compileToFile(cases[at], settings, folder.file(cases[at]));
    lock.lock();
    ++done;
    if (spent)
      seconds[at] = *spent;
    else if (!cases[at].step.empty())
      seconds[at] = kLeftOut;
    else
      std::fprintf(stderr, "%snm-bench: error: %s: %s\n",
                   onTerminal ? "\r\033[K" : "", cases[at].str().c_str(),
                   spent.error().message.c_str());
    showProgress();
  }
}

Result<size_t> nm::compileAll(const std::vector<BenchCase> &cases,
                              const CompileSettings &settings,
                              KernelFolder &folder, size_t jobs,
                              const std::function<bool()> &isOver) {
  auto begin = std::chrono::steady_clock::now();
  CompileJob job(cases, settings, folder, isOver);
  std::vector<std::thread> threads;
  for (size_t i = 1; i < std::min(jobs, cases.size()); ++i)
    threads.emplace_back([&] { job.work(); });
  job.work();
  for (std::thread &thread : threads)
    thread.join();
  if (isatty(STDERR_FILENO))
    std::fputs("\r\033[K", stderr);

  size_t failed = 0, leftOut = 0, tooLate = 0;
  double slowest = 0;
  for (size_t i = 0; i < cases.size(); ++i) {
    if (!job.seconds[i]) {
      ++failed;
      continue;
    }
    if (*job.seconds[i] == CompileJob::kLeftOut) {
      ++leftOut;
      continue;
    }
    if (*job.seconds[i] == CompileJob::kTooLate) {
      ++tooLate;
      continue;
    }
    folder.add(cases[i], *job.seconds[i]);
    slowest = std::max(slowest, *job.seconds[i]);
  }
  if (Status status = folder.writeList(); !status)
    return status.error();
  std::chrono::duration<double> spent =
      std::chrono::steady_clock::now() - begin;
  std::printf("compiled %zu of %zu cases for %s in %.1f s, the slowest in %.2f "
              "s\n",
              cases.size() - failed - leftOut - tooLate, cases.size(),
              settings.target.c_str(), spent.count(), slowest);
  if (leftOut > 0)
    std::printf("left out %s that products cannot have\n",
                counted(leftOut, "step").c_str());
  if (tooLate > 0)
    std::printf("no time was left to compile %s\n",
                counted(tooLate, "case").c_str());
  return failed;
}
