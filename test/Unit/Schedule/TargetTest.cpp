//===- TargetTest.cpp - Names of targets ----------------------------------===//

#include "nm/Schedule/Target.h"

#include "gtest/gtest.h"

using namespace nm;

TEST(Target, NamesAreReadAndWritten) {
  for (const char *text :
       {"cpu", "cpu:aarch64", "cpu:riscv64", "cuda", "cuda:sm_80",
        "cuda:sm_80,sm_90a", "cuda:sm_100f,sm_120a", "sim", "sim:sm_90"}) {
    Result<Target> target = Target::parse(text);
    ASSERT_TRUE(target) << target.error().message;
    EXPECT_EQ(target->str(), text);
  }
  Result<Target> target = Target::parse("cuda:sm_80,sm_90a");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->kind, Target::Kind::Cuda);
  EXPECT_EQ(target->kindName(), "cuda");
  EXPECT_EQ(target->chips, (std::vector<std::string>{"sm_80", "sm_90a"}));
}

TEST(Target, OthersAreRefused) {
  const std::string known =
      "; expected cpu[:ARCH], cuda[:sm_XX[,sm_YY...]] or sim[:sm_XX]";
  const std::string chips =
      "expected a chip of sm_80, sm_86, sm_89, sm_90, sm_90a, sm_100, sm_100a, "
      "sm_100f, sm_120, sm_120a, sm_120f, but got ";
  const std::pair<std::string, std::string> cases[] = {
      {"", "unknown target ''" + known},
      {"tpu", "unknown target 'tpu'" + known},
      {"CUDA", "unknown target 'CUDA'" + known},
      {"cpu:sm_80", "target 'cpu:sm_80': expected a processor of x86_64, "
                    "aarch64, riscv64, but got 'sm_80'"},
      {"cpu:", "target 'cpu:': expected a processor of x86_64, aarch64, "
               "riscv64, but got ''"},
      {"cuda:", "target 'cuda:': " + chips + "''"},
      {"cuda:gfx90", "target 'cuda:gfx90': " + chips + "'gfx90'"},
      {"cuda:sm_90,", "target 'cuda:sm_90,': " + chips + "''"},
      {"cuda:sm_80a", "target 'cuda:sm_80a': " + chips + "'sm_80a'"},
      {"cuda:sm_90f", "target 'cuda:sm_90f': " + chips + "'sm_90f'"},
      {"cuda:sm_90af", "target 'cuda:sm_90af': " + chips + "'sm_90af'"},
      {"cuda:sm_80,sm_80", "target 'cuda:sm_80,sm_80': expected each chip "
                           "once, but got 'sm_80' again"},
      {"sim:sm_80,sm_90", "target 'sim:sm_80,sm_90': expected at most 1 chip, "
                          "but got 2"},
  };
  for (const auto &[text, message] : cases) {
    Result<Target> target = Target::parse(text);
    ASSERT_FALSE(target) << text;
    EXPECT_EQ(target.error().message, message);
  }
}
