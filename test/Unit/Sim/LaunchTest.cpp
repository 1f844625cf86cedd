//===- LaunchTest.cpp - Kernels written by hand ---------------------------===//

#include "nm-c/Runtime.h"
#include "nm/Sim/Abi.h"
#include "nm/Sim/Report.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

using namespace nm::sim;

namespace {
enum Site : int32_t { Other, LoadGlobal, StoreGlobal, AddGlobal };

struct Arguments {
  int32_t *x;
  int64_t count;
};
} // namespace

static const char kText[] = "op\0file:1:2";
static const NmSimSite kSites[] = {
    {0, 3, NM_SIM_OTHER, NM_SIM_GENERIC, 0, 1},
    {0, 3, NM_SIM_LOAD, NM_SIM_GLOBAL, 4, 4},
    {0, 3, NM_SIM_STORE, NM_SIM_GLOBAL, 4, 4},
    {0, 3, NM_SIM_ATOMIC, NM_SIM_GLOBAL, 4, 4},
};

static int32_t threadId(NmSimThread *thread) {
  return nmSimReadRegister(thread, Other, NM_SIM_TID_X);
}

static int32_t blockId(NmSimThread *thread) {
  return nmSimReadRegister(thread, Other, NM_SIM_CTAID_X);
}

/// Runs the kernel; returns the error that it records, or an empty text. `x`
/// counts as so many bytes, where not as its own.
static std::string launch(void (*entry)(NmSimThread *, void *), int64_t blocks,
                          int64_t threads, std::vector<int32_t> &x,
                          int64_t extentBytes = 0, int64_t cluster = 1) {
  NmSimKernel kernel{"kernel", "sm_90", 1 << 16, 0, entry, kSites, 4, kText};
  Arguments arguments{x.data(), int64_t(x.size())};
  auto *bytes = reinterpret_cast<const char *>(x.data());
  NmSimExtent extent{bytes, extentBytes ? extentBytes : int64_t(x.size() * 4),
                     bytes};
  NmSimLaunch shape{{blocks, 1, 1},
                    {threads, 1, 1},
                    {cluster, 1, 1},
                    0,
                    &arguments,
                    &extent,
                    1};
  nmSimLaunch(&kernel, &shape);
  char *error = nmTakeError();
  std::string text = error ? error : "";
  nmMessageFree(error);
  return text;
}

static int32_t *access(NmSimThread *thread, Site site, int32_t *address) {
  return static_cast<int32_t *>(nmSimAccess(thread, site, address));
}

static void writeOwn(NmSimThread *thread, void *arguments) {
  auto &args = *static_cast<Arguments *>(arguments);
  int32_t i =
      blockId(thread) * nmSimReadRegister(thread, Other, NM_SIM_NTID_X) +
      threadId(thread);
  if (i < args.count)
    *access(thread, StoreGlobal, args.x + i) = i;
}

TEST(LaunchTest, RunsEveryThreadOnce) {
  // The last block has a warp that is not full, and threads without work.
  std::vector<int32_t> x(1000), expected(1000);
  std::iota(expected.begin(), expected.end(), 0);
  takeReports();
  EXPECT_EQ(launch(writeOwn, 14, 75, x), "");
  EXPECT_EQ(x, expected);
  std::vector<LaunchReport> reports = takeReports();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].kernel, "kernel");
  EXPECT_EQ(reports[0].counts.global[NM_SIM_STORE].bytes, 4000u);
  EXPECT_EQ(reports[0].faults, 0u);
}

/// A wrong launch does nothing but record its error.
TEST(LaunchTest, Limits) {
  std::vector<int32_t> x(1);
  EXPECT_NE(launch(writeOwn, 1, 1025, x)
                .find("expected a block of 1 to 1024 in x, but got 1025"),
            std::string::npos);
  EXPECT_NE(launch(writeOwn, -1, 32, x)
                .find("expected a grid of 1 to 2147483647 in x, but got -1"),
            std::string::npos);
  EXPECT_EQ(launch(writeOwn, 0, 32, x), "");
  // A shadow that is larger than memory.
  EXPECT_NE(launch(writeOwn, 1, 32, x, int64_t(1) << 60)
                .find("cannot reserve memory to watch that of the arguments"),
            std::string::npos);
  EXPECT_EQ(x[0], 0);
}

