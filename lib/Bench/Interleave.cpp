//===- Interleave.cpp - Timing two things in turns ------------------------===//

#include "Interleave.h"

#include <algorithm>
#include <chrono>
#include <thread>

using namespace nm;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

Timings Timings::of(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  auto percentile = [&](double p) {
    return seconds[size_t(p * double(seconds.size() - 1) + 0.5)];
  };
  return {percentile(0.5), percentile(0.1), percentile(0.9), seconds.size()};
}

/// Longer than the threads of either side spin before they sleep.
static constexpr std::chrono::milliseconds kPause{30};
static constexpr Seconds kTurn{0.04};

static void takeTurn(const std::function<void()> &contender,
                     std::vector<double> &times) {
  std::this_thread::sleep_for(kPause);
  contender();
  auto begin = Clock::now();
  for (auto start = begin; start - begin < kTurn;) {
    contender();
    auto end = Clock::now();
    times.push_back(Seconds(end - start).count());
    start = end;
  }
}

std::vector<Timings>
nm::timeInTurns(const std::vector<std::function<void()>> &contenders,
                double seconds) {
  constexpr int kMinTurns = 5;
  std::vector<std::vector<double>> times(contenders.size());
  auto begin = Clock::now();
  for (int turn = 0;
       turn < kMinTurns || Seconds(Clock::now() - begin).count() < seconds;
       ++turn)
    for (size_t i = 0; i < contenders.size(); ++i)
      takeTurn(contenders[i], times[i]);
  std::vector<Timings> timings;
  for (std::vector<double> &each : times)
    timings.push_back(Timings::of(std::move(each)));
  return timings;
}
