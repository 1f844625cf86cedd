//===- AblationTest.cpp - Tests of the steps of a schedule ----------------===//

#include "Ablation.h"

#include <gtest/gtest.h>

#include <set>

using namespace nm;

TEST(Ablation, StepsDifferInTheirSchedules) {
  std::vector<BenchCase> cases = ablationCases();
  std::set<std::string> products, all;
  for (const BenchCase &bench : cases) {
    EXPECT_FALSE(bench.step.empty());
    EXPECT_TRUE(all.insert(bench.str()).second) << bench.str();
    products.insert(bench.pattern.str());
  }
  EXPECT_EQ(products.size(), 5u);
  EXPECT_EQ(cases.size() % products.size(), 0u);
}

TEST(StepSchedules, FindsStepsOfOneScheduleAndProduct) {
  BenchCase blocking{
      {64, 64, 64}, {8, 32}, ElementType::F32, "a=1", "blocking"};
  BenchCase more = blocking;
  more.schedule = "";
  more.step = "+ more";
  std::string schedule = "#nm.simt<stages = 2>";
  StepSchedules measured;
  EXPECT_EQ(measured.find(blocking, schedule), "");
  measured.add(blocking, schedule);
  EXPECT_EQ(measured.find(more, schedule), "blocking");
  EXPECT_EQ(measured.find(more, "#nm.simt<stages = 3>"), "");
  BenchCase other = more;
  other.pattern.n = 4;
  EXPECT_EQ(measured.find(other, schedule), "");
  // Neither what is no step, nor what has no schedule.
  other = blocking;
  other.step = "";
  EXPECT_EQ(measured.find(other, schedule), "");
  measured.add(blocking, "");
  EXPECT_EQ(measured.find(more, ""), "");
}
