//===- BenchCaseTest.cpp - Tests of what is measured ----------------------===//

#include "BenchCase.h"
#include "Presets.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

using namespace nm;

TEST(ProductShape, ParsesWhatItPrints) {
  Result<ProductShape> shape = ProductShape::parse("5x37x70");
  ASSERT_TRUE(bool(shape)) << shape.error().message;
  EXPECT_EQ(shape->m, 5);
  EXPECT_EQ(shape->n, 37);
  EXPECT_EQ(shape->k, 70);
  EXPECT_EQ(shape->str(), "5x37x70");
}

TEST(ProductShape, RefusesOtherText) {
  for (const char *text : {"", "5", "5x37", "5x37x", "5x37x70x1", "0x4x4",
                           "-1x4x4", "4x4x1048577", "4 x4x4", "axbxc"})
    EXPECT_FALSE(bool(ProductShape::parse(text))) << text;
}

TEST(BenchCase, CountsKeptOperations) {
  // 70 rows of k are two whole windows of 32 and one that is ragged.
  BenchCase bench{{5, 37, 70}, {8, 32}, ElementType::F32};
  EXPECT_EQ(bench.flops(), 2.0 * 5 * 37 * 24);
  EXPECT_TRUE(bench.isCold());
  EXPECT_FALSE((BenchCase{{65, 37, 70}, {8, 32}}).isCold());
}

TEST(BenchCase, CountsTheBytesItTakesAtLeast) {
  // Five bits tell 32 units apart; with 16 of them kept a mask takes two bits.
  double common = 4.0 * (5 * 64 + 32 * 64 + 5 * 64);
  EXPECT_EQ((BenchCase{{5, 64, 64}, {16, 32}}).leastBytes(),
            common + 32 * 64 * 2 / 8);
  EXPECT_EQ((BenchCase{{5, 64, 64}, {16, 32, 1, 32}}).leastBytes(),
            common + 32 * 2 * 2 / 8);
  EXPECT_EQ((BenchCase{{1, 64, 64}, {2, 32}, ElementType::F16}).leastBytes(),
            2 * (64 + 4 * 64) + 4 * 64 + 4 * 64 * 5 / 8);
}

TEST(Granularity, HasAName) {
  EXPECT_EQ(granularityName({2, 4}), "EW");
  EXPECT_EQ(granularityName({2, 4, 1, 32}), "VW32");
  EXPECT_EQ(granularityName({2, 4, 4, 4}), "BW4x4");
}

TEST(BenchCase, WritesAMatrixProduct) {
  BenchCase bench{{5, 37, 70}, {8, 32, 1, 32}, ElementType::F16};
  EXPECT_EQ(
      *bench.moduleText(),
      "func.func @product(%a: tensor<5x70xf16>, %b: tensor<70x37xf16, "
      "#nm.encoding<8:32, block = 1x32>>) -> tensor<5x37xf32> {\n"
      "  %zero = arith.constant 0.0 : f32\n"
      "  %empty = tensor.empty() : tensor<5x37xf32>\n"
      "  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x37xf32>) "
      "-> tensor<5x37xf32>\n"
      "  %c = linalg.matmul ins(%a, %b : tensor<5x70xf16>, tensor<70x37xf16, "
      "#nm.encoding<8:32, block = 1x32>>) outs(%init : tensor<5x37xf32>) -> "
      "tensor<5x37xf32>\n"
      "  return %c : tensor<5x37xf32>\n}\n");
}

TEST(BenchCase, WritesAProductOfAnMMajorA) {
  BenchCase bench{{5, 37, 70}, {2, 4}, ElementType::F16};
  bench.isMMajor = true;
  std::string text = *bench.moduleText();
  EXPECT_NE(text.find("(%a: tensor<70x5xf16>,"), std::string::npos) << text;
  EXPECT_NE(text.find("linalg.matmul indexing_maps = [affine_map<(m, n, k) -> "
                      "(k, m)>,"),
            std::string::npos)
      << text;
}

TEST(BenchCase, WritesFastAccumulation) {
  BenchCase bench{{5, 37, 70}, {2, 4}, ElementType::F8E4M3};
  bench.hasFastAccum = true;
  std::string text = *bench.moduleText();
  EXPECT_NE(text.find("linalg.matmul {nm.arithmetic = "
                      "#nm.arithmetic<fast_accum>} ins("),
            std::string::npos)
      << text;
}

