//===- CandidatesTest.cpp - Schedules to be measured ----------------------===//

#include "Candidates.h"

#include <gtest/gtest.h>

#include <set>

using namespace nm;

TEST(Candidates, TextsComeBack) {
  std::string text = "#nm.simt<block = [64, 64, 128], stages = 2, packing = "
                     "<panel = 32, index_bits = 8>>";
  ScheduleText parsed = ScheduleText::parse(text);
  EXPECT_EQ(parsed.strategy, "simt");
  ASSERT_EQ(parsed.fields.size(), 3u);
  EXPECT_EQ(parsed.fields[2].second, "<panel = 32, index_bits = 8>");
  EXPECT_EQ("#nm." + parsed.str(), text);
  EXPECT_EQ(ScheduleText::parse("gemv").str(), "gemv");
}

static std::set<std::string> schedulesOf(const std::vector<BenchCase> &cases) {
  std::set<std::string> schedules;
  for (const BenchCase &bench : cases)
    schedules.insert(bench.schedule);
  return schedules;
}

TEST(Candidates, NeighboursChangeOneField) {
  BenchCase product{{64, 4096, 4096}, {2, 4}, ElementType::F16};
  std::set<std::string> found = schedulesOf(neighbours(
      product, "#nm.mma_sp<block = [64, 64, 128], warp = [32, 64], stages = 3>",
      /*onCpu=*/false));
  EXPECT_TRUE(
      found.count("mma_sp<block = [64, 128, 128]> propagate-layouts=false"));
  EXPECT_TRUE(found.count("mma_sp<stages = 4> propagate-layouts=false"));
  EXPECT_TRUE(found.count("mma_sp<stages = 2> propagate-layouts=false"));
  EXPECT_TRUE(found.count("mma_sp<warp = [32, 32]> propagate-layouts=false"));
  // No part is smaller than one.
  EXPECT_TRUE(schedulesOf(neighbours(product, "#nm.gemv<stages = 1>", false))
                  .count("gemv<stages = 2> propagate-layouts=false"));
  EXPECT_EQ(neighbours(product, "#nm.gemv<stages = 1>", false).size(), 1u);
  EXPECT_TRUE(neighbours(product, "#nm.loops", false).empty());
}

TEST(Candidates, OfACpuHaveAllTheirTiles) {
  BenchCase product{{64, 4096, 4096}, {2, 4}};
  std::set<std::string> found = schedulesOf(
      neighbours(product,
                 "#nm.vector<block = [64, 64, 512], thread = [32, 4], "
                 "packing = <panel = 4, index_bits = 8>>",
                 /*onCpu=*/true));
  EXPECT_TRUE(found.count("vector<block = [64, 128, 512], thread = [32, 4]> "
                          "dense-fallback=false"));
}

TEST(Candidates, AreDrawnFarAway) {
  std::mt19937_64 random(1);
  std::set<std::string> drawn;
  for (int i = 0; i < 100; ++i)
    drawn.insert(drawSchedule("#nm.mma_sp<block = [64, 64, 128], stages = 3>",
                              /*onCpu=*/false, random));
  EXPECT_GT(drawn.size(), 20u);
  size_t twoFields = 0;
  for (const std::string &schedule : drawn)
    twoFields += schedule.find("stages") != std::string::npos &&
                 schedule.find("block") != std::string::npos;
  EXPECT_GT(twoFields, 0u);
  EXPECT_EQ(drawSchedule("#nm.loops", false, random), "");
}

TEST(Candidates, CombinesTwoChanges) {
  std::string base = "#nm.mma_sp<block = [64, 64, 128], stages = 3>";
  EXPECT_EQ(combine(base, "#nm.mma_sp<block = [64, 128, 128], stages = 3>",
                    "#nm.mma_sp<block = [64, 64, 128], stages = 4>"),
            "mma_sp<block = [64, 128, 128], stages = 4>");
  EXPECT_EQ(combine(base, "#nm.mma_sp<block = [64, 128, 128], stages = 3>",
                    "#nm.mma_sp<block = [32, 64, 128], stages = 3>"),
            "");
  EXPECT_EQ(combine(base, "#nm.gemv", base), "");
}

TEST(Candidates, ModelsChoicesAreKnown) {
  BenchCase product{{64, 4096, 4096}, {2, 4}};
  std::vector<BenchCase> first = firstCandidates(product, /*onCpu=*/false);
  EXPECT_TRUE(isModelsChoice(first[0].schedule));
  EXPECT_FALSE(isAsItComes(first[0], /*onCpu=*/false));
  EXPECT_TRUE(isModelsChoice(first[1].schedule));
  EXPECT_TRUE(isAsItComes(first[1], /*onCpu=*/false));
  // Without dense weights, but maybe another layout of A.
  EXPECT_TRUE(isModelsChoice(first[2].schedule));
  EXPECT_FALSE(isAsItComes(first[2], /*onCpu=*/false));
  EXPECT_FALSE(isModelsChoice(first[3].schedule));
}

TEST(Candidates, CasesAreReadAsTheyArePrinted) {
  for (const char *text :
       {"256x4096x4096 8:32, block = 1x32 f32", "1x64x96 2:4 i8",
        "16x64x96 2:4 f16 to f16", "16x64x96 2:4 f16 m-major to f16",
        "16x64x96 2:4 f8E4M3FN fast accumulation"}) {
    Result<BenchCase> parsed = BenchCase::parse(text);
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(parsed->str(), text);
  }
  for (const char *text :
       {"", "256x4096x4096", "256x4096x4096 2:4", "1x64x96 2:4 f16 m-major",
        "16x64x96 2:4 f32 to f16", "16x64x96 2:4 f16 fast accumulation"})
    EXPECT_FALSE(BenchCase::parse(text)) << text;
}
