//===- ReportTest.cpp - Tests of how results are written ------------------===//

#include "BenchReport.h"
#include "Summary.h"
#include "TensorCores.h"

#include "../TemporaryFolder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace nm;

static CaseResult sampleResult() {
  CaseResult result;
  result.bench = {{256, 4096, 4096}, {8, 32, 1, 32}};
  result.bench.schedule = "stages=2";
  result.device = "NVIDIA \"H200\"";
  result.strategy = "simt";
  result.timings = Timings::of({1e-3, 2e-3, 3e-3});
  result.dense = LibraryResult{Timings::of({5e-3}), 1e-7, "gemm"};
  result.tolerance = 1e-5;
  result.ceilings = {4e12, 6e13, "at its clocks"};
  result.bytes = 4e9;
  return result;
}

/// The fields of a line, some of which are quoted.
static std::vector<std::string> fields(const std::string &line) {
  std::vector<std::string> list(1);
  bool isQuoted = false;
  for (char c : line) {
    if (c == '"')
      isQuoted = !isQuoted;
    if (c == ',' && !isQuoted)
      list.emplace_back();
    else
      list.back() += c;
  }
  return list;
}

static std::string field(const CaseResult &result, const std::string &name) {
  std::vector<std::string> names = fields(csvHeader());
  std::vector<std::string> values = fields(csvLine(result));
  EXPECT_EQ(names.size(), values.size());
  auto at = std::find(names.begin(), names.end(), name);
  EXPECT_NE(at, names.end()) << name;
  return values[at - names.begin()];
}

TEST(CsvLine, HasAFieldForEachColumn) {
  CaseResult result = sampleResult();
  EXPECT_EQ(field(result, "granularity"), "VW32");
  EXPECT_EQ(field(result, "device"), "\"NVIDIA \"\"H200\"\"\"");
  EXPECT_EQ(field(result, "schedule"), "\"stages=2\"");
  EXPECT_EQ(field(result, "median_us"), "2000.0000");
  EXPECT_EQ(field(result, "blas_routine"), "gemm");
  EXPECT_EQ(field(result, "speedup"), "2.5000");
  // A millisecond of memory.
  EXPECT_EQ(field(result, "roofline_share"), "0.5000");
  EXPECT_EQ(field(result, "roofline_bound"), "memory");
  EXPECT_EQ(field(result, "accurate"), "1");
  EXPECT_EQ(field(result, "intensity_memory"), "0.5369");
  EXPECT_EQ(field(result, "level_bound"), "memory");
  // Not known of this result.
  EXPECT_EQ(field(result, "unit"), "");
  EXPECT_EQ(field(result, "csr_median_us"), "");
  EXPECT_EQ(field(result, "intensity_l2"), "");

  result.dense.reset();
  result.relativeError = NAN;
  EXPECT_EQ(field(result, "blas_median_us"), "");
  EXPECT_EQ(field(result, "speedup"), "");
  EXPECT_EQ(field(result, "accurate"), "0");
}

TEST(CsvLine, SaysWhatRan) {
  CaseResult result = sampleResult();
  result.ran = WhatRan{Unit::TensorCores, 1};
  result.csr = LibraryResult{Timings::of({7e-3}), 1e-7, "cuSPARSE CSR"};
  EXPECT_EQ(field(result, "unit"), "tensor cores");
  EXPECT_EQ(field(result, "zeros"), "multiplied");
  EXPECT_EQ(field(result, "csr_median_us"), "7000.0000");
  // What the module says of its kernel.
  result.product.bound = "shared";
  result.product.registers = 168;
  result.product.registersFrom = "ptxas";
  result.product.occupancy = 0.1875;
  result.product.intensityL2 = 57;
  EXPECT_EQ(field(result, "level_bound"), "shared");
  EXPECT_EQ(field(result, "registers"), "168");
  EXPECT_EQ(field(result, "registers_from"), "ptxas");
  EXPECT_EQ(field(result, "occupancy"), "0.1875");
  EXPECT_EQ(field(result, "intensity_l2"), "57");
  testing::internal::CaptureStdout();
  Report::open("", true)->add(result);
  std::string table = testing::internal::GetCapturedStdout();
  EXPECT_NE(table.find("tensor cores, zeros multiplied"), std::string::npos)
      << table;
  EXPECT_NE(table.find("cuSPARSE CSR 7000"), std::string::npos) << table;
}

