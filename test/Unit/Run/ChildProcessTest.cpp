//===- ChildProcessTest.cpp - Work in a process of its own ----------------===//

#include "ChildProcess.h"

#include "gtest/gtest.h"

#include <unistd.h>

using namespace nm;

TEST(ChildProcess, ReturnsTextAndExitCode) {
  Result<ChildOutcome> outcome = runInChild([](std::string &text) {
    text = "said";
    return 3;
  });
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->text, "said");
  EXPECT_EQ(outcome->exitCode, 3);
}

// nm-bench measures in a child, which compiles in a child of its own.
TEST(ChildProcess, AChildStartsChildren) {
  Result<ChildOutcome> outcome = runInChild([](std::string &text) {
    alarm(20);
    Result<ChildOutcome> inner = runInChild([](std::string &innerText) {
      innerText = "inner";
      return 0;
    });
    text = inner ? inner->text : inner.error().message;
    return 0;
  });
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->text, "inner");
}