static void shuffleAndVote(NmSimThread *thread, void *arguments) {
  auto &args = *static_cast<Arguments *>(arguments);
  int32_t lane = threadId(thread) % 32;
  struct {
    int32_t value, offset, maskAndClamp, kind;
  } shuffle{lane * 10, 1, 31, /*bfly=*/0};
  struct {
    int32_t value;
    bool isValid;
  } result;
  nmSimCollective(thread, Other, 32, -1, nmSimShuffle, &shuffle, &result);
  struct {
    int32_t predicate, kind;
  } vote{lane % 2, /*ballot=*/2};
  uint64_t ballot = 0;
  nmSimCollective(thread, Other, 32, -1, nmSimVote, &vote, &ballot);
  struct {
    int32_t value, kind, abs, nan;
  } sum{lane, /*add=*/1, 0, 0};
  uint64_t total = 0;
  nmSimCollective(thread, Other, 32, -1, nmSimReduce, &sum, &total);
  bool isRight = result.value == (lane ^ 1) * 10 && result.isValid &&
                 uint32_t(ballot) == 0xaaaaaaaa && uint32_t(total) == 31 * 16;
  *access(thread, StoreGlobal, args.x + threadId(thread)) = isRight;
}

TEST(LaunchTest, Collectives) {
  std::vector<int32_t> x(64), expected(64, 1);
  EXPECT_EQ(launch(shuffleAndVote, 1, 64, x), "");
  EXPECT_EQ(x, expected);
}

/// Lane by lane, what each kind of shuffle reads; -1 where nothing.
TEST(LaunchTest, Shuffles) {
  struct Operands {
    int32_t value, offset, maskAndClamp, kind;
  };
  struct Result {
    int32_t value;
    bool isValid;
  };
  auto shuffle = [](int kind, int offset, int maskAndClamp, int lane) {
    NmSimCollective lanes{};
    lanes.width = 32;
    Operands operands[32];
    Result results[32];
    for (int i = 0; i < 32; ++i) {
      operands[i] = {i, offset, maskAndClamp, kind};
      lanes.operands[i] = &operands[i];
      lanes.results[i] = &results[i];
    }
    nmSimShuffle(&lanes);
    return results[lane].isValid ? results[lane].value : -1;
  };
  enum { Butterfly, Up, Down, Index };
  EXPECT_EQ(shuffle(Butterfly, 16, 31, 3), 19);
  EXPECT_EQ(shuffle(Up, 2, 0, 5), 3);
  EXPECT_EQ(shuffle(Up, 2, 0, 1), -1);
  EXPECT_EQ(shuffle(Down, 3, 31, 28), 31);
  EXPECT_EQ(shuffle(Down, 3, 31, 29), -1);
  EXPECT_EQ(shuffle(Index, 9, 31, 0), 9);
  // Segments of 8 lanes: the mask has the high bits, the clamp the low ones.
  EXPECT_EQ(shuffle(Index, 2, (24 << 8) | 7, 13), 10);
  EXPECT_EQ(shuffle(Down, 1, (24 << 8) | 7, 15), -1);
}

namespace {
/// 32 rows of 16 bytes, which the first lanes name in an order of their own.
struct Matrices {
  Matrices(int count, bool isTransposed) {
    lanes.width = 32;
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < 8; ++i)
        rows[lane][i] = int16_t(10 * lane + i);
      operands[lane] = {lane < 8 * count ? reinterpret_cast<char *>(named(lane))
                                         : nullptr,
                        count,
                        isTransposed,
                        {}};
      lanes.operands[lane] = &operands[lane];
      lanes.results[lane] = results[lane];
    }
  }
  int16_t *named(int lane) { return rows[lane * 5 % 32]; }

  int16_t rows[32][8], results[32][8] = {};
  NmSimMatrices operands[32];
  NmSimCollective lanes{};
};
} // namespace

/// A lane receives a word of each matrix: of the row that a fourth of its
/// number says, or of two rows at that column.
TEST(LaunchTest, LoadsMatrices) {
  for (int count : {1, 2, 4})
    for (bool isTransposed : {false, true}) {
      Matrices matrices(count, isTransposed);
      nmSimLoadMatrices(&matrices.lanes);
      for (int lane = 0; lane < 32; ++lane)
        for (int i = 0; i < 8; ++i) {
          int row = lane / 4, column = lane % 4 * 2 + i % 2;
          if (isTransposed)
            std::swap(row, column);
          int16_t expected =
              i / 2 < count ? matrices.named(i / 2 * 8 + row)[column] : 0;
          EXPECT_EQ(matrices.results[lane][i], expected);
        }
    }
}

