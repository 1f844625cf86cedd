//===- CudaTurns.h - Timing calls on a CUDA device in turns -----*- C++ -*-===//

#ifndef NM_LIB_RUN_CUDATURNS_H
#define NM_LIB_RUN_CUDATURNS_H

#include "nm/Runtime/Device.h"
#include "nm/Support/Error.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace nm {

/// Calls that are timed.
struct CudaWork {
  /// Queues call number `i` on the thread's current stream.
  std::function<Status(int64_t i)> call;
  /// Calls that differ in what they read; then they start over.
  int64_t copies = 1;
};

/// How calls were timed.
struct CudaTimes {
  /// The times of one call, ascending.
  std::vector<double> seconds;
  double median() const { return seconds[seconds.size() / 2]; }
  int64_t callsPerReplay = 1;
  /// Whether the calls were replayed from a graph; else each was made anew.
  bool usesGraph = false;
  /// How many copies of its weights the calls took in turn; 1 where they may
  /// stay in the cache.
  int64_t weightCopies = 1;
};

/// Makes the first call of `work` on a stream of its own and waits for it, so
/// that another call may use the same memory, and an error of a kernel shows.
Status callOnCuda(Device device, const CudaWork &work);

/// Times each of `works` for so long that all take `seconds` together, at least
/// `minRuns` times each and in turns, so that a change of clocks falls on all.
/// The calls of a turn are captured into a CUDA graph, so that their launches
/// cost what they cost an application that does so, and events of the device
/// take the time. What happens at first calls alone is not counted.
Result<std::vector<CudaTimes>>
timeInTurnsOnCuda(Device device, const std::vector<CudaWork> &works,
                  double seconds, size_t minRuns);

/// Times `works`, of which there is one at least, as timeInTurnsOnCuda does,
/// and gives the number of the work whose median time is the least.
Result<size_t> findFastestOnCuda(Device device,
                                 const std::vector<CudaWork> &works,
                                 double seconds, size_t minRuns);

/// How many copies of `bytes` make the device's second-level cache forget each
/// before its next turn, as far as they fit in half of its free memory.
Result<int64_t> countColdCopies(Device device, int64_t bytes);

} // namespace nm

#endif // NM_LIB_RUN_CUDATURNS_H