TEST(BenchCase, WritesAVectorProduct) {
  BenchCase bench{{1, 37, 70}, {2, 4}, ElementType::I8};
  std::string text = *bench.moduleText();
  EXPECT_NE(text.find("(%a: tensor<70xi8>, %b: tensor<70x37xi8, "
                      "#nm.encoding<2:4>>) -> tensor<37xi32>"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("linalg.vecmat"), std::string::npos);
  EXPECT_NE(text.find("arith.constant 0 : i32"), std::string::npos);
}

TEST(BenchCase, WritesConstants) {
  BenchCase bench{{5, 3, 4}, {2, 4}, ElementType::F16};
  EXPECT_TRUE(bench.isCold());
  bench.isConstant = true;
  // Caches keep the one copy.
  EXPECT_FALSE(bench.isCold());
  std::string text = *bench.moduleText();
  EXPECT_NE(text.find("(%a: tensor<5x4xf16>) ->"), std::string::npos) << text;
  EXPECT_NE(text.find("%b = arith.constant dense<\"0x"), std::string::npos)
      << text;
  // Two bytes of 4 x 3 elements, of which some are not zero.
  size_t from = text.find("0x") + 2, to = text.find('"', from);
  std::string digits = text.substr(from, to - from);
  EXPECT_EQ(digits.size(), 2u * 2 * 4 * 3);
  EXPECT_NE(digits.find_first_not_of('0'), std::string::npos);
  // Kernels compiled beforehand have those of each later run.
  EXPECT_EQ(text, *bench.moduleText());
  EXPECT_EQ(bench.weightSeed(3), bench.weightSeed(4));
  EXPECT_NE(BenchCase().weightSeed(3), BenchCase().weightSeed(4));
}

TEST(BenchCase, ParsesWhatItPrints) {
  for (const char *text :
       {"5x37x70 2:4 f32", "5x37x70 2:4 f32 + bias", "5x37x70 2:4 f32 + gelu",
        "5x37x70 8:32, block = 1x32 f16 m-major to bf16 + relu + residual",
        "5x37x70 unstructured, kept = 9 f32 constant m-major + bias",
        "5x37x70 2:4 f16 x i4/128 to f16",
        "1x37x70 2:4 bf16 x i8/4 + bias + silu + residual",
        "5x37x70 2:4 f8E5M2 to f16 fast accumulation + bias"}) {
    Result<BenchCase> bench = BenchCase::parse(text);
    ASSERT_TRUE(bench) << text << ": " << bench.error().message;
    EXPECT_EQ(bench->str(), text);
  }
}

TEST(BenchCase, RefusesOtherText) {
  for (const char *text :
       {"5x37x70 2:4 f32 +", "5x37x70 2:4 f32 + ", "5x37x70 2:4 f32 + tanh",
        "5x37x70 2:4 f32 + gelu + bias", "5x37x70 2:4 f32 + bias + bias",
        "5x37x70 2:4 f32 + relu + gelu", "5x37x70 2:4 i8 + bias",
        // Scales of 16 bits, for whole windows.
        "5x37x70 2:4 f32 x i4/128", "5x37x70 2:4 f16 x i5/128",
        "5x37x70 2:4 f16 x i4/0", "5x37x70 2:4 f16 x i4/6",
        "5x37x70 2:4 f16 x i4", "5x37x70 2:4 f16 x ",
        "5x37x70 2:4 f16 x i4/128 constant",
        "5x37x70 2:4 f16 m-major constant"})
    EXPECT_FALSE(BenchCase::parse(text)) << text;
}

TEST(BenchCase, ClassesOfEpiloguesAreThoseOfTables) {
  auto classOf = [](const std::string &text, int64_t m) {
    std::string rest = text;
    return CaseEpilogue::take(rest)->className(m);
  };
  EXPECT_EQ(classOf("", 5), "none");
  EXPECT_EQ(classOf("x + relu", 5), "none");
  EXPECT_EQ(classOf("x + gelu", 5), "activation");
  EXPECT_EQ(classOf("x + bias + silu", 5), "columns and activation");
  EXPECT_EQ(classOf("x + bias + residual", 5), "matrix");
  EXPECT_EQ(classOf("x + residual", 1), "columns");
}

TEST(CaseEpilogue, ComputesInItsOrder) {
  auto apply = [](std::string text) {
    return CaseEpilogue::take(text)->apply(-2, 0.5, 10);
  };
  EXPECT_EQ(apply("x"), -2);
  EXPECT_EQ(apply("x + bias + residual"), 8.5);
  EXPECT_EQ(apply("x + relu + residual"), 10);
  // -1.5 times the distribution function of the normal distribution there.
  EXPECT_NEAR(apply("x + bias + gelu"), -1.5 * 0.0668072, 1e-6);
  EXPECT_NEAR(apply("x + bias + silu"), -1.5 / (1 + std::exp(1.5)), 1e-12);
}

TEST(Presets, HaveCasesThatFit) {
  std::set<std::string> names;
  for (const Preset &preset : presets()) {
    EXPECT_TRUE(names.insert(preset.name).second) << preset.name;
    std::vector<BenchCase> cases = preset.cases();
    EXPECT_FALSE(cases.empty()) << preset.name;
    for (const BenchCase &bench : cases) {
      EXPECT_TRUE(bool(bench.pattern.verify()));
      EXPECT_LE(bench.pattern.bk, bench.shape.k);
      EXPECT_LE(bench.pattern.bn, bench.shape.n);
    }
  }
}

TEST(Presets, NameThoseThereAre) {
  Result<const Preset *> preset = findPreset("nonsense");
  ASSERT_FALSE(bool(preset));
  EXPECT_EQ(preset.error().message,
            "unknown preset 'nonsense'; expected one of cpu, spmv, spmm, "
            "granularity, gpu, gpu-spmm, gpu-spmv, gpu-quick, "
            "nmsparse, nmsparse-i8, bert-large, nm-spmm, study, "
            "sparsert, sparsert-batch, small");
}
