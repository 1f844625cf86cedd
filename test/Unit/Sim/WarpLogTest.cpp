//===- WarpLogTest.cpp - What the lanes of a warp access together ---------===//

#include "WarpLog.h"

#include <gtest/gtest.h>

#include <functional>

using namespace nm::sim;

static constexpr uint32_t kAll = ~0u;

static LaneAddresses makeAddresses(const std::function<int(int)> &element,
                                   int bytes) {
  LaneAddresses addresses;
  for (int lane = 0; lane < kWarp; ++lane)
    addresses[lane] = uint64_t(element(lane)) * bytes;
  return addresses;
}

// What Nsight Compute counts on an H200: docs/Sim.md.
TEST(WarpLogTest, SharedPasses) {
  struct Case {
    const char *name;
    int (*element)(int lane);
    // Of 4, 8 and 16 bytes.
    uint32_t loads[3], stores[3];
  } cases[] = {
      {"linear", [](int lane) { return lane; }, {1, 2, 4}, {1, 2, 4}},
      {"all the same", [](int) { return 0; }, {1, 1, 2}, {1, 2, 4}},
      {"quarters", [](int lane) { return lane / 8; }, {1, 1, 2}, {1, 2, 4}},
      {"pairs", [](int lane) { return lane / 2; }, {1, 1, 2}, {1, 2, 4}},
      {"pairs two apart",
       [](int lane) { return (lane & 1) | lane >> 2 << 1; },
       {1, 1, 2},
       {1, 2, 4}},
      {"pairs four apart",
       [](int lane) { return (lane & 3) | lane >> 3 << 2; },
       {1, 2, 4},
       {1, 2, 4}},
      {"eight words", [](int lane) { return lane % 8; }, {1, 2, 4}, {1, 2, 4}},
      {"stride of 2", [](int lane) { return lane * 2; }, {2, 4, 8}, {2, 4, 8}},
      {"stride of 8",
       [](int lane) { return lane * 8; },
       {8, 16, 32},
       {8, 16, 32}},
      {"rows of 9",
       [](int lane) { return lane / 4 * 9; },
       {1, 1, 2},
       {1, 2, 4}},
  };
  for (const Case &test : cases)
    for (int i = 0; i < 3; ++i) {
      int bytes = 4 << i;
      LaneAddresses addresses = makeAddresses(test.element, bytes);
      EXPECT_EQ(countSharedPasses(addresses, kAll, bytes, true).passes,
                test.loads[i])
          << test.name << ", loads of " << bytes;
      EXPECT_EQ(countSharedPasses(addresses, kAll, bytes, false).passes,
                test.stores[i])
          << test.name << ", stores of " << bytes;
    }
}

TEST(WarpLogTest, SharedConflicts) {
  auto conflicts = [](int stride, int bytes) {
    return countSharedPasses(
               makeAddresses([&](int lane) { return lane * stride; }, bytes),
               kAll, bytes, true)
        .conflicts;
  };
  EXPECT_EQ(conflicts(1, 4), 0u);
  EXPECT_EQ(conflicts(2, 4), 1u);
  EXPECT_EQ(conflicts(32, 4), 31u);
  EXPECT_EQ(conflicts(33, 4), 0u);
  EXPECT_EQ(conflicts(1, 16), 0u);
  EXPECT_EQ(conflicts(8, 16), 28u);
}

TEST(WarpLogTest, LanesThatAreNotThereCostNothing) {
  LaneAddresses addresses =
      makeAddresses([](int lane) { return lane * 32; }, 4);
  EXPECT_EQ(countSharedPasses(addresses, 0b11, 4, true).passes, 2u);
  EXPECT_EQ(countSectors(addresses, 0b111, 4), 3u);
}

TEST(WarpLogTest, Sectors) {
  auto count = [](const std::function<int(int)> &element, int bytes) {
    return countSectors(makeAddresses(element, bytes), kAll, bytes);
  };
  EXPECT_EQ(count([](int lane) { return lane; }, 4), 4u);
  EXPECT_EQ(count([](int lane) { return lane; }, 16), 16u);
  EXPECT_EQ(count([](int lane) { return lane; }, 1), 1u);
  EXPECT_EQ(count([](int) { return 7; }, 4), 1u);
  EXPECT_EQ(count([](int lane) { return lane * 8; }, 4), 32u);
  EXPECT_EQ(count([](int lane) { return lane + 1; }, 4), 5u);
}

