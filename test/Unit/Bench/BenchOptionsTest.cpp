//===- BenchOptionsTest.cpp - Tests of nm-bench's command line ------------===//

#include "BenchOptions.h"

#include <gtest/gtest.h>

using namespace nm;

static std::string errorOf(const std::vector<std::string> &args) {
  Result<BenchOptions> options = parseBenchOptions(args);
  return options ? "no error" : options.error().message;
}

TEST(BenchOptions, CrossesShapesPatternsAndTypes) {
  Result<BenchOptions> options = parseBenchOptions(
      {"--shape=1x64x64", "--shape", "256x64x64", "--pattern=2:4",
       "--pattern=8:32, block = 1x32", "--type=f32", "--type=bf16",
       "--seconds=0.5", "--threads=2", "--csv=out.csv", "--blas=none",
       "--tolerance=1e-3"});
  ASSERT_TRUE(bool(options)) << options.error().message;
  ASSERT_EQ(options->cases.size(), 8u);
  EXPECT_EQ(options->cases[1].pattern, (Pattern{8, 32, 1, 32}));
  EXPECT_EQ(options->cases[7].type, ElementType::BF16);
  EXPECT_EQ(options->cases[7].shape.m, 256);
  EXPECT_EQ(options->seconds, 0.5);
  EXPECT_EQ(options->threads, 2);
  EXPECT_EQ(options->csv, "out.csv");
  EXPECT_EQ(options->blas, "");
  EXPECT_EQ(options->tolerance, 1e-3);
}

TEST(BenchOptions, AddsShapesToPresets) {
  Result<BenchOptions> options =
      parseBenchOptions({"--preset=cpu", "--shape=3x20x17"});
  ASSERT_TRUE(bool(options)) << options.error().message;
  EXPECT_EQ(options->cases.size(), presetCases("cpu")->size() + 1);
  EXPECT_EQ(options->cases.back().pattern, (Pattern{2, 4}));
  EXPECT_EQ(options->blas, "libopenblas.so.0");
}

TEST(BenchOptions, RefusesWhatIsWrong) {
  EXPECT_EQ(errorOf({}), "expected a --preset or a --shape");
  EXPECT_EQ(errorOf({"--type=f16"}),
            "expected --shape beside --pattern and --type");
  EXPECT_EQ(errorOf({"file"}), "expected options only, but got 'file'");
  EXPECT_EQ(errorOf({"--list=yes"}),
            "expected no value for --list, but got 'yes'");
  EXPECT_EQ(errorOf({"--csv"}), "expected --csv=FILE");
  EXPECT_EQ(errorOf({"--seconds=0"}),
            "--seconds: expected a positive number, but got '0'");
  EXPECT_EQ(errorOf({"--threads=none"}),
            "--threads: expected a whole number from 1 to 4096, but got "
            "'none'");
  EXPECT_EQ(errorOf({"--type=f64"}),
            "--type: expected f32, f16, bf16 or i8, but got 'f64'");
  EXPECT_EQ(errorOf({"--shape=8x8x8", "--pattern=1:2, block = 1x32"}),
            "expected blocks to fit in k x n, but got the pattern 1:2, block = "
            "1x32 for the shape 8x8x8");
  EXPECT_NE(errorOf({"--nonsense"}).find("unknown option '--nonsense'"),
            std::string::npos);
  EXPECT_NE(errorOf({"--pattern=5:4"}).find("--pattern: expected"),
            std::string::npos);
  EXPECT_NE(errorOf({"--preset=nonsense"}).find("--preset: unknown preset"),
            std::string::npos);
}

TEST(BenchOptions, HelpNamesEveryPreset) {
  std::string help = benchHelp();
  for (const Preset &preset : presets())
    EXPECT_NE(help.find("\n  " + std::string(preset.name)), std::string::npos);
}
