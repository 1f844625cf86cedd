//===- AblationTest.cpp - Tests of the steps of a schedule ----------------===//

#include "Ablation.h"

#include <gtest/gtest.h>

#include <set>

using namespace nm;

TEST(Ablation, StepsDifferInTheirSchedules) {
  std::vector<BenchCase> cases = ablate(ablationProducts());
  std::set<std::string> products, all;
  for (const BenchCase &bench : cases) {
    EXPECT_FALSE(bench.step.empty());
    EXPECT_TRUE(all.insert(bench.str()).second) << bench.str();
    products.insert(bench.pattern.str());
  }
  EXPECT_EQ(products.size(), 6u);
  // From all weights kept on.
  EXPECT_EQ(cases.front().pattern.sparsity(), 0);
  EXPECT_EQ(cases.size() % products.size(), 0u);
}

/// The names of a product's steps, each with a comma behind it.
static std::string stepsOf(const BenchCase &product) {
  std::string names;
  for (const BenchCase &bench : ablate({product})) {
    EXPECT_EQ(bench.shape.str(), product.shape.str());
    EXPECT_EQ(bench.type, product.type);
    names += bench.step + ", ";
  }
  return names;
}

TEST(Ablation, FollowsThePapersOfAPattern) {
  const ProductShape shape{64, 96, 128};
  EXPECT_EQ(stepsOf({shape, {8, 32, 1, 4}}),
            "naive, + blocking, + packing, + double buffering, + index "
            "prefetch, + as many buffers as fit, + split-k, chosen, ");
  // Single weights have no rows in common to pack.
  EXPECT_EQ(stepsOf({shape, {2, 4}}),
            "naive, + blocking, + double buffering, + index prefetch, + as "
            "many buffers as fit, + split-k, chosen, ");
  EXPECT_NE(
      ablate({{shape, {2, 4}, ElementType::F16}})[1].schedule.find("wgmma_sp"),
      std::string::npos);
  EXPECT_EQ(ablate({{shape, {8, 32, 1, 64}, ElementType::F16}})[1].schedule,
            "wgmma<stages = 3, split_k = 1>");
}

TEST(Ablation, SaysWhyAStepIsRefused) {
  EXPECT_EQ(whyRefused("cannot compile x: x:1:2: remark: a\nx:1:2: error: "
                       "'nm.spmm' op expected f32 operands\nerror: pass b"),
            "expected f32 operands");
  EXPECT_EQ(whyRefused("no module for it"), "no module for it");
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
