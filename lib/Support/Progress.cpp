//===- Progress.cpp - Telling that long work goes on ----------------------===//

#include "nm/Support/Progress.h"

#include "nm/Support/Terminal.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <utility>

#include <unistd.h>

using namespace nm;

Progress::Progress(std::string what) : what(std::move(what)) {
  if (isatty(STDERR_FILENO))
    thread = std::thread(&Progress::show, this);
}

Progress::~Progress() {
  if (!thread.joinable())
    return;
  {
    std::lock_guard<std::mutex> lock(mutex);
    done = true;
  }
  ended.notify_all();
  thread.join();
}

void Progress::setStep(std::string name) {
  std::lock_guard<std::mutex> lock(mutex);
  step = std::move(name);
}

void Progress::show() {
  using namespace std::chrono_literals;
  auto start = std::chrono::steady_clock::now();
  std::unique_lock<std::mutex> lock(mutex);
  if (ended.wait_for(lock, 1s, [&] { return done; }))
    return;
  do {
    std::chrono::duration<double> spent =
        std::chrono::steady_clock::now() - start;
    std::string line = std::string(program_invocation_short_name) + ": " +
                       what + (step.empty() ? "" : ": " + step);
    // A line that wraps would not be overwritten by the next.
    constexpr int kTimeColumns = 12;
    int columns = terminalColumns(STDERR_FILENO);
    if (columns > kTimeColumns)
      line.resize(std::min<size_t>(line.size(), columns - kTimeColumns));
    std::fprintf(stderr, "\r%s, %.0f s \x1b[K", line.c_str(), spent.count());
    std::fflush(stderr);
  } while (!ended.wait_for(lock, 500ms, [&] { return done; }));
  std::fprintf(stderr, "\r\x1b[K");
  std::fflush(stderr);
}
