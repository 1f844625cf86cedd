//===- RunTest.cpp - nm-run as its users run it ---------------------------===//

#include "../TemporaryFolder.h"
#include "RunProcess.h"
#include "nm/Runtime/Npy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

using namespace nm;

namespace {
class RunTest : public ::testing::Test {
protected:
  template <typename T>
  std::string save(const std::string &name, ElementType type,
                   const Shape &shape, std::vector<T> data) {
    std::string path = folder.path(name);
    Status status = writeNpy(path, Tensor(data.data(), type, shape));
    EXPECT_TRUE(status) << status.error().message;
    return path;
  }
  std::string saveFloats(const std::string &name, const Shape &shape,
                         std::vector<float> data) {
    return save(name, ElementType::F32, shape, std::move(data));
  }
  /// A and W of @ffn, and what it gives for them.
  std::string saveA() {
    return saveFloats("a.npy", {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  }
  std::string saveW() {
    return saveFloats("w.npy", {4, 3},
                      {1, 0, 0, 0, 5, 0, 3, -0.0f, 0, 0, 6, 7});
  }
  void expectC(const std::string &path) {
    const float expected[6] = {10, 34, 28, 26, 78, 56};
    auto file = NpyFile::open(path);
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->tensor().shape, (Shape{2, 3}));
    EXPECT_EQ(std::memcmp(file->tensor().data, expected, sizeof expected), 0);
  }
  Finished runFfn(std::vector<std::string> args) {
    args.insert(args.begin(), {NM_FAKE_MODEL, "--function=ffn"});
    return runProcess(args);
  }

  TemporaryFolder folder;
};
} // namespace

TEST_F(RunTest, DenseWeightsAreCompressed) {
  Finished run = runFfn({"--input", saveA(), "--input", saveW(), "--output",
                         folder.path("c.npy"), "--check"});
  EXPECT_EQ(run.code, 0) << run.text;
  EXPECT_TRUE(run.says("check: result 0 of @ffn: passed, relative error 0, "
                       "tolerance 1e-05"))
      << run.text;
  expectC(folder.path("c.npy"));
}

TEST_F(RunTest, CondensedWeightsAreTaken) {
  std::string values = saveFloats("v.npy", {2, 3}, {1, 5, 0, 3, 6, 7});
  std::string indices =
      save<uint8_t>("i.npy", ElementType::I8, {2, 3}, {0, 1, 0, 2, 3, 3});
  Finished run = runFfn({"--input", saveA(), "--input", values + "," + indices,
                         "--output", folder.path("c.npy"), "--check"});
  EXPECT_EQ(run.code, 0) << run.text;
  expectC(folder.path("c.npy"));
}

TEST_F(RunTest, IndicesAreVerified) {
  std::string values = saveFloats("v.npy", {2, 3}, {1, 5, 0, 3, 6, 7});
  std::string outside =
      save<uint8_t>("o.npy", ElementType::I8, {2, 3}, {0, 1, 0, 4, 3, 3});
  std::string repeated =
      save<uint8_t>("r.npy", ElementType::I8, {2, 3}, {0, 3, 0, 2, 3, 3});
  std::string a = saveA();
  for (const std::string &indices : {outside, repeated}) {
    Finished run = runFfn({"--input", a, "--input", values + "," + indices});
    EXPECT_EQ(run.code, 1);
    EXPECT_TRUE(run.says("of 'argument 1 of @ffn (" + values + "," + indices +
                         "), indices' (k 0..3): expected a position"))
        << run.text;
  }
}

TEST_F(RunTest, WeightsThatBreakThePatternAreRefused) {
  std::string w =
      saveFloats("w.npy", {4, 3}, {1, 0, 0, 0, 5, 0, 3, 9, 0, 0, 6, 7});
  Finished run = runFfn({"--input", saveA(), "--input", w});
  EXPECT_EQ(run.code, 1);
  EXPECT_TRUE(run.says("argument 1 of @ffn (" + w + ")")) << run.text;
  EXPECT_TRUE(run.says("column 1")) << run.text;
}

TEST_F(RunTest, WrongShapesAndTypesAreRefused) {
  std::string w = saveW();
  std::string wide =
      saveFloats("wide.npy", {12, 400}, std::vector<float>(12 * 400));
  Finished run = runFfn({"--input", wide, "--input", w});
  EXPECT_EQ(run.code, 1);
  EXPECT_TRUE(run.says("argument 0 of @ffn (" + wide +
                       "): expected tensor<?x4xf32>, but got 12x400 f32"))
      << run.text;
  run = runFfn({"--input", saveA(), "--input", wide});
  EXPECT_EQ(run.code, 1);
  EXPECT_TRUE(run.says("expected tensor<4x3xf32, #nm.encoding<2:4>>, but got "
                       "12x400 f32"))
      << run.text;
}

TEST_F(RunTest, UnsignedBytesAreNoI8) {
  NpyHeader header;
  header.type = ElementType::I8;
  header.isUnsigned = true;
  header.shape = {1, 1};
  std::string bytes = folder.write("u.npy", header.str() + "x");
  Finished run = runProcess(
      {NM_FAKE_MODEL, "--function=add", "--input", bytes, "--input", bytes});
  EXPECT_EQ(run.code, 1);
  EXPECT_TRUE(run.says("expected tensor<?x?xi8>, but got 1x1 u8")) << run.text;
}

TEST_F(RunTest, UnreadableAndTruncatedFilesAreNamed) {
  std::string w = saveW();
  Finished run = runFfn({"--input", "/nowhere/a.npy", "--input", w});
  EXPECT_EQ(run.code, 1);
  EXPECT_TRUE(run.says("nm-run: error: /nowhere/a.npy: cannot read: No such "
                       "file or directory"))
      << run.text;
  std::string whole = folder.read("w.npy");
  std::string cut = folder.write("cut.npy", whole.substr(0, whole.size() - 1));
  run = runFfn({"--input", saveA(), "--input", cut});
  EXPECT_EQ(run.code, 1);
  EXPECT_TRUE(run.says(cut + ": expected 48 bytes of data for 4x3 f32, but got "
                             "47: the file is truncated"))
      << run.text;
}

TEST_F(RunTest, NoSpaceForTheOutput) {
  Finished run =
      runFfn({"--input", saveA(), "--input", saveW(), "--output", "/dev/full"});
  EXPECT_EQ(run.code, 1);
  EXPECT_TRUE(run.says("/dev/full: cannot write: No space left on device"))
      << run.text;
}

TEST_F(RunTest, SeveralResults) {
  std::string x = saveFloats("x.npy", {3}, {1, 2, 3});
  Finished run =
      runProcess({NM_FAKE_MODEL, "--function=stats", "--input", x, "--output",
                  folder.path("y.npy"), "--output", folder.path("n.npy")});
  EXPECT_EQ(run.code, 0) << run.text;
  auto size = NpyFile::open(folder.path("n.npy"));
  ASSERT_TRUE(size);
  EXPECT_EQ(loadAsDouble(size->tensor().data, ElementType::I32, 0), 3);
}

TEST_F(RunTest, CountsOfFilesAreChecked) {
  std::string a = saveA();
  struct Case {
    std::vector<std::string> args;
    const char *message;
  } cases[] = {
      {{"--input", a},
       "@ffn has 2 arguments, but got 1 --input; give one for "
       "each, or --random"},
      {{"--input", a, "--input", a, "--input", a},
       "@ffn has 2 arguments, but got 3 --inputs"},
      {{"--random", "--output", "x", "--output", "y"},
       "@ffn has 1 result, but got 2 --outputs"},
  };
  for (const Case &c : cases) {
    Finished run = runFfn(c.args);
    EXPECT_EQ(run.code, 2);
    EXPECT_TRUE(run.says(c.message)) << run.text;
  }
}

TEST_F(RunTest, RandomArguments) {
  Finished run = runFfn({"--random", "--check", "--dynamic-size=5"});
  EXPECT_EQ(run.code, 0) << run.text;
  EXPECT_TRUE(run.says("result 0 of @ffn: 5x3 f32, mean ")) << run.text;
  EXPECT_TRUE(run.says("passed")) << run.text;
  Finished again = runFfn({"--random", "--check", "--dynamic-size=5"});
  EXPECT_EQ(run.text, again.text);
  Finished other = runFfn({"--random", "--check", "--random-seed=1"});
  EXPECT_NE(run.text, other.text);
}

TEST_F(RunTest, AResultThatIsNotWrittenFailsTheCheck) {
  Finished run =
      runProcess({NM_FAKE_MODEL, "--function=lazy", "--random", "--check"});
  EXPECT_EQ(run.code, 1);
  EXPECT_TRUE(run.says("check: result 0 of @lazy: FAILED, relative error inf"))
      << run.text;
}

TEST_F(RunTest, FewElementsMayCancel) {
  // Products of about 0.03 that differ in their last bits: what is left of them
  // is as small as what rounding does to them.
  auto after = [](float x) { return std::nextafter(x, 1.0f); };
  std::string a = saveFloats("a.npy", {1, 4}, {0.1f, 0.3f, 0, 0});
  std::string w =
      saveFloats("w.npy", {4, 3},
                 {0.3f, 0.3f, after(0.3f), //
                  -after(0.1f), -after(after(0.1f)), -0.1f, 0, 0, 0, 0, 0, 0});
  Finished run = runFfn({"--input", a, "--input", w, "--check"});
  EXPECT_EQ(run.code, 0) << run.text;
  EXPECT_TRUE(run.says("result 0 of @ffn: passed, relative error 0."))
      << run.text;
  EXPECT_TRUE(run.says("within the tolerance of its terms, which cancel"))
      << run.text;
  // A tolerance that was given holds.
  run = runFfn({"--input", a, "--input", w, "--check", "--tolerance=1e-5"});
  EXPECT_EQ(run.code, 1) << run.text;
  // Elements that are wrong by more than rounding, and do not cancel.
  run = runProcess({NM_FAKE_MODEL, "--function=almost", "--random", "--check",
                    "--dynamic-size=3"});
  EXPECT_EQ(run.code, 1) << run.text;
  EXPECT_TRUE(run.says("FAILED, relative error 5e-05")) << run.text;
}

TEST_F(RunTest, ACheckNeedsAReference) {
  Finished run =
      runProcess({NM_FAKE_MODEL, "--function=stats", "--random", "--check"});
  EXPECT_EQ(run.code, 1);
  EXPECT_TRUE(run.says("expected a reference for @stats, but the module has "
                       "none; compile it with nm-compile --with-reference"))
      << run.text;
}

TEST_F(RunTest, Bench) {
  Finished run = runFfn({"--random", "--bench=0.01", "--threads=1"});
  EXPECT_EQ(run.code, 0) << run.text;
  for (const char *part :
       {"runs on 1 thread: median ", "(p10 ", "GB/s", "Gflop/s", "roofline: "})
    EXPECT_TRUE(run.says(part)) << part << "\n" << run.text;
}

TEST_F(RunTest, List) {
  Finished run = runProcess({NM_FAKE_MODEL, "--list"});
  EXPECT_EQ(run.code, 0);
  EXPECT_TRUE(run.says("@ffn(tensor<?x4xf32>, tensor<4x3xf32, "
                       "#nm.encoding<2:4>>) -> (tensor<?x3xf32>), with a "
                       "reference\n  fake.mlir:3:8: vector: 2:4, 50 % sparse"))
      << run.text;
}

TEST_F(RunTest, TargetsAndModules) {
  struct Case {
    std::vector<std::string> args;
    int code;
    const char *message;
  } cases[] = {
      {{NM_FAKE_MODEL, "--target=cuda", "--random"},
       1,
       "expected a module for the target cuda, but got one for cpu"},
      {{NM_FAKE_MODEL, "--target=sim:sm_90a", "--random"},
       1,
       "expected a module for the target sim, but got one for cpu"},
      {{NM_FAKE_MODEL, "--target=tpu"}, 2, "unknown target 'tpu'"},
      {{NM_FAKE_MODEL, "--random"}, 2, "expected the name of a function"},
      {{NM_FAKE_MODEL, "--function=no"}, 2, "but got @no; it has @ffn"},
      {{NM_FAKE_MODEL, "--compile-options=x"}, 1, "expected an .mlir file"},
      {{"/nowhere/m.so"}, 1, "/nowhere/m.so: no such file"},
      {{}, 2, "expected a module"},
      {{"--help"}, 0, "USAGE: nm-run"},
      {{"--version"}, 0, "nm-run "},
  };
  for (const Case &c : cases) {
    Finished run = runProcess(c.args);
    EXPECT_EQ(run.code, c.code) << run.text;
    EXPECT_TRUE(run.says(c.message)) << run.text;
  }
}
