//===- ModelAnswersTest.cpp - What models have answered before ------------===//

#include "GPU/Select/ModelAnswers.h"

#include <gtest/gtest.h>

using namespace nm;

static int asked = 0;

/// A model that counts how often it is asked, and answers with that number.
static Result<GpuSchedule> count(const GpuProduct &product, const GpuChip &,
                                 bool isRefused) {
  ++asked;
  if (isRefused)
    return Error{"no " + std::to_string(product.n) + " columns"};
  GpuSchedule schedule;
  schedule.blockM = asked;
  return schedule;
}

static GpuProduct makeProduct(int64_t n) {
  GpuProduct product;
  product.pattern = *Pattern::parse("2:4");
  product.m = 64;
  product.n = n;
  product.k = 128;
  return product;
}

static int64_t ask(const GpuProduct &product, const char *chip) {
  return selectOnce<count>(product, *GpuChip::get(chip), false)->blockM;
}

// Of equal products on a chip the model is asked once, and of any other anew.
TEST(ModelAnswers, EqualProductsAreAskedOnce) {
  asked = 0;
  EXPECT_EQ(ask(makeProduct(64), "sm_90a"), 1);
  EXPECT_EQ(ask(makeProduct(96), "sm_90a"), 2);
  EXPECT_EQ(ask(makeProduct(64), "sm_90a"), 1);
  GpuProduct other = makeProduct(64);
  other.isMMajor = true;
  EXPECT_EQ(ask(other, "sm_90a"), 3);
  other = makeProduct(64);
  other.pattern = *Pattern::parse("1:4");
  EXPECT_EQ(ask(other, "sm_90a"), 4);
  other = makeProduct(64);
  other.avoidsPrunedWeights = true;
  EXPECT_EQ(ask(other, "sm_90a"), 5);
  EXPECT_EQ(ask(makeProduct(96), "sm_90a"), 2);
  EXPECT_EQ(asked, 5);
}

// The rates of a chip may be measured between two questions.
TEST(ModelAnswers, AnotherChipIsAskedAbout) {
  asked = 0;
  EXPECT_EQ(ask(makeProduct(32), "sm_80"), 1);
  EXPECT_EQ(ask(makeProduct(32), "sm_90a"), 2);
  GpuChip slower = *GpuChip::get("sm_90a");
  slower.rates.shared /= 2;
  EXPECT_EQ(selectOnce<count>(makeProduct(32), slower, false)->blockM, 3);
  EXPECT_EQ(selectOnce<count>(makeProduct(32), slower, false)->blockM, 3);
}

TEST(ModelAnswers, ArgumentsAndErrorsAreKept) {
  asked = 0;
  GpuChip chip = *GpuChip::get("sm_90a");
  EXPECT_EQ(selectOnce<count>(makeProduct(48), chip, false)->blockM, 1);
  for (int turn = 0; turn < 2; ++turn) {
    Result<GpuSchedule> refused =
        selectOnce<count>(makeProduct(48), chip, true);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, "no 48 columns");
  }
  EXPECT_EQ(asked, 2);
}

// An old answer may go, but is never another product's.
TEST(ModelAnswers, ManyProductsFit) {
  for (int turn = 0; turn < 2; ++turn)
    for (int64_t n = 1; n <= 1000; ++n) {
      Result<GpuSchedule> refused =
          selectOnce<count>(makeProduct(n), *GpuChip::get("sm_90a"), true);
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().message,
                "no " + std::to_string(n) + " columns");
    }
}