TEST(LaunchTest, StoresWhatItLoads) {
  for (int count : {1, 2, 4})
    for (bool isTransposed : {false, true}) {
      Matrices from(count, isTransposed), to(count, isTransposed);
      nmSimLoadMatrices(&from.lanes);
      for (int lane = 0; lane < 32; ++lane) {
        std::memcpy(to.operands[lane].words, from.results[lane], 16);
        std::memset(to.named(lane), 0, 16);
      }
      nmSimStoreMatrices(&to.lanes);
      for (int lane = 0; lane < 32; ++lane)
        for (int i = 0; i < 8; ++i)
          EXPECT_EQ(to.named(lane)[i],
                    lane < 8 * count ? from.named(lane)[i] : 0);
    }
}

/// A lane has elements 2 (lane % 4) and the next of row lane / 4, before and
/// after. What a lane that takes no part would bring is all ones.
TEST(LaunchTest, TransposesMatrices) {
  uint16_t words[32][2], results[32][2] = {};
  NmSimCollective lanes{};
  lanes.width = 32;
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 2; ++i)
      words[lane][i] = uint16_t(lane / 4 * 100 + lane % 4 * 2 + i);
    lanes.operands[lane] = lane == 5 ? nullptr : words[lane];
    lanes.results[lane] = lane == 5 ? nullptr : results[lane];
  }
  nmSimTransposeMatrix(&lanes);
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 2; ++i) {
      int row = lane % 4 * 2 + i, column = lane / 4;
      bool isLost = row == 1 && column / 2 == 1;
      EXPECT_EQ(results[lane][i], lane == 5 ? 0
                                  : isLost  ? 0xffff
                                            : row * 100 + column);
    }
}

static void addToOne(NmSimThread *thread, void *arguments) {
  auto &args = *static_cast<Arguments *>(arguments);
  __atomic_fetch_add(access(thread, AddGlobal, args.x), 1, __ATOMIC_RELAXED);
}

TEST(LaunchTest, AtomicsDoNotRace) {
  std::vector<int32_t> x(1);
  EXPECT_EQ(launch(addToOne, 10, 64, x), "");
  EXPECT_EQ(x[0], 640);
}

/// The last block to count reads what all have written.
static void sumInLastBlock(NmSimThread *thread, void *arguments) {
  auto &args = *static_cast<Arguments *>(arguments);
  int32_t blocks = nmSimReadRegister(thread, Other, NM_SIM_NCTAID_X);
  *access(thread, StoreGlobal, args.x + 2 + blockId(thread)) = 5;
  nmSimFence(thread, Other);
  int32_t before = __atomic_fetch_add(access(thread, AddGlobal, args.x), 1,
                                      __ATOMIC_ACQ_REL);
  if (before != blocks - 1)
    return;
  int32_t sum = 0;
  for (int32_t i = 0; i < blocks; ++i)
    sum += *access(thread, LoadGlobal, args.x + 2 + i);
  *access(thread, StoreGlobal, args.x + 1) = sum;
}

static void sumWithoutCounting(NmSimThread *thread, void *arguments) {
  auto &args = *static_cast<Arguments *>(arguments);
  *access(thread, StoreGlobal, args.x + blockId(thread)) = 5;
  if (blockId(thread) == 9)
    access(thread, LoadGlobal, args.x + 3);
}

TEST(LaunchTest, AtomicsOrderBlocks) {
  std::vector<int32_t> x(12);
  EXPECT_EQ(launch(sumInLastBlock, 10, 1, x), "");
  EXPECT_EQ(x[1], 50);
  EXPECT_NE(launch(sumWithoutCounting, 10, 1, x)
                .find("race on global memory: op at file:1:2: block (9, 0, 0), "
                      "thread (0, 0, 0): reads 4 bytes at"),
            std::string::npos);
}

static void readClusterRegisters(NmSimThread *thread, void *arguments) {
  auto &args = *static_cast<Arguments *>(arguments);
  constexpr int kCount = NM_SIM_CLUSTER_NCTARANK - NM_SIM_CLUSTERID_X + 1;
  for (int i = 0; i < kCount; ++i)
    *access(thread, StoreGlobal, args.x + blockId(thread) * kCount + i) =
        nmSimReadRegister(thread, Other, NM_SIM_CLUSTERID_X + i);
}

