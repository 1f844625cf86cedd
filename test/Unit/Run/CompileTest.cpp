//===- CompileTest.cpp - nm-run on an .mlir file --------------------------===//

#include "../TemporaryFolder.h"
#include "RunProcess.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

namespace {
class RunCompileTest : public ::testing::Test {
protected:
  void SetUp() override {
    setenv("LD_LIBRARY_PATH", NM_FAKE_TOOLCHAIN, 1);
    setenv("TMPDIR", folder.path("").c_str(), 1);
  }
  void TearDown() override {
    unsetenv("LD_LIBRARY_PATH");
    unsetenv("TMPDIR");
  }

  TemporaryFolder folder;
};
} // namespace

TEST_F(RunCompileTest, CompilesAndRuns) {
  std::string input = folder.write("m.mlir", "ok");
  Finished run = runProcess({input, "--function=ffn", "--random"});
  EXPECT_EQ(run.code, 0) << run.text;
  EXPECT_TRUE(run.says(input + ":1:1: warning: target 'cpu', options ''\n"))
      << run.text;
  EXPECT_TRUE(run.says("result 0 of @ffn: 128x3 f32")) << run.text;
  // The compiled module is gone.
  EXPECT_EQ(folder.entries(), 1);
}

TEST_F(RunCompileTest, ChecksWithAReference) {
  std::string input = folder.write("m.mlir", "ok");
  Finished run = runProcess({input, "--function=ffn", "--random", "--check",
                             "--compile-options=opt-level=3", "--target=cpu"});
  EXPECT_EQ(run.code, 0) << run.text;
  EXPECT_TRUE(run.says("options 'opt-level=3 with-reference'")) << run.text;
  EXPECT_TRUE(run.says("passed")) << run.text;
}

TEST_F(RunCompileTest, CompilesForTheDeviceThatIsThere) {
  std::string input = folder.write("m.mlir", "ok");
  setenv("NM_CUDA_LIBRARY", NM_FAKE_CUDA, 1);
  Finished run = runProcess({input, "--random", "--target=cuda"});
  EXPECT_TRUE(run.says("target 'cuda:sm_90a'")) << run.text;
  run = runProcess({input, "--random", "--target=cuda:sm_80"});
  EXPECT_TRUE(run.says("target 'cuda:sm_80'")) << run.text;
  setenv("NM_CUDA_LIBRARY", "/nowhere/libcuda.so", 1);
  run = runProcess({input, "--random", "--target=cuda"});
  unsetenv("NM_CUDA_LIBRARY");
  EXPECT_EQ(run.code, 1);
  EXPECT_TRUE(run.says("--target=cuda compiles for the device that is there: "
                       "no CUDA driver"))
      << run.text;
}

TEST_F(RunCompileTest, GivesTheCompilersErrors) {
  std::string input = folder.write("m.mlir", "not MLIR");
  Finished run = runProcess({input, "--random"});
  EXPECT_EQ(run.code, 1);
  EXPECT_TRUE(run.says("nm-run: error: cannot compile " + input + ":\n" +
                       input + ":1:1: error: target 'cpu'"))
      << run.text;
}

TEST_F(RunCompileTest, SurvivesACompilerThatCrashes) {
  std::string input = folder.write("m.mlir", "crash");
  Finished run = runProcess({input, "--random"});
  EXPECT_EQ(run.code, 1);
  EXPECT_TRUE(run.says("cannot compile " + input +
                       ": the process was ended by signal 6"))
      << run.text;
}

TEST_F(RunCompileTest, WaitsWhereItsParentIgnoresChildren) {
  std::string input = folder.write("m.mlir", "ok");
  std::signal(SIGCHLD, SIG_IGN);
  Finished run = runProcess({input, "--function=ffn", "--random"});
  std::signal(SIGCHLD, SIG_DFL);
  EXPECT_TRUE(run.says("result 0 of @ffn: 128x3 f32")) << run.text;
}

TEST_F(RunCompileTest, NeedsATemporaryFolder) {
  std::string input = folder.write("m.mlir", "ok");
  setenv("TMPDIR", "/nowhere", 1);
  Finished run = runProcess({input, "--random"});
  EXPECT_EQ(run.code, 1);
  EXPECT_TRUE(run.says("set TMPDIR to a folder that can be written"))
      << run.text;
}
