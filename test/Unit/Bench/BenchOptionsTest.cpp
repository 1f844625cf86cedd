//===- BenchOptionsTest.cpp - Tests of nm-bench's command line ------------===//

#include "BenchOptions.h"

#include "KernelFolder.h"
#include "Presets.h"

#include "../TemporaryFolder.h"

#include <gtest/gtest.h>

#include <set>

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
       "--tolerance=1e-3", "--seed=7"});
  ASSERT_TRUE(bool(options)) << options.error().message;
  ASSERT_EQ(options->cases.size(), 8u);
  EXPECT_EQ(options->cases[1].pattern, (Pattern{8, 32, 1, 32}));
  EXPECT_EQ(options->cases[7].type, ElementType::BF16);
  EXPECT_EQ(options->cases[7].shape.m, 256);
  EXPECT_EQ(options->seconds, 0.5);
  EXPECT_EQ(options->threads, 2);
  EXPECT_EQ(options->csv, "out.csv");
  EXPECT_EQ(options->blas, "none");
  EXPECT_FALSE(options->hasBlas());
  EXPECT_EQ(options->tolerance, 1e-3);
  EXPECT_EQ(options->seed, 7);
}

TEST(BenchOptions, AddsShapesToPresets) {
  Result<BenchOptions> options =
      parseBenchOptions({"--preset=cpu", "--shape=3x20x17"});
  ASSERT_TRUE(bool(options)) << options.error().message;
  EXPECT_EQ(options->cases.size(), (*findPreset("cpu"))->cases().size() + 1);
  EXPECT_EQ(options->cases.back().pattern, (Pattern{2, 4}));
  EXPECT_TRUE(options->hasBlas());
  EXPECT_EQ(options->seconds, 2);
}

static std::vector<std::string> casesOf(const std::vector<std::string> &args) {
  Result<BenchOptions> options = parseBenchOptions(args);
  EXPECT_TRUE(options) << options.error().message;
  std::vector<std::string> names;
  for (const BenchCase &bench : options->cases)
    names.push_back(bench.str());
  return names;
}

TEST(BenchOptions, PresetsTakeTypesPatternsAndSizes) {
  EXPECT_EQ(
      casesOf({"--preset=study", "--m=3", "--n=40", "--type=bf16"}).size(), 8u);
  // Equal cases are one.
  EXPECT_EQ(
      casesOf({"--preset=nm-spmm", "--m=3", "--n=64", "--k=32", "--pattern=1:4",
               "--pattern=8:32, block = 1x32", "--type=f16"}),
      (std::vector<std::string>{"3x64x32 1:4 f16",
                                "3x64x32 8:32, block = 1x32 f16"}));
  EXPECT_EQ(errorOf({"--preset=nmsparse", "--n=3"}),
            "expected blocks to fit in k x n, but got the pattern 16:32, block "
            "= 1x4 for the shape 256x3x1024");
  EXPECT_EQ(errorOf({"--shape=8x8x8", "--k=3"}),
            "expected --preset beside --m, --n and --k");
  EXPECT_EQ(errorOf({"--preset=study", "--k=0"}),
            "--k: expected a whole number from 1 to 1048576, but got '0'");
}

TEST(BenchOptions, AblatesWhatIsGiven) {
  std::vector<std::string> cases =
      casesOf({"--ablate", "--shape=64x96x128", "--pattern=2:4", "--type=f16",
               "--target=cuda:sm_90a"});
  ASSERT_EQ(cases.size(), 5u);
  EXPECT_EQ(cases.front(), "64x96x128 2:4 f16 (loops)");
  EXPECT_EQ(cases.back(), "64x96x128 2:4 f16");
  EXPECT_EQ(casesOf({"--ablate", "--pattern=8:32, block = 1x32"}).size(), 8u);
}