TEST(Report, SaysWhyAStepIsLeftOut) {
  CaseResult result;
  result.bench = {{4, 8, 8}, {2, 4}};
  result.bench.step = "+ packing";
  result.whyNoStep = "expected vectors";
  testing::internal::CaptureStdout();
  Report::open("", true)->add(result);
  EXPECT_NE(testing::internal::GetCapturedStdout().find(
                "+ packing: left out, expected vectors"),
            std::string::npos);
}

TEST(Report, SaysWhyThereIsNoDenseSide) {
  CaseResult result = sampleResult();
  result.dense.reset();
  result.whyNoDense = "no such product";
  testing::internal::CaptureStdout();
  Report::open("", true)->add(result);
  EXPECT_NE(
      testing::internal::GetCapturedStdout().find(
          "simt (stages=2), compiled in 0.00 s, no BLAS: no such product"),
      std::string::npos);
}

TEST(Ceilings, KnowTensorCores) {
  // An H100's tables: 67 Tflop/s in f32, 989 in f16, 1979 in fp8 and i8.
  EXPECT_EQ(tensorCoreFactor(9, 0, ElementType::F16), 16);
  EXPECT_EQ(tensorCoreFactor(9, 0, ElementType::F8E4M3), 32);
  EXPECT_EQ(tensorCoreFactor(9, 0, ElementType::F8E5M2), 32);
  EXPECT_NEAR(tensorCoreFactor(9, 0, ElementType::F32), 16.0 / 6, 1e-9);
  EXPECT_EQ(tensorCoreFactor(8, 0, ElementType::I8), 32);
  EXPECT_EQ(tensorCoreFactor(8, 0, ElementType::F32), 1);
  EXPECT_EQ(tensorCoreFactor(7, 5, ElementType::F16), 1);
}

TEST(CaseResult, DoesWithoutCeilings) {
  CaseResult result = sampleResult();
  result.ceilings = {};
  EXPECT_EQ(result.rooflineShare(), 0);
}

TEST(Summary, TakesGeometricMeans) {
  Summary summary;
  EXPECT_EQ(summary.text(), "");
  summary.add({{256, 64, 64}, {16, 32, 1, 32}}, 2);
  EXPECT_EQ(summary.text(), "") << "one case is no mean";
  summary.add({{1024, 64, 64}, {16, 32, 1, 32}}, 8);
  summary.add({{256, 64, 64}, {4, 32}}, 3);
  summary.add({{256, 64, 64}, {2, 4}}, 5);
  summary.add({{256, 64, 64}, {16, 32}}, 6);
  summary.add({{1, 64, 64}, {2, 4}, ElementType::F16}, 7);
  EXPECT_EQ(summary.text(),
            "\nSpeed-up over the BLAS, geometric mean (least-most):\n"
            "\nf32, m > 64 (up to 2 shapes)\n\n"
            "| | 50.0 % | 87.5 % |\n"
            "| --- | --- | --- |\n"
            "| VW32 | 4.00 (2.00-8.00) | - |\n"
            "| EW | 6.00 | 3.00 |\n"
            "| EW, M = 4 | 5.00 | - |\n"
            "\nf16, m = 1 (up to 1 shape)\n\n"
            "| | 50.0 % |\n"
            "| --- | --- |\n"
            "| EW | 7.00 |\n");
}

TEST(Summary, ComparesSchedules) {
  Summary summary;
  summary.add({{256, 64, 64}, {4, 32}, ElementType::F32, "stages=1", "plain"},
              2);
  summary.add({{256, 64, 64}, {4, 32}, ElementType::F32, "stages=2"}, 3);
  EXPECT_NE(summary.text().find("| EW, plain | 2.00 |\n"
                                "| EW, stages=2 | 3.00 |\n"),
            std::string::npos)
      << summary.text();
}

TEST(Report, SaysWhichStepHadTheSchedule) {
  TemporaryFolder folder;
  testing::internal::CaptureStdout();
  Result<Report> report = Report::open(folder.path("a.csv"), /*isNew=*/true);
  ASSERT_TRUE(report) << report.error().message;
  CaseResult result = sampleResult();
  result.bench.step = "+ split-k";
  result.sameAs = "blocking";
  report->add(result);
  ASSERT_TRUE(report->close());
  std::string printed = testing::internal::GetCapturedStdout();
  EXPECT_NE(printed.find("+ split-k: the schedule of blocking\n"),
            std::string::npos)
      << printed;
  // Nothing was measured.
  EXPECT_EQ(folder.read("a.csv"), csvHeader() + "\n");
}
