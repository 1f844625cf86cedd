//===- InterleaveTest.cpp - Tests of timing in turns ----------------------===//

#include "Interleave.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

using namespace nm;

TEST(Timings, TakesPercentiles) {
  std::vector<double> seconds;
  for (int i = 100; i >= 0; --i)
    seconds.push_back(i);
  Timings timings = Timings::of(seconds);
  EXPECT_EQ(timings.median, 50);
  EXPECT_EQ(timings.p10, 10);
  EXPECT_EQ(timings.p90, 90);
  EXPECT_EQ(timings.runs, 101u);
}

TEST(Timings, TakesOneTime) {
  Timings timings = Timings::of({3});
  EXPECT_EQ(timings.median, 3);
  EXPECT_EQ(timings.p10, 3);
  EXPECT_EQ(timings.p90, 3);
}

TEST(TimeInTurns, AlternatesAndWarmsUp) {
  std::string order;
  auto call = [&order](char name) {
    return [&order, name] {
      if (order.empty() || order.back() != name)
        order += name;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    };
  };
  std::vector<Timings> timings = timeInTurns({call('a'), call('b')}, 0.01);
  EXPECT_EQ(order, "ababababab");
  ASSERT_EQ(timings.size(), 2u);
  // A call that outlasts its turn is counted once, after the one that is not.
  EXPECT_EQ(timings[0].runs, 5u);
  EXPECT_EQ(timings[1].runs, 5u);
  EXPECT_GE(timings[0].median, 0.05);
}