TEST(BenchOptions, HandsTheArithmeticToTheCompiler) {
  Result<BenchOptions> options =
      parseBenchOptions({"--shape=8x8x8", "--arithmetic=ieee",
                         "--compile-options=threads=2", "--cusparse=auto"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->compileOptions, "arithmetic=ieee threads=2");
  EXPECT_EQ(options->csrBlas, "auto");
}

TEST(BenchOptions, TakesTypesOfDenseProductsBesides) {
  using Types = std::vector<ReducedType>;
  auto typesOf = [](const std::vector<std::string> &args) {
    Result<BenchOptions> options = parseBenchOptions(args);
    return options ? options->reducedTypes : Types();
  };
  EXPECT_EQ(typesOf({"--shape=8x8x8"}), Types());
  EXPECT_EQ(typesOf({"--shape=8x8x8", "--dense-type=f16", "--dense-type=f16"}),
            Types({ReducedType::F16}));
  EXPECT_EQ(typesOf({"--preset=sparsert", "--dense-type=tf32"}),
            Types({ReducedType::TF32, ReducedType::F16}));
  EXPECT_EQ(errorOf({"--shape=8x8x8", "--dense-type=bf16"}),
            "--dense-type: expected tf32 or f16, but got 'bf16'");
}

TEST(BenchOptions, MakesWeightsConstant) {
  auto namesOf = [](std::vector<std::string> args) {
    std::vector<std::string> names;
    Result<BenchOptions> options = parseBenchOptions(args);
    if (options)
      for (const BenchCase &bench : options->cases)
        names.push_back(bench.str());
    return names;
  };
  EXPECT_EQ(namesOf({"--shape=4x8x8", "--constant"}),
            std::vector<std::string>{"4x8x8 2:4 f32 constant"});
  // The preset has both; of those that are then equal one is left.
  EXPECT_EQ(namesOf({"--preset=sparsert"}).size(), 80u);
  EXPECT_EQ(namesOf({"--preset=sparsert", "--constant"}).size(), 40u);
  EXPECT_EQ(errorOf({"--shape=4x8x8", "--constant", "--tune", "--table=t"}),
            "expected no --tune for constant weights, but got 4x8x8 2:4 f32 "
            "constant");
  EXPECT_EQ(errorOf({"--case=4x8x8 2:4 f16 x i4/4", "--constant",
                     "--target=cuda:sm_90a"}),
            "expected floats or integers as they are multiplied for constant "
            "weights, but got 4x8x8 2:4 f16 x i4/4 constant");
}

/// The numbers of problems that the papers state.
TEST(BenchOptions, HasTheProblemsOfThePapers) {
  auto shapes = [](const char *preset) {
    std::set<std::string> names;
    const std::vector<BenchCase> cases = (*findPreset(preset))->cases();
    for (const BenchCase &bench : cases)
      names.insert(bench.shape.str());
    return names;
  };
  EXPECT_EQ(shapes("nmsparse").size(), 32u);
  // Four of the sizes A to F are among the hundred of Llama.
  EXPECT_EQ(shapes("nm-spmm").size(), 102u);
  EXPECT_EQ(shapes("study").size(), 8u);
  EXPECT_EQ(shapes("sparsert").size(), 20u);
  EXPECT_TRUE(shapes("nm-spmm").count("2048x24576x8192"));
  EXPECT_TRUE(shapes("sparsert").count("784x128x512"));
  EXPECT_EQ(shapes("sparsert-batch").size(), 20u);
  EXPECT_TRUE(shapes("sparsert-batch").count("25088x128x512"));
}

TEST(BenchOptions, TakesADeviceForGpusOnly) {
  const std::string expected =
      "expected --device beside a target of cuda, but the target is cpu";
  EXPECT_EQ(errorOf({"--shape=4x8x8", "--device=0"}), expected);
  EXPECT_EQ(errorOf({"--device=1", "--target=cpu", "--shape=4x8x8"}), expected);
  // Whichever of the two comes first.
  EXPECT_EQ(errorOf({"--device=1", "--target=cuda", "--shape=4x8x8"}),
            "no error");
}

TEST(BenchOptions, CrossesSchedulesWithAllCases) {
  Result<BenchOptions> options = parseBenchOptions(
      {"--shape=4x8x8", "--shape=5x8x8", "--schedule=stages=2",
       "--schedule=", "--target=cuda:sm_90a", "--device=1"});
  ASSERT_TRUE(options) << options.error().message;
  ASSERT_EQ(options->cases.size(), 4u);
  EXPECT_EQ(options->cases[2].str(), "5x8x8 2:4 f32 (stages=2)");
  EXPECT_EQ(options->cases[3].schedule, "");
  EXPECT_EQ(options->target.str(), "cuda:sm_90a");
  EXPECT_EQ(options->device, 1);
  EXPECT_LT(options->seconds, 1);
}

TEST(BenchOptions, FiltersCases) {
  Result<BenchOptions> options =
      parseBenchOptions({"--preset=gpu", "--filter=^4096x4096x4096 8:32.*x32"});
  ASSERT_TRUE(options) << options.error().message;
  ASSERT_EQ(options->cases.size(), 1u);
  EXPECT_EQ(options->cases[0].pattern, (Pattern{8, 32, 1, 32}));
}

TEST(BenchOptions, TakesTheCasesAndTheTargetOfAFolder) {
  TemporaryFolder folder;
  Result<KernelFolder> kernels =
      KernelFolder::create(folder.path("k"), "cuda:sm_90a");
  kernels->add({{4, 8, 8}, {1, 4}}, 1);
  kernels->add({{5, 8, 8}, {1, 4}}, 1);
  ASSERT_TRUE(kernels->writeList());
  Result<BenchOptions> options =
      parseBenchOptions({"--kernels=" + folder.path("k")});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->cases.size(), 2u);
  EXPECT_EQ(options->target.str(), "cuda:sm_90a");
  options = parseBenchOptions(
      {"--kernels=" + folder.path("k"), "--shape=5x8x8", "--pattern=1:4"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->cases.size(), 1u);
}

TEST(BenchOptions, RefusesWhatIsWrong) {
  EXPECT_EQ(errorOf({}),
            "expected a --preset, a --shape, a --case or --ablate");
  EXPECT_EQ(errorOf({"--type=f16"}),
            "expected --preset, --shape or --ablate beside --pattern and "
            "--type");
  EXPECT_EQ(errorOf({"file"}), "expected options only, but got 'file'");
  EXPECT_EQ(errorOf({"--list=yes"}),
            "expected no value for --list, but got 'yes'");
  EXPECT_EQ(errorOf({"--csv"}), "expected --csv=FILE");
  EXPECT_EQ(errorOf({"--seconds=0"}),
            "--seconds: expected a positive number, but got '0'");
  EXPECT_EQ(errorOf({"--threads=none"}),
            "--threads: expected a whole number from 1 to 4096, but got "
            "'none'");
  EXPECT_EQ(
      errorOf({"--type=f64"}),
      "--type: expected f32, f16, bf16, f8E4M3FN, f8E5M2 or i8, but got 'f64'");
  EXPECT_EQ(errorOf({"--shape=8x8x8", "--pattern=1:2, block = 1x32"}),
            "expected blocks to fit in k x n, but got the pattern 1:2, block = "
            "1x32 for the shape 8x8x8");
  EXPECT_EQ(errorOf({"--shape=8x8x8", "--compile-only"}),
            "expected --kernels=DIR beside --compile-only");
  EXPECT_EQ(errorOf({"--shape=8x8x8", "--fast-accum", "--target=cuda"}),
            "expected products of f8E4M3FN or f8E5M2 for --fast-accum, but got "
            "8x8x8 2:4 f32");
  EXPECT_EQ(errorOf({"--shape=8x8x8", "--m-major"}),
            "expected --m-major beside a target of cuda, but the target is "
            "cpu");
  EXPECT_EQ(errorOf({"--shape=1x8x8", "--m-major", "--target=cuda"}),
            "expected more rows than one for --m-major, but got 1x8x8 2:4 f32");
  EXPECT_EQ(errorOf({"--shape=8x8x8", "--type=f16", "--result-type=i8"}),
            "expected --result-type f32, f16 or bf16 for products of f16, "
            "bf16, f8E4M3FN or f8E5M2, but got i8 for 8x8x8 2:4 f16");
  EXPECT_EQ(errorOf({"--shape=8x8x8", "--result-type=f16"}),
            "expected --result-type f32, f16 or bf16 for products of f16, "
            "bf16, f8E4M3FN or f8E5M2, but got f16 for 8x8x8 2:4 f32");
  EXPECT_EQ(errorOf({"--shape=8x8x8", "--filter=16"}),
            "--filter: no case matches '16'");
  EXPECT_NE(errorOf({"--shape=8x8x8", "--filter=("})
                .find("--filter: expected an extended regular expression"),
            std::string::npos);
  EXPECT_NE(errorOf({"--target=sim"}).find("expected cpu or cuda"),
            std::string::npos);
  EXPECT_NE(errorOf({"--kernels=/nonexistent"}).find("cannot be read"),
            std::string::npos);
  EXPECT_NE(errorOf({"--nonsense"}).find("unknown option '--nonsense'"),
            std::string::npos);
  EXPECT_NE(errorOf({"--pattern=5:4"}).find("--pattern: expected"),
            std::string::npos);
  EXPECT_NE(errorOf({"--preset=nonsense"}).find("--preset: unknown preset"),
            std::string::npos);
}

TEST(BenchOptions, VersionNeedsNothingElse) {
  Result<BenchOptions> options = parseBenchOptions({"--version"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_TRUE(options->version);
}

TEST(BenchOptions, HelpNamesEveryPreset) {
  std::string help = benchHelp();
  for (const Preset &preset : presets())
    EXPECT_NE(help.find("\n  " + std::string(preset.name)), std::string::npos);
  // Nothing in it is wider than a terminal.
  size_t start = 0;
  for (size_t end; (end = help.find('\n', start)) != std::string::npos;
       start = end + 1)
    EXPECT_LE(end - start, 100u) << help.substr(start, end - start);
}
