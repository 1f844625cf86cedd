//===- RunCudaTest.cpp - nm-run on modules for CUDA -----------------------===//
//
// With the driver of test/Unit/Runtime/FakeCuda.h, whose device memory the host
// cannot touch.
//
//===----------------------------------------------------------------------===//

#include "../TemporaryFolder.h"
#include "RunProcess.h"
#include "nm/Runtime/Npy.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

using namespace nm;

namespace {
class RunCudaTest : public ::testing::Test {
protected:
  void SetUp() override { setenv("NM_CUDA_LIBRARY", NM_FAKE_CUDA, 1); }
  void TearDown() override {
    unsetenv("NM_CUDA_LIBRARY");
    unsetenv("FAKE_CUDA");
  }
  std::string save(const std::string &name, const Shape &shape,
                   std::vector<float> data) {
    std::string path = folder.path(name);
    EXPECT_TRUE(writeNpy(path, Tensor(data.data(), ElementType::F32, shape)));
    return path;
  }
  /// Runs `function` of the fake module on a driver that is set up so.
  Finished run(const std::string &function, std::vector<std::string> args,
               const char *setup = "") {
    setenv("FAKE_CUDA", setup, 1);
    args.insert(args.begin(), {NM_FAKE_CUDA_MODEL, "--function=" + function});
    return runProcess(args);
  }

  TemporaryFolder folder;
};
} // namespace

TEST_F(RunCudaTest, UploadsRunsAndChecks) {
  std::string a = save("a.npy", {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  std::string w =
      save("w.npy", {4, 3}, {1, 0, 0, 0, 5, 0, 3, -0.0f, 0, 0, 6, 7});
  std::string c = folder.path("c.npy");
  Finished finished =
      run("ffn", {"--input", a, "--input", w, "--output", c, "--check"});
  EXPECT_EQ(finished.code, 0) << finished.text;
  EXPECT_TRUE(finished.says("result 0 of @ffn: passed")) << finished.text;
  const float expected[6] = {10, 34, 28, 26, 78, 56};
  auto file = NpyFile::open(c);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(std::memcmp(file->tensor().data, expected, sizeof expected), 0);
}

TEST_F(RunCudaTest, TakesFortranOrder) {
  // Two columns of four, as NumPy writes them with order="F".
  NpyHeader header;
  header.fortranOrder = true;
  header.shape = {2, 4};
  float data[8] = {1, 5, 2, 6, 3, 7, 4, 8};
  std::string a = folder.write(
      "a.npy",
      header.str() + std::string(reinterpret_cast<char *>(data), sizeof data));
  Finished finished = run("ffn", {"--input", a, "--random", "--check"});
  EXPECT_EQ(finished.code, 0) << finished.text;
}

TEST_F(RunCudaTest, AResultThatIsNotWrittenFailsTheCheck) {
  // The driver runs no kernel of PTX.
  Finished finished = run("twice", {"--random", "--check"}, "major=10,minor=0");
  EXPECT_EQ(finished.code, 1);
  EXPECT_TRUE(finished.says("result 0 of @twice: FAILED, relative error inf"))
      << finished.text;
}

TEST_F(RunCudaTest, TimesWithAGraph) {
  Finished finished = run("twice", {"--random", "--bench=0.01"});
  EXPECT_EQ(finished.code, 0) << finished.text;
  for (const char *part : {"bench: @twice, ", " as a graph on cuda:0: median ",
                           "GB/s read at its clocks"})
    EXPECT_TRUE(finished.says(part)) << part << "\n" << finished.text;
  EXPECT_FALSE(finished.says("weights cold")) << finished.text;
}

TEST_F(RunCudaTest, TimesColdWeights) {
  // Weights of 30 bytes and a row of 28, with a cache of 100 bytes.
  Finished finished =
      run("ffn", {"--random", "--dynamic-size=1", "--bench=0.01"}, "l2=100");
  EXPECT_EQ(finished.code, 0) << finished.text;
  EXPECT_TRUE(finished.says("weights cold (12 copies in turn)"))
      << finished.text;
  // More rows than weights: what is cold then is not the weights.
  finished =
      run("ffn", {"--random", "--dynamic-size=9", "--bench=0.01"}, "l2=100");
  EXPECT_EQ(finished.code, 0) << finished.text;
  EXPECT_FALSE(finished.says("weights cold")) << finished.text;
}

TEST_F(RunCudaTest, TimesWithoutAGraphWhereThereCanBeNone) {
  Finished finished = run("twice", {"--random", "--bench=0.01"},
                          "fail:cuStreamBeginCapture=900");
  EXPECT_EQ(finished.code, 0) << finished.text;
  EXPECT_TRUE(finished.says(" on cuda:0: median ")) << finished.text;
  EXPECT_FALSE(finished.says("as a graph")) << finished.text;
}

TEST_F(RunCudaTest, ListsWithoutADevice) {
  Finished finished = run("", {"--list"}, "devices=0");
  EXPECT_EQ(finished.code, 0) << finished.text;
  EXPECT_TRUE(
      finished.says("target cuda, kernels for sm_80, sm_90a, sm_80+ptx\n"))
      << finished.text;
}

TEST_F(RunCudaTest, SaysWhatFails) {
  struct Case {
    const char *setup;
    std::vector<std::string> args;
    const char *message;
  } cases[] = {
      {"devices=0", {}, "no CUDA device: cuInit failed: CUDA_ERROR_NO_DEVICE"},
      {"version=10000", {}, "the CUDA driver is too old"},
      {"major=7,minor=5",
       {},
       "chip sm_75 of device 0 'Fake' has no kernel here: the module has "
       "sm_80, sm_90a, sm_80+ptx"},
      {"free=8",
       {},
       "argument 0 of @twice: not enough device memory on cuda:0 'Fake': asked "
       "for 512 bytes, but 8 of"},
      {"fail:cuLaunchKernel=1", {}, "cuLaunchKernel of 'twice'"},
      {"fail:cuMemcpyDtoHAsync=700",
       {},
       "@twice: cuMemcpyDtoHAsync of 512 bytes failed: "
       "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {"", {"--device=1"}, "expected a CUDA device from 0 to 0, but got 1"},
      {"fail:cuEventCreate=2", {"--bench"}, "cuEventCreate failed"},
  };
  for (const Case &c : cases) {
    std::vector<std::string> args = c.args;
    args.push_back("--random");
    Finished finished = run("twice", args, c.setup);
    EXPECT_EQ(finished.code, 1) << finished.text;
    EXPECT_TRUE(finished.says(c.message)) << finished.text;
  }
  unsetenv("FAKE_CUDA");
  setenv("NM_CUDA_LIBRARY", "/nowhere/libcuda.so", 1);
  Finished finished =
      runProcess({NM_FAKE_CUDA_MODEL, "--function=twice", "--random"});
  EXPECT_EQ(finished.code, 1);
  EXPECT_TRUE(finished.says("no CUDA driver: /nowhere/libcuda.so"))
      << finished.text;
}

TEST_F(RunCudaTest, TheDeviceIsForModulesForCuda) {
  Finished finished =
      runProcess({NM_FAKE_MODEL, "--function=ffn", "--random", "--device=0"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_TRUE(finished.says("@ffn: expected a device like cpu, for which it "
                            "was compiled, but got cuda:0"))
      << finished.text;
}
