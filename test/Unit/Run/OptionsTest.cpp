//===- OptionsTest.cpp - The command line of nm-run -----------------------===//

#include "RunOptions.h"

#include <gtest/gtest.h>

using namespace nm;

static std::string optionError(const std::vector<std::string> &args) {
  Result<RunOptions> options = parseRunOptions(args);
  return options ? "" : options.error().message;
}

TEST(RunOptions, ReadsBothSpellings) {
  Result<RunOptions> options = parseRunOptions(
      {"--input", "a.npy", "m.so", "--input=b.npy", "-output", "c.npy",
       "--function", "@ffn", "--bench", "--threads=3", "--random-seed", "7",
       "--dynamic-size=5", "--tolerance=1e-3", "--target=cuda:sm_90a"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->model, "m.so");
  EXPECT_EQ(options->inputs, (std::vector<std::string>{"a.npy", "b.npy"}));
  EXPECT_EQ(options->outputs, std::vector<std::string>{"c.npy"});
  EXPECT_EQ(options->function, "ffn");
  EXPECT_EQ(options->bench, 1.0);
  EXPECT_EQ(options->threads, 3);
  EXPECT_EQ(options->randomSeed, 7);
  EXPECT_EQ(options->dynamicSize, 5);
  EXPECT_EQ(options->tolerance, 1e-3);
  ASSERT_TRUE(options->target);
  EXPECT_EQ(options->target->str(), "cuda:sm_90a");
}

TEST(RunOptions, SaysWhatIsWrong) {
  struct Case {
    std::vector<std::string> args;
    const char *message;
  } cases[] = {
      {{}, "expected a module (.so) or an MLIR file (.mlir)"},
      {{"a.so", "b.so"}, "expected one module, but got 'a.so' and 'b.so'"},
      {{"a.so", "--inputs=x"},
       "unknown option '--inputs=x'; expected one of "
       "--function, --input, --output"},
      {{"a.so", "--input"}, "expected --input=FILE"},
      {{"a.so", "--check=yes"}, "expected no value for --check, but got 'yes'"},
      {{"a.so", "--bench=-1"}, "--bench: expected a positive number"},
      {{"a.so", "--tolerance=nan"}, "--tolerance: expected a positive number"},
      {{"a.so", "--threads=0"},
       "--threads: expected a whole number from 1 to 4096, but got '0'"},
      {{"a.so", "--random-seed=1x"}, "--random-seed: expected a whole number"},
      {{"a.so", "--random-seed=99999999999999999999"}, "but got '99999"},
      {{"a.so", "--target=tpu"},
       "--target: unknown target 'tpu'; expected cpu[:ARCH], "
       "cuda[:sm_XX[,sm_YY...]] "
       "or "
       "sim[:sm_XX]"},
      {{"a.so", "--target=cuda:gfx90"},
       "target 'cuda:gfx90': expected a chip of sm_80, "},
      {{"a.so", "--target=cpu:sm_90"},
       "target 'cpu:sm_90': expected a processor of "},
      {{"a.so", "--list", "--random"}, "expected --list without"},
  };
  for (const Case &c : cases)
    EXPECT_NE(optionError(c.args).find(c.message), std::string::npos)
        << optionError(c.args) << "\nhas no: " << c.message;
}

TEST(RunOptions, HelpNeedsNothingElse) {
  for (const char *spelling : {"-h", "--help"}) {
    Result<RunOptions> options = parseRunOptions({spelling});
    ASSERT_TRUE(options);
    EXPECT_TRUE(options->help);
  }
  // Nothing in it is wider than a terminal.
  std::string help = runHelp();
  size_t start = 0;
  for (size_t end; (end = help.find('\n', start)) != std::string::npos;
       start = end + 1)
    EXPECT_LE(end - start, 100u) << help.substr(start, end - start);
}
