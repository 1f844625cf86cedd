//===- FormatTest.cpp - Format ops at run time against lib/Format ---------===//

#include "FormatCase.h"
#include "JitModule.h"

#include "gtest/gtest.h"

#include <cstdio>
#include <unistd.h>

using namespace nm;
using namespace nm::test;

static const char *const kPipeline = "convert-nm-to-loops";
static constexpr int64_t kCases = 40;
static constexpr int kMostFailures = 5;

namespace {
class FormatTest : public testing::TestWithParam<FormatOp> {};
} // namespace

TEST_P(FormatTest, AgreesWithSupport) {
  std::vector<FormatCase> formats;
  std::string source;
  for (int64_t i = 0; i < kCases; ++i) {
    Random random(2000000 + i * 10 + int64_t(GetParam()));
    formats.push_back(FormatCase::draw(i, GetParam(), random));
    source += formats.back().function();
  }
  std::unique_ptr<JitModule> module = JitModule::compile(source, kPipeline);
  ASSERT_TRUE(module) << source;

  int failures = 0;
  for (const FormatCase &format : formats) {
    Random random(3000000 + format.number);
    std::string fault = checkFormat(
        format, random,
        [&](const std::string &name, const std::vector<void *> &descriptors) {
          return module->call(name, descriptors);
        });
    if (fault.empty())
      continue;
    ADD_FAILURE() << fault << "\n  " << format.describe()
                  << "\n  NM_TEST_SEED=" << runSeed();
    if (++failures == kMostFailures)
      break;
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, FormatTest,
                         testing::Values(FormatOp::Compress,
                                         FormatOp::Decompress, FormatOp::Prune,
                                         FormatOp::Pack),
                         [](const auto &info) {
                           return std::string(formatOpName(info.param));
                         });

// Pruning in place: one buffer is input and output.
TEST(FormatInPlaceTest, PruneMayOverwriteItsInput) {
  std::unique_ptr<JitModule> module = JitModule::compile(
      R"(func.func @prune(%w: memref<7x3xf32>) attributes {llvm.emit_c_interface} {
        nm.prune <2:4> ins(%w : memref<7x3xf32>) outs(%w : memref<7x3xf32>)
        return
      })",
      kPipeline);
  ASSERT_TRUE(module);
  GuardedArray array(ElementType::F32, {7, 3}, 0, 0, GuardedMemory::Edge::Back);
  for (int64_t i = 0; i < 21; ++i)
    array.store(i, i + 1);
  ASSERT_TRUE(module->call("prune", {array.descriptor()}));
  for (int64_t i = 0; i < 21; ++i) {
    bool kept = (i / 3 >= 2 && i / 3 < 4) || i / 3 >= 5;
    EXPECT_EQ(array.load(i), kept ? i + 1 : 0) << i;
  }
}

// A window with too many non-zeros stops the program.
TEST(FormatDeathTest, CompressRefusesABrokenWindow) {
  std::unique_ptr<JitModule> module = JitModule::compile(
      R"(func.func @compress(%w: memref<6x2xf32>, %v: memref<4x2xf32>, %i: memref<4x2xi8>)
            attributes {llvm.emit_c_interface} {
        nm.compress <2:4> ins(%w : memref<6x2xf32>)
          outs(%v, %i : memref<4x2xf32>, memref<4x2xi8>)
        return
      })",
      kPipeline);
  ASSERT_TRUE(module);
  auto edge = GuardedMemory::Edge::Back;
  GuardedArray dense(ElementType::F32, {6, 2}, 0, 0, edge);
  GuardedArray values(ElementType::F32, {4, 2}, 0, 0, edge);
  GuardedArray indices(ElementType::I8, {4, 2}, 0, 0, edge);
  for (int64_t i = 0; i < 12; ++i)
    dense.store(i, 0);
  // Column 1: two in the first window, one and a -0.0 in the second.
  for (int64_t row : {0, 2, 5})
    dense.store(row * 2 + 1, 3);
  dense.store(4 * 2 + 1, -0.0);
  auto compress = [&] {
    module->call("compress", {dense.descriptor(), values.descriptor(),
                              indices.descriptor()});
  };
  compress();
  EXPECT_EQ(values.load(1), 3);
  EXPECT_EQ(indices.load(3), 2);

  dense.store(1 * 2 + 1, 4);
  auto compressLoudly = [&] {
    // The message goes to a buffered stdout, which abort() does not flush.
    dup2(STDERR_FILENO, STDOUT_FILENO);
    setvbuf(stdout, nullptr, _IONBF, 0);
    compress();
  };
  EXPECT_DEATH(compressLoudly(),
               "expected at most 2 non-zero units in every 4 along k "
               "\\(pattern 2:4\\)");
}
