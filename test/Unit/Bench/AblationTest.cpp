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
  std::string remark = "taken: #nm.simt<stages = 2>";
  StepSchedules measured;
  EXPECT_EQ(measured.find(blocking, remark), "");
  measured.add(blocking, remark);
  EXPECT_EQ(measured.find(more, "for a reason: #nm.simt<stages = 2>"),
            "blocking");
  EXPECT_EQ(measured.find(more, "taken: #nm.simt<stages = 3>"), "");
  BenchCase other = more;
  other.pattern.n = 4;
  EXPECT_EQ(measured.find(other, remark), "");
  // Neither what is no step, nor what the remark does not say.
  other = blocking;
  other.step = "";
  EXPECT_EQ(measured.find(other, remark), "");
  measured.add(blocking, "no schedule");
  EXPECT_EQ(measured.find(more, "no schedule"), "");
}
