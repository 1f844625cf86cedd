//===- SharedShadowTest.cpp - Races in shared memory ----------------------===//

#include "SharedShadow.h"

#include <gtest/gtest.h>

using namespace nm::sim;

namespace {
class SharedShadowTest : public testing::Test {
protected:
  SharedShadowTest() {
    order.reset(4);
    shadow.reset(256);
  }
  Conflict read(uint32_t thread, size_t offset, size_t bytes) {
    return shadow.read(order, thread, /*site=*/1, offset, bytes).kind;
  }
  Conflict write(uint32_t thread, size_t offset, size_t bytes,
                 bool atomic = false) {
    return shadow.write(order, thread, /*site=*/2, offset, bytes, atomic).kind;
  }
  Conflict copy(uint32_t thread, size_t offset, size_t bytes) {
    return shadow.startCopy(order, thread, /*site=*/3, offset, bytes).kind;
  }
  void land(uint32_t thread, size_t offset, size_t bytes) {
    shadow.landCopy(order.now(thread), /*site=*/3, offset, bytes);
  }
  void barrier() { order.join(0xf); }

  Order order;
  SharedShadow shadow{256, 128};
};
} // namespace

TEST_F(SharedShadowTest, ReadsNeedAWriter) {
  EXPECT_EQ(read(0, 0, 4), Conflict::Uninitialized);
  EXPECT_EQ(write(0, 0, 4), Conflict::None);
  EXPECT_EQ(read(0, 0, 4), Conflict::None);
  // The next word has none.
  EXPECT_EQ(read(0, 0, 8), Conflict::Uninitialized);
  shadow.reset(256);
  EXPECT_EQ(read(0, 0, 4), Conflict::Uninitialized);
}

TEST_F(SharedShadowTest, BarriersOrderThreads) {
  EXPECT_EQ(write(5, 0, 16), Conflict::None);
  EXPECT_EQ(read(6, 12, 4), Conflict::ReadAfterWrite);
  EXPECT_EQ(write(6, 8, 4), Conflict::WriteAfterWrite);
  barrier();
  EXPECT_EQ(read(6, 0, 16), Conflict::None);
  EXPECT_EQ(read(70, 0, 16), Conflict::None);
  EXPECT_EQ(write(6, 0, 4), Conflict::WriteAfterRead);
  barrier();
  EXPECT_EQ(write(6, 4, 4), Conflict::None);
}

TEST_F(SharedShadowTest, OneOtherReaderIsEnough) {
  write(1, 0, 4);
  barrier();
  EXPECT_EQ(read(1, 0, 4), Conflict::None);
  EXPECT_EQ(read(2, 0, 4), Conflict::None);
  EXPECT_EQ(read(1, 0, 4), Conflict::None);
  EXPECT_EQ(write(1, 0, 4), Conflict::WriteAfterRead);
}

TEST_F(SharedShadowTest, BytesOfAWordAreApart) {
  EXPECT_EQ(write(0, 0, 1), Conflict::None);
  EXPECT_EQ(write(1, 1, 1), Conflict::None);
  EXPECT_EQ(write(2, 2, 2), Conflict::None);
  EXPECT_EQ(read(0, 0, 1), Conflict::None);
  EXPECT_EQ(read(0, 1, 1), Conflict::ReadAfterWrite);
  barrier();
  EXPECT_EQ(read(3, 0, 4), Conflict::None);
  EXPECT_EQ(write(4, 3, 1), Conflict::WriteAfterRead);
}

TEST_F(SharedShadowTest, SomeWarpsMayMeetAlone) {
  write(0, 0, 4);
  write(64, 4, 4);
  order.join(0b0011);
  EXPECT_EQ(read(32, 0, 4), Conflict::None);
  EXPECT_EQ(read(32, 4, 4), Conflict::ReadAfterWrite);
  EXPECT_EQ(read(64, 0, 4), Conflict::ReadAfterWrite);
  // Through another warp that met both.
  order.join(0b0110);
  EXPECT_EQ(read(64, 0, 4), Conflict::None);
  EXPECT_EQ(read(96, 0, 4), Conflict::ReadAfterWrite);
}

TEST_F(SharedShadowTest, CopiesCountFromWhenTheyLand) {
  EXPECT_EQ(copy(0, 0, 16), Conflict::None);
  EXPECT_EQ(read(0, 0, 4), Conflict::Pending);
  EXPECT_EQ(write(1, 12, 4), Conflict::PendingOverwritten);
  barrier();
  EXPECT_EQ(read(0, 4, 4), Conflict::Pending);
  land(0, 0, 16);
  EXPECT_EQ(read(0, 4, 4), Conflict::None);
  // It landed after the last barrier.
  EXPECT_EQ(read(1, 4, 4), Conflict::ReadAfterWrite);
  barrier();
  EXPECT_EQ(read(1, 4, 4), Conflict::None);
  // The buffer is filled again while somebody may still read it.
  EXPECT_EQ(copy(0, 0, 16), Conflict::WriteAfterRead);
}