TEST(LaunchTest, ClusterRegisters) {
  std::vector<int32_t> x(6 * 14), expected;
  for (int block = 0; block < 6; ++block)
    for (int value :
         {block / 3, 0, 0, 2, 1, 1, block % 3, 0, 0, 3, 1, 1, block % 3, 3})
      expected.push_back(value);
  EXPECT_EQ(launch(readClusterRegisters, 6, 1, x, 0, /*cluster=*/3), "");
  EXPECT_EQ(x, expected);
}

static void meet(NmSimThread *thread) {
  nmSimArriveCluster(thread, Other, /*aligned=*/true);
  nmSimWaitCluster(thread, Other, /*aligned=*/true);
}

/// As above, but the first block of a cluster counts for all of it, and the
/// second one reads.
static void sumInLastCluster(NmSimThread *thread, void *arguments) {
  auto &args = *static_cast<Arguments *>(arguments);
  int32_t blocks = nmSimReadRegister(thread, Other, NM_SIM_NCTAID_X);
  int32_t rank = nmSimReadRegister(thread, Other, NM_SIM_CLUSTER_CTARANK);
  int32_t cluster = nmSimReadRegister(thread, Other, NM_SIM_CLUSTERID_X);
  int32_t *before = args.x + 2 + blocks + cluster;
  *access(thread, StoreGlobal, args.x + 2 + blockId(thread)) = 5;
  meet(thread);
  if (rank == 0)
    *access(thread, StoreGlobal, before) = __atomic_fetch_add(
        access(thread, AddGlobal, args.x), 1, __ATOMIC_ACQ_REL);
  meet(thread);
  if (rank == 0 ||
      *access(thread, LoadGlobal, before) !=
          nmSimReadRegister(thread, Other, NM_SIM_NCLUSTERID_X) - 1)
    return;
  int32_t sum = 0;
  for (int32_t i = 0; i < blocks; ++i)
    sum += *access(thread, LoadGlobal, args.x + 2 + i);
  *access(thread, StoreGlobal, args.x + 1) = sum;
}

static void readFromNeighbour(NmSimThread *thread, void *arguments) {
  auto &args = *static_cast<Arguments *>(arguments);
  *access(thread, StoreGlobal, args.x + blockId(thread)) = 5;
  nmSimArriveCluster(thread, Other, /*aligned=*/true);
  access(thread, LoadGlobal, args.x + (blockId(thread) ^ 1));
  nmSimWaitCluster(thread, Other, /*aligned=*/true);
}

TEST(LaunchTest, BarriersOfClustersOrderBlocks) {
  std::vector<int32_t> x(17);
  EXPECT_EQ(launch(sumInLastCluster, 10, 1, x, 0, /*cluster=*/2), "");
  EXPECT_EQ(x[1], 50);
  EXPECT_NE(launch(readFromNeighbour, 2, 1, x, 0, /*cluster=*/2)
                .find("race on global memory: op at file:1:2: block (1, 0, 0), "
                      "thread (0, 0, 0): writes 4 bytes at"),
            std::string::npos);
}

/// All warps meet at one barrier, then pairs at others.
static void meetInPairs(NmSimThread *thread, void *arguments) {
  auto &args = *static_cast<Arguments *>(arguments);
  int32_t id = threadId(thread), pair = id / 64;
  *access(thread, StoreGlobal, args.x + id) = id;
  nmSimBarrier(thread, Other, 1 + pair, 64);
  int32_t other = id ^ 32;
  int32_t value = *access(thread, LoadGlobal, args.x + other);
  nmSimBarrier(thread, Other, 0, -1);
  *access(thread, StoreGlobal, args.x + id) = value == other;
}

TEST(LaunchTest, NamedBarriers) {
  std::vector<int32_t> x(128), expected(128, 1);
  EXPECT_EQ(launch(meetInPairs, 1, 128, x), "");
  EXPECT_EQ(x, expected);
}

static void meetWrongly(NmSimThread *thread, void *) {
  nmSimBarrier(thread, Other, 16, -1);
  nmSimBarrier(thread, Other, 0, threadId(thread) < 32 ? 64 : 32);
}

TEST(LaunchTest, WrongBarriers) {
  std::vector<int32_t> x(1);
  std::string error = launch(meetWrongly, 1, 64, x);
  EXPECT_NE(error.find("operand out of range: op at file:1:2: block (0, 0, 0), "
                       "thread (0, 0, 0): expected a barrier of 0 to 15, but "
                       "got 16"),
            std::string::npos)
      << error;
  EXPECT_NE(error.find("expects 32 threads at barrier 0, where others expect "
                       "64"),
            std::string::npos)
      << error;
}