TEST(WarpLogTest, MergesTheSameExecutionOfLanes) {
  NmSimSite sites[] = {{0, 0, NM_SIM_LOAD, NM_SIM_SHARED, 4, 4},
                       {0, 0, NM_SIM_LOAD, NM_SIM_GLOBAL, 16, 4}};
  WarpLog log(2);
  Counts counts;
  for (int lane = 0; lane < kWarp; ++lane) {
    log.add(lane, 0, /*isShared=*/true, uint64_t(lane) * 4);
    log.add(lane, 0, /*isShared=*/true, uint64_t(lane) * 128);
    log.add(lane, 1, /*isShared=*/false, uint64_t(lane) * 4);
  }
  log.flush(sites, counts);
  EXPECT_EQ(counts.shared[NM_SIM_LOAD].requests, 2u);
  EXPECT_EQ(counts.shared[NM_SIM_LOAD].passes, 33u);
  EXPECT_EQ(counts.shared[NM_SIM_LOAD].conflicts, 31u);
  EXPECT_EQ(counts.global[NM_SIM_LOAD].requests, 1u);
  EXPECT_EQ(counts.global[NM_SIM_LOAD].passes, 4u);
  EXPECT_EQ(counts.global[NM_SIM_LOAD].bytes, 128u);
  // Nothing is left of it.
  log.flush(sites, counts);
  EXPECT_EQ(counts.shared[NM_SIM_LOAD].requests, 2u);
}

TEST(WarpLogTest, LanesMayTakeDifferentPaths) {
  NmSimSite sites[] = {{0, 0, NM_SIM_STORE, NM_SIM_GLOBAL, 4, 4},
                       {0, 0, NM_SIM_STORE, NM_SIM_GLOBAL, 4, 4}};
  WarpLog log(2);
  Counts counts;
  for (int lane = 0; lane < kWarp; ++lane) {
    if (lane < 8)
      log.add(lane, 0, /*isShared=*/false, uint64_t(lane) * 4);
    // The second execution of half of them.
    for (int i = 0; i < 1 + lane % 2; ++i)
      log.add(lane, 1, /*isShared=*/false, uint64_t(lane) * 4 + 128 * i);
  }
  log.flush(sites, counts);
  EXPECT_EQ(counts.global[NM_SIM_STORE].requests, 3u);
  EXPECT_EQ(counts.global[NM_SIM_STORE].passes, 1u + 4u + 4u);
  EXPECT_EQ(counts.global[NM_SIM_STORE].bytes, 4u * (8 + 32 + 16));
}

TEST(WarpLogTest, CopiesOf16Bytes) {
  struct Case {
    int (*to)(int lane);
    int (*from)(int lane);
    uint32_t mask, passes, sectors;
  } cases[] = {
      {[](int i) { return i; }, [](int i) { return i; }, kAll, 4, 16},
      {[](int i) { return i; }, [](int i) { return 31 - i; }, kAll, 4, 16},
      {[](int i) { return i; }, [](int i) { return i % 16; }, kAll, 4, 16},
      {[](int i) { return i; }, [](int i) { return 2 * i; }, kAll, 32, 32},
      {[](int i) { return i; }, [](int) { return 0; }, kAll, 32, 32},
      {[](int i) { return 2 * i; }, [](int i) { return i; }, kAll, 32, 32},
      {[](int i) { return 2 * i; }, [](int i) { return 2 * i; }, kAll, 8, 32},
      {[](int i) { return 9 * i; }, [](int i) { return i; }, kAll, 32, 32},
      {[](int i) { return i; }, [](int i) { return i; }, 0b11, 1, 1},
      {[](int i) { return i; }, [](int i) { return i; }, 0xffff, 2, 8},
      {[](int i) { return i; }, [](int i) { return i; }, 0xaaaaaaaa, 4, 16},
  };
  for (const Case &test : cases) {
    CopyCost cost = countCopyCost(makeAddresses(test.to, 16),
                                  makeAddresses(test.from, 16), test.mask);
    EXPECT_EQ(cost.passes, test.passes) << &test - cases;
    EXPECT_EQ(cost.sectors, test.sectors) << &test - cases;
  }
}
