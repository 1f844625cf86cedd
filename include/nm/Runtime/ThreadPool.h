//===- ThreadPool.h - The threads that run compiled loops -------*- C++ -*-===//

#ifndef NM_RUNTIME_THREADPOOL_H
#define NM_RUNTIME_THREADPOOL_H

#include "nm/Runtime/Export.h"
#include "nm/Support/Error.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <pthread.h>

namespace nm {

/// The processors that this process may use: its affinity mask (which a cpuset
/// narrows) and the control group's quota.
NM_RUNTIME_API int availableProcessors();

/// NM_NUM_THREADS where it is a positive number, else availableProcessors().
NM_RUNTIME_API int defaultNumThreads();

/// Persistent threads that share the indices of one loop at a time.
class NM_RUNTIME_API ThreadPool {
public:
  using Body = void (*)(int64_t index, void *ctx);
  /// Calls `body(ctx)` once on each thread of a team, the caller among them,
  /// and returns when all calls have. `threads` 0 leaves their number to it,
  /// and `flags` are 0. GOMP_parallel of the OpenMP runtimes of GCC, LLVM and
  /// Intel is such a function.
  using Team = void (*)(void (*body)(void *), void *ctx, unsigned threads,
                        unsigned flags);

  explicit ThreadPool(int numThreads);
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;
  ~ThreadPool();

  /// The process's pool, made at the first call and, because other threads may
  /// still use it while the process ends, never destroyed. A forked child gets
  /// one of its own.
  static ThreadPool &global();

  /// Calls `body` for every index in [0, count); the caller takes part.
  void parallelFor(int64_t count, Body body, void *ctx);

  int numThreads() const { return limit.load(std::memory_order_relaxed); }
  /// Waits for a loop that is running; does nothing from within one.
  void setNumThreads(int count);

  /// Has loops run on the threads of `team`, of which numThreads() at most take
  /// part; or on the pool's own again, where it is null. Threads of another
  /// pool that still spin, as OpenMP's do, then work instead of holding the
  /// processors that the pool's own need. Where other processes hold these, so
  /// that threads of the team come late, the next loops run on the pool's own.
  /// Waits as setNumThreads does.
  void setTeam(Team team);

private:
  struct Worker {
    ThreadPool *pool;
    int id;
    pthread_t thread;
  };

  bool startWorker();
  static void *startWork(void *worker);
  void work(int id);
  static void joinLoop(void *pool);
  void runOnTeam();
  void runLoop();
  void reportError();
  void waitForLoop(uint32_t seen);
  void wake();

  // One loop at a time: `owner` is held by the thread whose loop it is.
  std::mutex owner;
  std::vector<std::unique_ptr<Worker>> workers;
  std::atomic<int> limit{1};
  Team team = nullptr;

  // The loop. Written by the owner while `open` is false and `active` is zero;
  // read by a worker only after it has raised `active` and found `open` set.
  Body body = nullptr;
  void *ctx = nullptr;
  std::atomic<int64_t> count{0};
  alignas(64) std::atomic<int64_t> next{0};
  alignas(64) std::atomic<bool> open{false};
  std::atomic<int> active{0};
  // How many threads of a team have come to the loop.
  std::atomic<int> joined{0};
  // Whose loop a team runs, when this thread began, and when it had no index
  // left.
  pthread_t caller{};
  std::chrono::steady_clock::time_point callerBegan;
  std::chrono::steady_clock::time_point callerDone;
  // How many of the next loops run on the pool's own threads all the same.
  int loopsWithoutTeam = 0;
  // The first error that a body has recorded, on whichever thread.
  std::mutex errorMutex;
  std::optional<Error> error;

  // Raised for every loop; a worker spins on it for a while, then sleeps.
  alignas(64) std::atomic<uint32_t> epoch{0};
  std::atomic<int> sleepers{0};
  std::atomic<bool> stopping{false};
  std::mutex sleepMutex;
  std::condition_variable wakeUp;
};

} // namespace nm

#endif // NM_RUNTIME_THREADPOOL_H
