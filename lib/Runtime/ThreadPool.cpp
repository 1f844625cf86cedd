//===- ThreadPool.cpp - The threads that run compiled loops ---------------===//

#include "nm/Runtime/ThreadPool.h"

#include "RecordedError.h"
#include "nm-c/Runtime.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <sched.h>
#include <signal.h>

using namespace nm;

/// How long a worker spins before it sleeps. Waking a sleeper costs about as
/// much, so that spinning at most doubles the cost of waiting.
static constexpr std::chrono::microseconds kSpinTime{50};

/// A team returns when each of its threads has come, also one that the system
/// has set aside for another process's and that no index waits for. Threads
/// that come this much later than the loop took are set aside: a time slice of
/// Linux is some 4 ms.
static constexpr std::chrono::milliseconds kLate{1};

/// How many loops then run on the pool's own threads, which need not come.
static constexpr int kLoopsWithoutTeam = 1000;

/// Set while this thread runs the body of a loop.
static thread_local bool insideLoop = false;

static void relaxProcessor() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Spins until `done()`, at most kSpinTime; whether it was done.
template <typename Predicate>
static bool spinUntil(Predicate done) {
  for (int i = 0; i < 64; ++i) {
    if (done())
      return true;
    relaxProcessor();
  }
  auto end = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int i = 0; i < 64; ++i) {
      if (done())
        return true;
      relaxProcessor();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

//===----------------------------------------------------------------------===//
// How many threads
//===----------------------------------------------------------------------===//

/// The processors' worth of time that the control group grants, or 0 where it
/// sets no quota.
static int groupQuota() {
  FILE *file = std::fopen("/sys/fs/cgroup/cpu.max", "re");
  if (!file)
    return 0;
  long quota = 0, period = 0;
  bool limited = std::fscanf(file, "%ld %ld", &quota, &period) == 2;
  std::fclose(file);
  return limited && quota > 0 && period > 0 ? int((quota + period - 1) / period)
                                            : 0;
}

static int affinityCount() {
  // The mask of the kernel may be larger than cpu_set_t; grow until it fits.
  for (int size = 1024; size <= 1 << 20; size *= 2) {
    cpu_set_t *set = CPU_ALLOC(size);
    if (!set)
      break;
    size_t bytes = CPU_ALLOC_SIZE(size);
    int result = sched_getaffinity(0, bytes, set);
    int count = result == 0 ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (count > 0)
      return count;
    if (errno != EINVAL)
      break;
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

int nm::availableProcessors() {
  int quota = groupQuota();
  int count = affinityCount();
  return quota > 0 ? std::min(quota, count) : count;
}

/// More would be a mistake, whose threads the system would grant.
static constexpr long kMaxThreads = 4096;

int nm::defaultNumThreads() {
  const char *text = std::getenv("NM_NUM_THREADS");
  if (!text || !*text)
    return availableProcessors();
  char *end = nullptr;
  long count = std::strtol(text, &end, 10);
  if (*end == 0 && count >= 1 && count <= kMaxThreads)
    return int(count);
  int available = availableProcessors();
  std::fprintf(stderr,
               "nm: expected NM_NUM_THREADS to be a number from 1 to %ld, but "
               "got '%s'; using %d\n",
               kMaxThreads, text, available);
  return available;
}

//===----------------------------------------------------------------------===//
// The pool
//===----------------------------------------------------------------------===//

ThreadPool::ThreadPool(int numThreads) { setNumThreads(numThreads); }

ThreadPool::~ThreadPool() {
  std::lock_guard<std::mutex> lock(owner);
  stopping = true;
  epoch.fetch_add(1);
  wake();
  for (const std::unique_ptr<Worker> &worker : workers)
    pthread_join(worker->thread, nullptr);
}

void *ThreadPool::startWork(void *worker) {
  auto *self = static_cast<Worker *>(worker);
  self->pool->work(self->id);
  return nullptr;
}

bool ThreadPool::startWorker() {
  auto worker = std::make_unique<Worker>();
  worker->pool = this;
  worker->id = int(workers.size()) + 1;
  // Signals go to the program's own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started =
      pthread_create(&worker->thread, nullptr, startWork, worker.get()) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (started)
    workers.push_back(std::move(worker));
  return started;
}

void ThreadPool::setNumThreads(int count) {
  if (insideLoop)
    return;
  count = std::min<int>(count, kMaxThreads);
  std::lock_guard<std::mutex> lock(owner);
  // Where the system grants no more threads, the ones there are do the work.
  while (int(workers.size()) < count - 1 && startWorker())
    ;
  limit = std::clamp(count, 1, int(workers.size()) + 1);
}

void ThreadPool::setTeam(Team newTeam) {
  if (insideLoop)
    return;
  std::lock_guard<std::mutex> lock(owner);
  team = newTeam;
  loopsWithoutTeam = 0;
}

void ThreadPool::wake() {
  // Taking the mutex orders this after a worker that has looked at the epoch
  // and is about to wait.
  if (sleepers.load() == 0)
    return;
  std::lock_guard<std::mutex> lock(sleepMutex);
  wakeUp.notify_all();
}

void ThreadPool::runLoop() {
  insideLoop = true;
  // Of this thread, which may not be the caller's.
  ErrorCollector errors;
  int64_t end = count.load(std::memory_order_relaxed);
  for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < end;)
    body(i, ctx);
  insideLoop = false;
  if (Status status = errors.status(); !status) {
    std::lock_guard<std::mutex> lock(errorMutex);
    if (!error)
      error = status.error();
  }
}

void ThreadPool::reportError() {
  if (!error)
    return;
  recordError(std::move(*error));
  error.reset();
}

void ThreadPool::joinLoop(void *pool) {
  auto *self = static_cast<ThreadPool *>(pool);
  bool isCaller = pthread_equal(pthread_self(), self->caller);
  if (isCaller)
    self->callerBegan = std::chrono::steady_clock::now();
  if (self->joined.fetch_add(1) < self->numThreads())
    self->runLoop();
  if (isCaller)
    self->callerDone = std::chrono::steady_clock::now();
}

void ThreadPool::runOnTeam() {
  joined = 0;
  caller = pthread_self();
  auto begin = std::chrono::steady_clock::now();
  team(joinLoop, this, /*threads=*/0, /*flags=*/0);
  // Another thread may have taken the last index as the caller was done: then
  // it is later by no more than the caller took, for one index or several.
  // A team also waits, before it begins, for threads that have not left the
  // loop before.
  auto late =
      (callerBegan - begin) + (std::chrono::steady_clock::now() - callerDone);
  if (late > kLate + (callerDone - callerBegan))
    loopsWithoutTeam = kLoopsWithoutTeam;
}

void ThreadPool::waitForLoop(uint32_t seen) {
  auto changed = [&] { return epoch.load(std::memory_order_acquire) != seen; };
  if (spinUntil(changed))
    return;
  std::unique_lock<std::mutex> lock(sleepMutex);
  sleepers.fetch_add(1);
  wakeUp.wait(lock, [&] { return epoch.load() != seen; });
  sleepers.fetch_sub(1);
}

void ThreadPool::work(int id) {
  uint32_t seen = 0;
  while (true) {
    waitForLoop(seen);
    seen = epoch.load();
    if (stopping)
      return;
    // Threads that the loop has no index for stay off its cache lines.
    if (id >= std::min<int64_t>(limit.load(), count.load()))
      continue;
    active.fetch_add(1);
    if (open.load())
      runLoop();
    active.fetch_sub(1);
  }
}

void ThreadPool::parallelFor(int64_t indices, Body loopBody, void *loopCtx) {
  // try_lock also keeps two threads that call at once from waiting for each
  // other: the second runs its loop alone.
  bool alone = indices <= 1 || numThreads() == 1 || insideLoop;
  std::unique_lock<std::mutex> lock(owner, std::defer_lock);
  if (alone || !lock.try_lock()) {
    for (int64_t i = 0; i < indices; ++i)
      loopBody(i, loopCtx);
    return;
  }

  body = loopBody;
  ctx = loopCtx;
  count = indices;
  next = 0;
  if (team && loopsWithoutTeam == 0) {
    runOnTeam();
    reportError();
    return;
  }
  if (loopsWithoutTeam > 0)
    --loopsWithoutTeam;
  open = true;
  epoch.fetch_add(1);
  wake();
  runLoop();

  // A worker that raises `active` from here on finds the loop closed.
  open = false;
  auto finished = [&] { return active.load() == 0; };
  while (!spinUntil(finished))
    sched_yield();
  reportError();
}

//===----------------------------------------------------------------------===//
// The process's pool
//===----------------------------------------------------------------------===//

static std::atomic<ThreadPool *> globalPool{nullptr};
static pthread_mutex_t globalMutex = PTHREAD_MUTEX_INITIALIZER;

/// A child has only the thread that forked: the pool's threads, and whoever
/// held its mutexes, are gone. The old pool is left as it is.
static void forgetPoolInChild() {
  globalPool.store(nullptr);
  globalMutex = PTHREAD_MUTEX_INITIALIZER;
  insideLoop = false;
}

ThreadPool &ThreadPool::global() {
  if (ThreadPool *pool = globalPool.load(std::memory_order_acquire))
    return *pool;
  pthread_mutex_lock(&globalMutex);
  static bool handlerInstalled = false;
  if (!handlerInstalled)
    pthread_atfork(nullptr, nullptr, forgetPoolInChild);
  handlerInstalled = true;
  ThreadPool *pool = globalPool.load();
  if (!pool) {
    pool = new ThreadPool(defaultNumThreads());
    globalPool.store(pool, std::memory_order_release);
  }
  pthread_mutex_unlock(&globalMutex);
  return *pool;
}

extern "C" {

NM_RUNTIME_API void
nmParallelFor(int64_t count, void (*fn)(int64_t index, void *ctx), void *ctx) {
  if (fn)
    ThreadPool::global().parallelFor(count, fn, ctx);
}

NM_RUNTIME_API int32_t nmGetNumThreads(void) {
  return ThreadPool::global().numThreads();
}

NM_RUNTIME_API void nmSetNumThreads(int32_t count) {
  ThreadPool::global().setNumThreads(count < 1 ? defaultNumThreads() : count);
}

NM_RUNTIME_API void nmSetThreadTeam(void (*team)(void (*body)(void *),
                                                 void *ctx, unsigned threads,
                                                 unsigned flags)) {
  ThreadPool::global().setTeam(team);
}
}
