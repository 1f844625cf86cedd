//===- ModuleTest.cpp - Loading and calling compiled modules --------------===//

#include "nm/Runtime/Module.h"

#include "../TemporaryFolder.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <fstream>
#include <iterator>
#include <limits>
#include <thread>
#include <vector>

using namespace nm;

namespace {
class ModuleTest : public ::testing::Test {
protected:
  void SetUp() override {
    Result<Module> loaded = Module::load(NM_FAKE_MODEL);
    ASSERT_TRUE(loaded) << loaded.error().message;
    module.emplace(std::move(*loaded));
  }
  Function function(const std::string &name) {
    Result<Function> found = module->function(name);
    EXPECT_TRUE(found) << found.error().message;
    return *found;
  }
  /// W of @ffn, [4 x 3] with two non-zeros a column at most.
  Result<Weight> weight() {
    return compressWeight(function("ffn").args()[1],
                          Tensor(dense, ElementType::F32, {4, 3}), "w");
  }
  std::vector<Weight> packed() {
    std::vector<Weight> parts;
    parts.push_back(*weight());
    auto packed = function("ffn").pack(std::move(parts));
    EXPECT_TRUE(packed) << packed.error().message;
    return *packed;
  }

  float dense[12] = {1, 0, 0, 0, 5, 0, 3, 0, 0, 0, 6, 7};
  float a[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  std::optional<Module> module;
};
} // namespace

/// What `call` says, or "".
static std::string callError(const Function &function,
                             const std::vector<Argument> &args,
                             const std::vector<Tensor> &results) {
  Status status = function.call(args, results);
  return status ? "" : status.error().message;
}

TEST_F(ModuleTest, CallsWithPackedWeights) {
  std::vector<Weight> weights = packed();
  EXPECT_EQ(weights[0].values.shape, (Shape{1, 2, 3}));
  float c[6];
  ASSERT_EQ(callError(function("ffn"),
                      {Tensor(a, ElementType::F32, {2, 4}), weights[0]},
                      {Tensor(c, ElementType::F32, {2, 3})}),
            "");
  const float expected[6] = {10, 34, 28, 26, 78, 56};
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(c[i], expected[i]);
}

TEST_F(ModuleTest, CallsWithNoRows) {
  std::vector<Weight> weights = packed();
  EXPECT_EQ(callError(function("ffn"),
                      {Tensor(a, ElementType::F32, {0, 4}), weights[0]},
                      {Tensor(a, ElementType::F32, {0, 3})}),
            "");
}

TEST_F(ModuleTest, AHundredThreadsLoadAndCall) {
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 100; ++i)
    threads.emplace_back([i, &right] {
      Result<Module> own = Module::load(NM_FAKE_MODEL);
      if (!own || Module::load("none.so"))
        return;
      float x[2] = {float(i), 1}, twice[2];
      int32_t size = 0;
      Status status =
          own->function("stats")->call({Tensor(x, ElementType::F32, {2})},
                                       {Tensor(twice, ElementType::F32, {2}),
                                        Tensor(&size, ElementType::I32, {1})});
      right += status && twice[0] == float(2 * i) && size == 2;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, 100);
}

TEST_F(ModuleTest, CopiesStridedTensors) {
  std::vector<Weight> weights = packed();
  float transposed[8] = {1, 5, 2, 6, 3, 7, 4, 8};
  float c[6];
  ASSERT_EQ(callError(function("ffn"),
                      {Tensor(transposed, ElementType::F32, {2, 4}, {1, 2}),
                       weights[0]},
                      {Tensor(c, ElementType::F32, {2, 3}, {1, 2})}),
            "");
  const float expected[6] = {10, 26, 34, 78, 28, 56};
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(c[i], expected[i]);
}

TEST_F(ModuleTest, CopiesMisalignedTensors) {
  alignas(4) char bytes[4 * 3 + 1] = {};
  for (int64_t i = 0; i < 3; ++i)
    storeFromDouble(bytes + 1, ElementType::F32, i, double(i));
  float twice[3];
  int32_t size = 0;
  ASSERT_EQ(callError(function("stats"),
                      {Tensor(bytes + 1, ElementType::F32, {3})},
                      {Tensor(twice, ElementType::F32, {3}),
                       Tensor(&size, ElementType::I32, {1})}),
            "");
  EXPECT_EQ(twice[2], 4);
  EXPECT_EQ(size, 3);
}

TEST_F(ModuleTest, ResultsMayLieWhereArgumentsAre) {
  // Each element would be added to the one before.
  const std::array<int8_t, 5> before = {1, 2, 3, 4, 5},
                              after = {1, 11, 12, 13, 14};
  int8_t ten[4] = {10, 10, 10, 10};
  std::array<int8_t, 5> memory = before;
  Tensor x(memory.data(), ElementType::I8, {2, 2});
  Tensor y(ten, ElementType::I8, {2, 2});
  Tensor sum(memory.data() + 1, ElementType::I8, {2, 2});
  ASSERT_EQ(callError(function("add"), {x, y}, {sum}), "");
  EXPECT_EQ(memory, after);
  Function add = function("add");
  Result<PreparedCall> call = add.prepare({x, y}, {sum});
  ASSERT_TRUE(call) << call.error().message;
  memory = before;
  void *data[] = {x.data, y.data, sum.data};
  ASSERT_TRUE(call->run(data));
  EXPECT_EQ(memory, after);
}

TEST_F(ModuleTest, RunsTheReference) {
  Result<Function> reference = module->reference(function("ffn"));
  ASSERT_TRUE(reference);
  auto a64 = Buffer::allocate(ElementType::F64, {2, 4});
  auto w64 = Buffer::allocate(ElementType::F64, {4, 3});
  auto c64 = Buffer::allocate(ElementType::F64, {2, 3});
  copyTensor(Tensor(a, ElementType::F32, {2, 4}), a64->tensor());
  ASSERT_TRUE(
      decompressWeight(function("ffn").args()[1], *weight(), w64->tensor()));
  ASSERT_EQ(
      callError(*reference, {a64->tensor(), w64->tensor()}, {c64->tensor()}),
      "");
  EXPECT_EQ(loadAsDouble(c64->tensor().data, ElementType::F64, 4), 78);
  EXPECT_NE(module->reference(function("stats"))
                .error()
                .message.find("--with-reference"),
            std::string::npos);
}

TEST_F(ModuleTest, ChecksItsArguments) {
  std::vector<Weight> weights = packed();
  Weight condensed = *weight();
  Function ffn = function("ffn");
  Tensor good(a, ElementType::F32, {2, 4});
  float c[6];
  Tensor result(c, ElementType::F32, {2, 3});
  EXPECT_EQ(callError(ffn, {good}, {result}),
            "@ffn: expected 2 arguments, but got 1");
  EXPECT_EQ(callError(ffn, {good, weights[0]}, {}),
            "@ffn: expected 1 result, but got 0");
  EXPECT_EQ(callError(ffn, {Tensor(a, ElementType::F32, {12, 400}), weights[0]},
                      {result}),
            "argument 0 of @ffn: expected tensor<?x4xf32>, but got 12x400 f32");
  EXPECT_EQ(callError(ffn, {Tensor(a, ElementType::F16, {2, 4}), weights[0]},
                      {result}),
            "argument 0 of @ffn: expected tensor<?x4xf32>, but got 2x4 f16");
  EXPECT_EQ(
      callError(ffn, {Tensor(a, ElementType::F32, {8}), weights[0]}, {result}),
      "argument 0 of @ffn: expected tensor<?x4xf32>, but got 8 f32");
  EXPECT_EQ(callError(ffn, {good, good}, {result}),
            "argument 1 of @ffn: expected the parts of tensor<4x3xf32, "
            "#nm.encoding<2:4>>, but got 2x4 f32");
  EXPECT_EQ(callError(ffn, {good, condensed}, {result}),
            "argument 1 of @ffn: expected packed values tensor<1x2x3xf32>, but "
            "got 2x3 f32");
  EXPECT_EQ(callError(ffn, {weights[0], weights[0]}, {result}),
            "argument 0 of @ffn: expected tensor<?x4xf32>, but got 1x2x3 f32");
  EXPECT_EQ(
      callError(ffn, {good, weights[0]}, {Tensor(c, ElementType::F32, {3, 3})}),
      "result 0 of @ffn: expected tensor<2x3xf32>, but got 3x3 f32");
}

TEST_F(ModuleTest, ChecksEqualDimensions) {
  int8_t data[6] = {};
  EXPECT_EQ(callError(function("add"),
                      {Tensor(data, ElementType::I8, {2, 3}),
                       Tensor(data, ElementType::I8, {2, 2})},
                      {Tensor(data, ElementType::I8, {2, 3})}),
            "argument 1 of @add: expected dimension 1 to be 3, as dimension 1 "
            "of argument 0 is, but got 2");
}

TEST_F(ModuleTest, ChecksWeightsBeforeItPacks) {
  std::vector<Weight> none;
  EXPECT_EQ(function("ffn").pack(none).error().message,
            "@ffn: expected 1 weight, but got 0");
  EXPECT_EQ(
      function("ffn").pack(packed()).error().message,
      "argument 1 of @ffn: expected condensed values tensor<2x3xf32>, but "
      "got 1x2x3 f32");
}

TEST_F(ModuleTest, NamesItsFunctions) {
  std::string path = NM_FAKE_MODEL;
  EXPECT_EQ(module->function("gelu").error().message,
            path + ": expected a function of the module, but got @gelu; it has "
                   "@ffn, @stats, @lazy, @almost, @add, @big");
  EXPECT_EQ(module->function("").error().message,
            path + ": expected the name of a function; it has @ffn, @stats, "
                   "@lazy, @almost, @add, @big");
}

static std::string loadError(const std::string &path) {
  Result<Module> module = Module::load(path);
  return module ? "" : module.error().message;
}

TEST(ModuleLoad, SaysWhatIsWrongWithAFile) {
  TemporaryFolder folder;
  EXPECT_NE(
      loadError("/nowhere/model.so")
          .find("/nowhere/model.so: cannot load: cannot open shared object"),
      std::string::npos);
  std::string text = folder.write("text.so", "this is not a shared object");
  EXPECT_NE(loadError(text).find(text + ": cannot load: "), std::string::npos);
  EXPECT_NE(loadError(NM_FAKE_MODEL_NO_MANIFEST)
                .find("expected a module made by nm-compile, but the file has "
                      "no nm_manifest"),
            std::string::npos);
  EXPECT_NE(loadError(NM_FAKE_MODEL_VERSION)
                .find("nm_manifest: version: expected version 1 to 3, but got "
                      "version 7"),
            std::string::npos);
  EXPECT_NE(loadError(NM_FAKE_MODEL_FEATURES)
                .find("nm_manifest: expected processor_features that this "
                      "runtime can look for, but got 'avx2000'"),
            std::string::npos);
  EXPECT_NE(loadError(NM_FAKE_MODEL_SYMBOL)
                .find("expected the symbol _mlir_ciface_none of the manifest"),
            std::string::npos);
}

TEST(ModuleLoad, SaysThatAFileIsTruncated) {
  std::ifstream file(NM_FAKE_MODEL, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  TemporaryFolder folder;
  for (size_t size : {size_t(100), bytes.size() / 2, bytes.size() - 1}) {
    std::string part = folder.write("part.so", bytes.substr(0, size));
    EXPECT_EQ(loadError(part),
              part + ": cannot load: expected a file of at least " +
                  std::to_string(bytes.size()) +
                  " bytes, as its headers say, but got " +
                  std::to_string(size) + ": it is truncated or damaged");
  }
}

TEST(ModuleLoad, WeightsOfEveryOrder) {
  // The same B[5 x 3], given as it is and as W[3 x 5], with ragged k.
  float b[15] = {1, 0, 0, 0, 2, 0, 0, 0, 3, 4, 0, 0, 0, 5, -0.0f};
  float w[15];
  for (int k = 0; k < 5; ++k)
    for (int n = 0; n < 3; ++n)
      w[n * 5 + k] = b[k * 3 + n];
  Pattern pattern{1, 2, 1, 1};
  TensorType typeB{ElementType::F32, {5, 3}, Encoding{pattern, 0}};
  TensorType typeW{ElementType::F32, {3, 5}, Encoding{pattern, 1}};
  auto fromB = compressWeight(typeB, Tensor(b, ElementType::F32, {5, 3}), "b");
  auto fromW = compressWeight(typeW, Tensor(w, ElementType::F32, {3, 5}), "w");
  ASSERT_TRUE(fromB) << fromB.error().message;
  ASSERT_TRUE(fromW) << fromW.error().message;
  EXPECT_EQ(fromB->values.shape, (Shape{3, 3}));
  EXPECT_TRUE(verifyWeight(typeB, *fromB, "b"));
  EXPECT_TRUE(verifyWeight(typeW, *fromW, "w"));
  float back[15];
  ASSERT_TRUE(
      decompressWeight(typeW, *fromB, Tensor(back, ElementType::F32, {3, 5})));
  for (int i = 0; i < 15; ++i)
    EXPECT_EQ(back[i], w[i]);
}

TEST(ModuleLoad, BrokenWeights) {
  Pattern pattern{1, 4, 1, 1};
  TensorType type{ElementType::F32, {64, 2}, Encoding{pattern, 0}};
  std::vector<float> dense(128);
  dense[2 * 33 + 1] = dense[2 * 34 + 1] = 1;
  auto broken = compressWeight(
      type, Tensor(dense.data(), ElementType::F32, {64, 2}), "argument 1");
  ASSERT_FALSE(broken);
  // The range is that of the whole tensor, whatever part a thread looked at.
  EXPECT_NE(broken.error().message.find("argument 1"), std::string::npos);
  EXPECT_NE(broken.error().message.find("32"), std::string::npos)
      << broken.error().message;

  EXPECT_EQ(compressWeight(type,
                           Tensor(dense.data(), ElementType::F32, {2, 64}),
                           "argument 1")
                .error()
                .message,
            "argument 1: expected tensor<64x2xf32, #nm.encoding<1:4>>, but got "
            "2x64 f32");

  dense[2 * 33 + 1] = 0;
  auto good = compressWeight(
      type, Tensor(dense.data(), ElementType::F32, {64, 2}), "w");
  ASSERT_TRUE(good);
  static_cast<uint8_t *>(good->indices.data)[5] = 4;
  EXPECT_NE(verifyWeight(type, *good, "w").error().message.find("w, indices"),
            std::string::npos);
  good->indices.shape = {2, 16};
  EXPECT_EQ(verifyWeight(type, *good, "w").error().message,
            "w, indices: expected tensor<16x2xi8>, but got 2x16 i8");
}
