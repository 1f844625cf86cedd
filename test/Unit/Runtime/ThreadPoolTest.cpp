//===- ThreadPoolTest.cpp - The threads that run compiled loops -----------===//

#include "nm/Runtime/ThreadPool.h"

#include "nm-c/Runtime.h"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace nm;

namespace {
/// How often each index was run.
struct Counts {
  explicit Counts(int64_t size) : counts(size) {}

  static void body(int64_t index, void *ctx) {
    ++static_cast<Counts *>(ctx)->counts[index];
  }
  bool allAre(int expected) const {
    for (const std::atomic<int> &count : counts)
      if (count != expected)
        return false;
    return true;
  }

  std::vector<std::atomic<int>> counts;
};
} // namespace

TEST(ThreadPool, RunsEveryIndexOnce) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.numThreads(), threads);
    for (int64_t size : {0, 1, 2, 3, 7, 64, 1000}) {
      Counts counts(size);
      pool.parallelFor(size, Counts::body, &counts);
      EXPECT_TRUE(counts.allAre(1)) << threads << " threads, " << size;
    }
  }
}

TEST(ThreadPool, RunsNothingForNegativeCounts) {
  ThreadPool pool(2);
  pool.parallelFor(-1, [](int64_t, void *) { FAIL(); }, nullptr);
}

TEST(ThreadPool, WritesAreVisibleToTheCaller) {
  ThreadPool pool(4);
  std::vector<int64_t> plain(97);
  for (int64_t round = 1; round <= 20000; ++round) {
    struct Ctx {
      std::vector<int64_t> *plain;
      int64_t round;
    } ctx{&plain, round};
    pool.parallelFor(
        97,
        [](int64_t i, void *p) {
          auto *ctx = static_cast<Ctx *>(p);
          (*ctx->plain)[i] = ctx->round * i;
        },
        &ctx);
    for (int64_t i = 0; i < 97; ++i)
      ASSERT_EQ(plain[i], round * i);
  }
}

TEST(ThreadPool, WakesAfterSleeping) {
  ThreadPool pool(3);
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    Counts counts(30);
    pool.parallelFor(30, Counts::body, &counts);
    EXPECT_TRUE(counts.allAre(1));
  }
}

TEST(ThreadPool, UsesOtherThreads) {
  ThreadPool pool(2);
  // Each index waits until the other one runs too.
  std::atomic<int> arrived{0};
  pool.parallelFor(
      2,
      [](int64_t, void *ctx) {
        auto *arrived = static_cast<std::atomic<int> *>(ctx);
        ++*arrived;
        while (*arrived < 2)
          std::this_thread::yield();
      },
      &arrived);
  EXPECT_EQ(arrived, 2);
}

TEST(ThreadPool, NestedLoopsRunOnOneThread) {
  ThreadPool pool(4);
  struct Ctx {
    ThreadPool *pool;
    Counts counts{6 * 5};
    std::atomic<int> strayed{0};
  } ctx;
  ctx.pool = &pool;
  pool.parallelFor(
      6,
      [](int64_t i, void *p) {
        struct Inner {
          Ctx *ctx;
          int64_t row;
          std::thread::id thread;
        } inner{static_cast<Ctx *>(p), i, std::this_thread::get_id()};
        inner.ctx->pool->parallelFor(
            5,
            [](int64_t j, void *q) {
              auto *inner = static_cast<Inner *>(q);
              Counts::body(inner->row * 5 + j, &inner->ctx->counts);
              if (std::this_thread::get_id() != inner->thread)
                ++inner->ctx->strayed;
            },
            &inner);
      },
      &ctx);
  EXPECT_TRUE(ctx.counts.allAre(1));
  EXPECT_EQ(ctx.strayed, 0);
}

TEST(ThreadPool, SeveralCallersAtOnce) {
  ThreadPool pool(3);
  std::vector<std::thread> callers;
  std::atomic<bool> good{true};
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        Counts counts(17);
        pool.parallelFor(17, Counts::body, &counts);
        if (!counts.allAre(1))
          good = false;
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_TRUE(good);
}

