//===- MeasureTest.cpp - Tests of measuring a list of cases ---------------===//

#include "Measure.h"

#include "../TemporaryFolder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>

using namespace nm;

namespace {
/// Does with each case what its schedule says.
class ScriptedRunner : public CaseRunner {
public:
  std::string describe() const override { return "a script"; }
  Result<CaseResult> run(const BenchCase &bench) override;
  bool isUsable() const override { return !isLost; }

private:
  bool isLost = false;
};
} // namespace

Result<CaseResult> ScriptedRunner::run(const BenchCase &bench) {
  if (isLost)
    return Error{"the device is lost"};
  if (bench.schedule == "crash")
    std::raise(SIGKILL);
  if (bench.schedule == "lose") {
    isLost = true;
    return Error{"an illegal memory access"};
  }
  if (bench.schedule == "fail")
    return Error{"no kernel"};
  CaseResult result;
  result.bench = bench;
  result.timings = Timings::of({1e-3});
  result.dense = LibraryResult{Timings::of({2e-3}), 0, "gemm"};
  result.tolerance = 1e-5;
  result.relativeError = bench.schedule == "nan" ? NAN : 0;
  return result;
}

static std::vector<BenchCase> script(const std::vector<std::string> &steps) {
  std::vector<BenchCase> cases;
  for (const std::string &step : steps)
    cases.push_back(
        {{int64_t(cases.size() + 80), 8, 8}, {2, 4}, ElementType::F32, step});
  return cases;
}

static Result<std::unique_ptr<CaseRunner>> makeScripted() {
  return std::unique_ptr<CaseRunner>(new ScriptedRunner);
}

/// The m of the lines of a CSV file.
static std::string rowsOf(const std::string &csv) {
  std::string rows;
  size_t begin = 0;
  for (size_t end; (end = csv.find('\n', begin)) != std::string::npos;
       begin = end + 1)
    rows += csv.substr(begin, csv.find(',', begin) - begin) + " ";
  return rows;
}

TEST(MeasureCases, RunsThemAll) {
  for (Isolation isolation : {Isolation::None, Isolation::Child}) {
    TemporaryFolder folder;
    testing::internal::CaptureStdout();
    Result<bool> passed = measureCases(script({"", ""}), folder.path("a.csv"),
                                       makeScripted, isolation);
    std::string printed = testing::internal::GetCapturedStdout();
    ASSERT_TRUE(passed) << passed.error().message;
    EXPECT_TRUE(*passed);
    EXPECT_EQ(rowsOf(folder.read("a.csv")), "m 80 81 ");
    EXPECT_EQ(printed.find("a script\nm x n x k"), 0u) << printed;
    EXPECT_NE(printed.find("2.00 (2.00-2.00)"), std::string::npos) << printed;
  }
}

TEST(MeasureCases, FailsWhereOneIsNotAccurate) {
  testing::internal::CaptureStdout();
  Result<bool> passed =
      measureCases(script({"nan", ""}), "", makeScripted, Isolation::Child);
  EXPECT_NE(testing::internal::GetCapturedStdout().find("NOT ACCURATE"),
            std::string::npos);
  ASSERT_TRUE(passed);
  EXPECT_FALSE(*passed);
}

TEST(MeasureCases, GoesOnAfterFailuresCrashesAndLostDevices) {
  TemporaryFolder folder;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Result<bool> passed =
      measureCases(script({"", "fail", "", "crash", "", "lose", "", "crash"}),
                   folder.path("a.csv"), makeScripted, Isolation::Child);
  std::string printed = testing::internal::GetCapturedStdout();
  std::string errors = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(passed) << passed.error().message;
  EXPECT_FALSE(*passed);
  EXPECT_EQ(rowsOf(folder.read("a.csv")), "m 80 82 84 86 ");
  // One header, whatever number of processes.
  EXPECT_EQ(printed.find("a script"), printed.rfind("a script"));
  for (const char *message : {"81x8x8 2:4 f32 (fail): no kernel",
                              "83x8x8 2:4 f32 (crash): the process was ended "
                              "by signal 9",
                              "85x8x8 2:4 f32 (lose): an illegal memory access",
                              "87x8x8 2:4 f32 (crash): the process was ended "
                              "by signal 9"})
    EXPECT_NE(errors.find(message), std::string::npos) << errors;
}

TEST(MeasureCases, StopsWhereThereIsNoRunner) {
  for (Isolation isolation : {Isolation::None, Isolation::Child}) {
    Result<bool> passed = measureCases(
        script({"", ""}), "",
        []() -> Result<std::unique_ptr<CaseRunner>> {
          return Error{"no device"};
        },
        isolation);
    ASSERT_FALSE(passed);
    EXPECT_EQ(passed.error().message, "no device");
  }
}