TEST_F(SharedShadowTest, FencesBetweenProxies) {
  auto readAsync = [&](uint32_t thread) {
    return shadow.readAsync(order, thread, /*site=*/4, 0, 16).kind;
  };
  EXPECT_EQ(write(0, 0, 16), Conflict::None);
  barrier();
  EXPECT_EQ(readAsync(1), Conflict::Unfenced);
  // Too late: the reader may come before.
  shadow.fenceProxies(order, 0);
  EXPECT_EQ(readAsync(40), Conflict::Unfenced);
  barrier();
  EXPECT_EQ(readAsync(40), Conflict::None);
  barrier();
  // That of another thread does not count, until it comes after a barrier.
  EXPECT_EQ(write(0, 0, 16), Conflict::None);
  shadow.fenceProxies(order, 5);
  barrier();
  EXPECT_EQ(readAsync(40), Conflict::Unfenced);
  shadow.fenceProxies(order, 40);
  EXPECT_EQ(readAsync(41), Conflict::None);
  EXPECT_EQ(readAsync(0), Conflict::Unfenced);
}

/// Nobody knows how far a copy is that only an mbarrier waits for; what a bulk
/// copy writes needs no fence.
TEST_F(SharedShadowTest, FencesOfCopies) {
  auto copyAndRead = [&](SharedShadow::Write write) {
    EXPECT_EQ(copy(0, 0, 16), Conflict::None);
    shadow.landCopy(order.now(0), /*site=*/3, 0, 16, write);
    shadow.fenceProxies(order, 0);
    barrier();
    auto kind = shadow.readAsync(order, 40, /*site=*/4, 0, 16).kind;
    barrier();
    return kind;
  };
  EXPECT_EQ(copyAndRead(SharedShadow::Write::Generic), Conflict::None);
  EXPECT_EQ(copyAndRead(SharedShadow::Write::Tracked), Conflict::Unfenced);
  EXPECT_EQ(copyAndRead(SharedShadow::Write::Asynchronous), Conflict::None);
}

TEST_F(SharedShadowTest, AtomicsAreInSomeOrder) {
  EXPECT_EQ(write(0, 0, 4, /*atomic=*/true), Conflict::Uninitialized);
  EXPECT_EQ(write(1, 0, 4, /*atomic=*/true), Conflict::None);
  EXPECT_EQ(write(2, 0, 4), Conflict::WriteAfterWrite);
  EXPECT_EQ(write(3, 0, 4, /*atomic=*/true), Conflict::WriteAfterWrite);
}

namespace {
/// Block 0 of a cluster of two, of four warps.
class ClusterOrderTest : public SharedShadowTest {
protected:
  ClusterOrderTest() {
    order.reset(4, 2);
    other = order.getRemoteThread(1);
  }
  void meet() {
    for (uint32_t warp = 0; warp < 4; ++warp)
      order.arrive(warp);
    order.meet();
    for (uint32_t warp = 0; warp < 4; ++warp)
      order.wait(warp);
  }

  /// All threads of block 1.
  uint32_t other = 0;
};
} // namespace

TEST_F(ClusterOrderTest, OnlyItsBarrierOrdersOtherBlocks) {
  EXPECT_LT(order.getRank(127), 0);
  EXPECT_EQ(order.getRank(other), 1);
  EXPECT_EQ(write(5, 0, 4), Conflict::None);
  barrier();
  EXPECT_EQ(read(other, 0, 4), Conflict::ReadAfterWrite);
  meet();
  EXPECT_EQ(read(other, 0, 4), Conflict::None);
  barrier();
  EXPECT_EQ(write(5, 0, 4), Conflict::WriteAfterRead);
  EXPECT_EQ(write(other, 4, 4), Conflict::None);
  EXPECT_EQ(read(6, 4, 4), Conflict::ReadAfterWrite);
  meet();
  EXPECT_EQ(write(5, 0, 4), Conflict::None);
  EXPECT_EQ(read(6, 4, 4), Conflict::None);
}

/// What comes between arriving and waiting is in no order with other blocks.
TEST_F(ClusterOrderTest, ArrivingAndWaitingAreApart) {
  write(5, 0, 4);
  for (uint32_t warp = 0; warp < 4; ++warp)
    order.arrive(warp);
  write(5, 4, 4);
  EXPECT_EQ(write(other, 8, 4), Conflict::None);
  order.meet();
  EXPECT_EQ(read(other, 0, 4), Conflict::None);
  EXPECT_EQ(read(other, 4, 4), Conflict::ReadAfterWrite);
  EXPECT_EQ(read(5, 8, 4), Conflict::ReadAfterWrite);
  order.wait(0);
  EXPECT_EQ(read(5, 8, 4), Conflict::None);
  // Warp 1 has not waited, and learns of it from warp 0.
  EXPECT_EQ(read(40, 8, 4), Conflict::ReadAfterWrite);
  order.join(0b0011);
  EXPECT_EQ(read(40, 8, 4), Conflict::None);
}

TEST_F(ClusterOrderTest, ABlockEndsAfterWhatItWaitedFor) {
  Stamp access = order.now(other);
  EXPECT_FALSE(order.isBeforeAny(access));
  meet();
  EXPECT_TRUE(order.isBeforeAny(access));
  EXPECT_FALSE(order.isBeforeAny(order.now(other)));
}