TEST(ThreadPool, ChangesItsSize) {
  ThreadPool pool(1);
  for (int threads : {4, 2, 1, 3}) {
    pool.setNumThreads(threads);
    EXPECT_EQ(pool.numThreads(), threads);
    Counts counts(100);
    pool.parallelFor(100, Counts::body, &counts);
    EXPECT_TRUE(counts.allAre(1));
  }
}

TEST(ThreadPool, HasAMostOfThreads) {
  ThreadPool pool(1 << 20);
  EXPECT_GT(pool.numThreads(), 1);
  EXPECT_LE(pool.numThreads(), 4096);
}

TEST(ThreadPool, IsDestroyedWhileItsThreadsSpinOrSleep) {
  for (int round = 0; round < 50; ++round) {
    ThreadPool pool(3);
    Counts counts(round);
    pool.parallelFor(round, Counts::body, &counts);
    EXPECT_TRUE(counts.allAre(1));
    if (round % 2)
      std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

TEST(ThreadPool, CApi) {
  nmSetNumThreads(3);
  EXPECT_EQ(nmGetNumThreads(), 3);
  Counts counts(50);
  nmParallelFor(50, Counts::body, &counts);
  EXPECT_TRUE(counts.allAre(1));
  nmSetNumThreads(0);
  EXPECT_EQ(nmGetNumThreads(), defaultNumThreads());
}

TEST(ThreadPool, AForkedChildHasItsOwnPool) {
  Counts warm(50);
  nmSetNumThreads(3);
  nmParallelFor(50, Counts::body, &warm);
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Counts counts(50);
    nmParallelFor(50, Counts::body, &counts);
    _exit(counts.allAre(1) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  nmSetNumThreads(0);
}

namespace {
/// A team of four threads, which are new at each call.
struct FourThreads {
  static void run(void (*body)(void *), void *ctx, unsigned, unsigned) {
    ++calls;
    std::vector<std::thread> others;
    for (int i = 0; i < 3; ++i)
      others.emplace_back(body, ctx);
    body(ctx);
    for (std::thread &other : others)
      other.join();
  }
  static std::atomic<int> calls;
};
std::atomic<int> FourThreads::calls{0};

/// The threads that run the indices of a loop.
struct Runners {
  static void body(int64_t, void *ctx) {
    auto *self = static_cast<Runners *>(ctx);
    std::this_thread::sleep_for(std::chrono::microseconds(300));
    std::lock_guard<std::mutex> lock(self->mutex);
    self->threads.insert(std::this_thread::get_id());
  }
  std::mutex mutex;
  std::set<std::thread::id> threads;
};
} // namespace

TEST(ThreadPool, RunsLoopsOnATeam) {
  FourThreads::calls = 0;
  ThreadPool pool(3);
  for (int64_t size : {0, 1, 2, 3, 7, 64, 1000}) {
    // Anew, as a thread of the loop before may have come late.
    pool.setTeam(FourThreads::run);
    Counts counts(size);
    pool.parallelFor(size, Counts::body, &counts);
    EXPECT_TRUE(counts.allAre(1)) << size;
  }
  // No team is needed for one index.
  EXPECT_EQ(FourThreads::calls, 5);
  pool.setTeam(nullptr);
  Counts counts(100);
  pool.parallelFor(100, Counts::body, &counts);
  EXPECT_TRUE(counts.allAre(1));
  EXPECT_EQ(FourThreads::calls, 5);
}

namespace {
/// A team of two whose other thread comes after the caller has done all work.
struct LateThread {
  static inline int calls = 0;

  static void run(void (*body)(void *), void *ctx, unsigned, unsigned) {
    ++calls;
    body(ctx);
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      body(ctx);
    });
    other.join();
  }
};
} // namespace

TEST(ThreadPool, RunsWithoutATeamWhoseThreadsComeLate) {
  ThreadPool pool(2);
  pool.setTeam(LateThread::run);
  LateThread::calls = 0;
  for (int i = 0; i < 500; ++i) {
    Counts counts(10);
    pool.parallelFor(10, Counts::body, &counts);
    EXPECT_TRUE(counts.allAre(1)) << i;
  }
  EXPECT_EQ(LateThread::calls, 1);
  // It is tried again.
  for (int i = 0; i < 1000; ++i) {
    Counts counts(10);
    pool.parallelFor(10, Counts::body, &counts);
  }
  EXPECT_EQ(LateThread::calls, 2);
  pool.setTeam(LateThread::run);
  Counts counts(10);
  pool.parallelFor(10, Counts::body, &counts);
  EXPECT_EQ(LateThread::calls, 3);
}

namespace {
/// A team that waits for its other thread before the caller begins.
struct LateStart {
  static inline int calls = 0;

  static void run(void (*body)(void *), void *ctx, unsigned, unsigned) {
    ++calls;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    body(ctx);
  }
};
} // namespace

TEST(ThreadPool, RunsWithoutATeamThatBeginsLate) {
  ThreadPool pool(2);
  pool.setTeam(LateStart::run);
  for (int i = 0; i < 500; ++i) {
    Counts counts(10);
    pool.parallelFor(10, Counts::body, &counts);
    EXPECT_TRUE(counts.allAre(1)) << i;
  }
  EXPECT_EQ(LateStart::calls, 1);
}

TEST(ThreadPool, NoMoreOfATeamThanItsThreads) {
  for (int threads : {2, 3}) {
    ThreadPool pool(threads);
    pool.setTeam(FourThreads::run);
    Runners runners;
    pool.parallelFor(200, Runners::body, &runners);
    EXPECT_GT(runners.threads.size(), 1u);
    EXPECT_LE(runners.threads.size(), size_t(threads));
  }
}

TEST(ThreadPool, NestedLoopsRunOnOneThreadOfATeam) {
  ThreadPool pool(4);
  pool.setTeam(FourThreads::run);
  FourThreads::calls = 0;
  struct Ctx {
    ThreadPool *pool;
    Counts counts{30};
  } ctx;
  ctx.pool = &pool;
  pool.parallelFor(
      6,
      [](int64_t, void *p) {
        auto *ctx = static_cast<Ctx *>(p);
        ctx->pool->parallelFor(30, Counts::body, &ctx->counts);
      },
      &ctx);
  EXPECT_TRUE(ctx.counts.allAre(6));
  EXPECT_EQ(FourThreads::calls, 1);
}

TEST(ThreadPool, AForkedChildHasNoTeam) {
  nmSetThreadTeam(FourThreads::run);
  FourThreads::calls = 0;
  Counts warm(50);
  nmSetNumThreads(3);
  nmParallelFor(50, Counts::body, &warm);
  EXPECT_EQ(FourThreads::calls, 1);
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Counts counts(50);
    nmParallelFor(50, Counts::body, &counts);
    _exit(counts.allAre(1) && FourThreads::calls == 1 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  nmSetThreadTeam(nullptr);
  nmSetNumThreads(0);
}

TEST(ThreadPool, NumThreadsVariable) {
  setenv("NM_NUM_THREADS", "5", 1);
  EXPECT_EQ(defaultNumThreads(), 5);
  for (const char *bad : {"0", "-2", "many", "3x", "99999999999"}) {
    setenv("NM_NUM_THREADS", bad, 1);
    testing::internal::CaptureStderr();
    EXPECT_EQ(defaultNumThreads(), availableProcessors());
    EXPECT_NE(testing::internal::GetCapturedStderr().find(bad),
              std::string::npos);
  }
  unsetenv("NM_NUM_THREADS");
  EXPECT_EQ(defaultNumThreads(), availableProcessors());
  EXPECT_GE(availableProcessors(), 1);
}
