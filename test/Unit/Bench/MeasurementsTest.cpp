//===- MeasurementsTest.cpp - What measurements are worth -----------------===//

#include "Measurements.h"

#include "BenchReport.h"

#include "../TemporaryFolder.h"

#include <fstream>
#include <gtest/gtest.h>

using namespace nm;

static const char *const kDevice = "GPU A";

static CaseResult drawResult(const std::string &candidate,
                             const std::string &schedule, double micros,
                             bool isAsIs = true) {
  CaseResult result;
  result.bench = {{16, 4096, 4096}, {8, 32, 1, 32}, ElementType::F16};
  result.bench.schedule = candidate;
  result.device = kDevice;
  result.mappedBy = schedule;
  result.strategy = "simt";
  result.isAsIs = isAsIs;
  result.arithmetic = "f32";
  result.timings.median = micros * 1e-6;
  result.dense = LibraryResult{{20e-6, 20e-6, 20e-6, 7}, 0, "gemm"};
  result.tolerance = 1e-3;
  return result;
}

static std::vector<Measurement> measure(const std::vector<CaseResult> &results,
                                        const std::string &behind = "") {
  TemporaryFolder folder;
  std::string path = folder.path("m.csv");
  std::ofstream file(path);
  file << csvHeader() << "\n";
  for (const CaseResult &result : results)
    file << csvLine(result) << "\n";
  file << behind;
  file.close();
  Result<std::vector<Measurement>> read = readMeasurements(path);
  EXPECT_TRUE(read) << read.error().message;
  return read ? *read : std::vector<Measurement>();
}

TEST(Measurements, LinesComeBack) {
  CaseResult result = drawResult("gemv<stages = 2> propagate-layouts=false",
                                 "#nm.gemv<stages = 2, x = \"a, b\">", 12.5);
  std::vector<Measurement> all = measure({result}, "16,4096,40");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].product, tableProductOf(result.bench, "f32"));
  EXPECT_EQ(all[0].schedule, result.mappedBy);
  EXPECT_EQ(all[0].candidate, result.bench.schedule);
  EXPECT_DOUBLE_EQ(all[0].microseconds, 12.5);
  EXPECT_DOUBLE_EQ(*all[0].dense, 20);
  EXPECT_TRUE(all[0].isAsIs && all[0].isAccurate);
  EXPECT_EQ(all[0].kernels, kKernelVersion);
}

TEST(Measurements, EpiloguesAndQuantizedWeightsComeBack) {
  CaseResult result = drawResult("gemv", "#nm.gemv", 12.5);
  result.bench.quantization = CaseQuantization{4, 128};
  result.bench.epilogue = {true, CaseEpilogue::Activation::Silu, false};
  std::vector<Measurement> all = measure({result});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].product, tableProductOf(result.bench, "f32"));
  EXPECT_EQ(all[0].product.type, "f16 x i4/128");
  EXPECT_EQ(all[0].product.epilogue, "columns and activation");
}

TEST(Measurements, GoOnBehindTheLastWholeLine) {
  TemporaryFolder folder;
  std::string path = folder.path("m.csv");
  CaseResult result = drawResult("gemv", "#nm.gemv", 7);
  // The columns of an earlier version.
  std::string header = csvHeader();
  header.resize(header.rfind(','));
  std::ofstream(path) << header << "\n"
                      << csvLine(result, header) << "\n"
                      << csvLine(result, header).substr(0, 30);
  EXPECT_TRUE(Report::canContinue(path));
  Result<Report> report = Report::open(path, /*isNew=*/false);
  ASSERT_TRUE(report);
  report->add(drawResult("simt", "#nm.simt", 8));
  EXPECT_TRUE(report->close());
  Result<std::vector<Measurement>> read = readMeasurements(path);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ((*read)[0].schedule, "#nm.gemv");
  EXPECT_EQ((*read)[1].schedule, "#nm.simt");
  EXPECT_DOUBLE_EQ((*read)[1].microseconds, 8);
}

TEST(Measurements, APartOfTheHeaderIsNothing) {
  TemporaryFolder folder;
  std::string path = folder.path("m.csv");
  for (const std::string &text : {std::string(), csvHeader().substr(0, 9)}) {
    std::ofstream(path) << text;
    Result<std::vector<Measurement>> read = readMeasurements(path);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(read->empty());
    EXPECT_FALSE(Report::canContinue(path));
  }
  std::ofstream(path) << "what another wrote";
  EXPECT_FALSE(readMeasurements(path));
}

TEST(Measurements, AreSummarized) {
  CaseResult result = drawResult("", "#nm.wgmma", 9);
  std::vector<Measurement> all =
      measure({result, drawResult("gemv", "#nm.gemv", 7)});
  EXPECT_EQ(
      summarize(all, result.bench, "f32", kDevice),
      "\"16x4096x4096 8:32, block = 1x32 f16\",\"#nm.gemv\",7.0000,9.0000,"
      "20.0000,2\n");
  EXPECT_EQ(summarize(all, result.bench, "f32", "GPU B"), "");
}

TEST(Measurements, TheFastestIsTaken) {
  std::vector<TableEntry> entries = makeEntries(
      measure({drawResult("", "#nm.wgmma", 9, /*isAsIs=*/false),
               drawResult(" propagate-layouts=false", "#nm.simt", 12),
               drawResult("gemv", "#nm.gemv", 7),
               drawResult("gemv", "#nm.gemv", 9),
               drawResult("gemv", "#nm.gemv", 8),
               drawResult("mma_sync", "#nm.mma_sync", 8.5)}),
      kDevice);
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].schedule, "#nm.gemv");
  // The median of three.
  EXPECT_DOUBLE_EQ(entries[0].microseconds, 8);
  EXPECT_DOUBLE_EQ(*entries[0].dense, 20);
  EXPECT_TRUE(
      makeEntries(measure({drawResult("", "#nm.gemv", 7)}), "GPU B").empty());
}

TEST(Measurements, NoiseDoesNotChoose) {
  std::vector<TableEntry> entries = makeEntries(
      measure({drawResult(" propagate-layouts=false", "#nm.simt", 10),
               drawResult("gemv", "#nm.gemv", 9.9)}),
      kDevice);
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].schedule, "#nm.simt");
}

TEST(Measurements, WhatTakesItsPlaceStaysWithTheModel) {
  EXPECT_TRUE(makeEntries(measure({drawResult("", "#nm.wgmma", 5, false),
                                   drawResult("gemv", "#nm.gemv", 7)}),
                          kDevice)
                  .empty());
  // The library's time stands beside ours.
  EXPECT_EQ(makeEntries(
                measure({drawResult("", "#nm.cublas<own = #nm.simt>", 5, false),
                         drawResult("gemv", "#nm.gemv", 7)}),
                kDevice)
                .size(),
            1u);
}

TEST(Measurements, WrongResultsDoNotCount) {
  CaseResult wrong = drawResult("gemv", "#nm.gemv", 1);
  wrong.relativeError = 1;
  std::vector<TableEntry> entries = makeEntries(
      measure({wrong, drawResult("mma_sync", "#nm.mma_sync", 7)}), kDevice);
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].schedule, "#nm.mma_sync");
}

TEST(Measurements, SaysWhatIsNoSuchFile) {
  TemporaryFolder folder;
  std::string path = folder.path("m.csv");
  EXPECT_TRUE(readMeasurements(path)->empty());
  std::ofstream(path) << "a,b\n1,2\n";
  Result<std::vector<Measurement>> read = readMeasurements(path);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("expected a column"), std::string::npos);
}
