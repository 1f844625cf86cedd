//===- EllTest.cpp --------------------------------------------------------===//

#include "nm/Format/Ell.h"

#include "DrawMatrix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

using namespace nm;
using namespace nm::test;

namespace {
/// Packed weights of i8.
struct PackedEll {
  EllForm form;
  int64_t n;
  std::vector<int8_t> values;
  std::vector<uint8_t> gaps, lists;

  PackedEll(const CondensedView &from, const EllForm &form)
      : form(form), n(from.n),
        values(form.slices(n) * form.steps * EllForm::stepValues(), 0x5a),
        gaps(form.slices(n) * form.steps * form.stepGapBytes(), 0x5a),
        lists(form.slices(n) * (form.parts + 1) * EllForm::kListBytes, 0x5a) {
    packEll(from, form, values.data(), gaps.data(), lists.data());
  }

  const uint8_t *rowOfLists(int64_t slice, int64_t row) const {
    return &lists[(slice * (form.parts + 1) + row) * EllForm::kListBytes];
  }
  int64_t steps(int64_t slice) const {
    const uint8_t *count = rowOfLists(slice, 0);
    return count[0] | count[1] << 8 | count[2] << 16 | count[3] << 24;
  }
  int64_t start(int64_t slice, int64_t part, int64_t lane) const {
    const uint8_t *row = rowOfLists(slice, part + 1) + 2 * lane;
    return row[0] | row[1] << 8;
  }
  int64_t gap(int64_t slice, int64_t lane, int64_t place) const {
    int64_t bit = place % EllForm::kWeights * form.bits;
    int64_t byte =
        (slice * form.steps + place / EllForm::kWeights) * form.stepGapBytes() +
        lane * form.columnGapBytes() + bit / 8;
    return gaps[byte] >> bit % 8 & form.largestGap();
  }
  int64_t row(int64_t slice, int64_t lane, int64_t place) const {
    int64_t byte =
        (slice * form.steps + place / EllForm::kWeights) * form.stepGapBytes() +
        2 * EllForm::placeOf(lane, place % EllForm::kWeights, 2);
    return gaps[byte] | gaps[byte + 1] << 8;
  }
  int8_t value(int64_t slice, int64_t lane, int64_t place) const {
    return values[(slice * form.steps + place / EllForm::kWeights) *
                      EllForm::stepValues() +
                  EllForm::placeOf(lane, place % EllForm::kWeights, 1)];
  }
};
} // namespace

static Matrix drawColumns(Random &random, int64_t k, int64_t n) {
  Matrix matrix(ElementType::I8, k, n);
  for (int64_t column = 0; column < n; ++column) {
    // Empty and full columns, and such of which few or many are kept.
    static constexpr double kShares[] = {0, 0.003, 0.05, 0.3, 0.6, 1};
    std::bernoulli_distribution keeps(kShares[draw(random, 0, 5)]);
    for (int64_t row = 0; row < k; ++row)
      matrix.set(row, column,
                 keeps(random) ? double(draw(random, 1, 100)) : 0.0);
  }
  return matrix;
}

/// What each part's lanes walk along are the weights, once each, and zeros.
TEST(Ell, HasAllThatIsNotZero) {
  Random random(11);
  for (int i = 0; i < 150; ++i) {
    int64_t k = draw(random, 1, 900), n = draw(random, 1, 70);
    Matrix drawn = drawColumns(random, k, n);
    Condensed all = compressed(drawn, Pattern());
    int64_t bits = EllForm::kBits[draw(random, 0, 3)];
    EllSteps steps = countEllSteps(drawn.view(), bits);
    EllForm form{std::max<int64_t>(1, steps.most) + draw(random, 0, 2), bits,
                 draw(random, 1, 32)};
    ASSERT_TRUE(form.verify());
    ASSERT_TRUE(form.holds(all.view()));
    PackedEll packed(all.view(), form);
    Matrix back(ElementType::I8, k, n);
    int64_t total = 0, most = 0;
    for (int64_t slice = 0; slice < form.slices(n); ++slice) {
      int64_t count = packed.steps(slice);
      total += count;
      most = std::max(most, count);
      for (int64_t lane = 0; lane < EllForm::kColumns; ++lane)
        for (int64_t part = 0; part < form.parts; ++part) {
          int64_t row = packed.start(slice, part, lane);
          for (int64_t place = form.firstStep(part, count) * EllForm::kWeights;
               place < form.firstStep(part + 1, count) * EllForm::kWeights;
               ++place) {
            row = form.hasRows() ? packed.row(slice, lane, place)
                                 : row + packed.gap(slice, lane, place);
            ASSERT_LT(row, k);
            int64_t column = slice * EllForm::kColumns + lane;
            if (int8_t value = packed.value(slice, lane, place)) {
              ASSERT_LT(column, n);
              ASSERT_EQ(back.at(row, column), 0);
              back.set(row, column, value);
            }
          }
        }
    }
    EXPECT_EQ(total, steps.total);
    EXPECT_EQ(most, steps.most);
    ASSERT_NO_FATAL_FAILURE(expectElements(back, drawn));
    EXPECT_FALSE((EllForm{steps.most - 1, bits, 1}.holds(all.view())));
  }
}

TEST(Ell, PutsZerosIntoLongGaps) {
  Matrix matrix(ElementType::I8, 41, 1);
  for (int64_t row : {2, 3, 40})
    matrix.set(row, 0, 1);
  Condensed all = compressed(matrix, Pattern());
  PackedEll packed(all.view(), EllForm{1, 4, 1});
  std::vector<int64_t> gaps, values;
  for (int64_t place = 0; place < 6; ++place) {
    gaps.push_back(packed.gap(0, 0, place));
    values.push_back(packed.value(0, 0, place));
  }
  EXPECT_EQ(gaps, (std::vector<int64_t>{2, 1, 15, 15, 7, 0}));
  EXPECT_EQ(values, (std::vector<int64_t>{1, 1, 0, 0, 1, 0}));
}

/// Rows 2, 3, 28 and 21 of column 2 have the first four places. Row 10, of the
/// remainder of 2, is eight places behind; row 18 would be behind the only
/// step, and takes the first place that is free.
TEST(Ell, OrdersRowsByRemainders) {
  Matrix matrix(ElementType::I8, 41, 3);
  int8_t next = 1;
  for (int64_t row : {10, 3, 28, 21, 2, 18})
    matrix.set(row, 2, next++);
  Condensed all = compressed(matrix, Pattern());
  PackedEll packed(all.view(), EllForm{1, 16, 1});
  std::vector<int64_t> rows, values;
  for (int64_t place = 0; place < 16; ++place) {
    rows.push_back(packed.row(0, 2, place));
    values.push_back(packed.value(0, 2, place));
  }
  EXPECT_EQ(rows, (std::vector<int64_t>{2, 3, 28, 21, 18, 7, 0, 1, 10, 3, 4, 5,
                                        6, 7, 0, 1}));
  EXPECT_EQ(values, (std::vector<int64_t>{5, 2, 3, 4, 6, 0, 0, 0, 1, 0, 0, 0, 0,
                                          0, 0, 0}));
}

/// Most drawn weights stand in a place of their own remainder: eight
/// neighbouring lanes have eight remainders at nearly each place.
TEST(Ell, HasNeighboursInBanksOfTheirOwn) {
  Random random(12);
  Matrix drawn(ElementType::I8, 4000, 32);
  std::bernoulli_distribution keeps(0.1);
  for (int64_t row = 0; row < drawn.k; ++row)
    for (int64_t column = 0; column < drawn.n; ++column)
      drawn.set(row, column, keeps(random) ? 1.0 : 0.0);
  Condensed all = compressed(drawn, Pattern());
  EllForm form{countEllSteps(drawn.view(), 16).most, 16, 1};
  PackedEll packed(all.view(), form);
  int64_t most = 0, groups = 0;
  for (int64_t place = 0; place < form.steps * EllForm::kWeights; ++place)
    for (int64_t first = 0; first < EllForm::kColumns; first += 8) {
      std::vector<int64_t> counts(8);
      for (int64_t lane = first; lane < first + 8; ++lane)
        ++counts[packed.row(0, lane, place) % 8];
      most += *std::max_element(counts.begin(), counts.end());
      ++groups;
    }
  EXPECT_LT(double(most) / double(groups), 1.25);
}

TEST(Ell, VerifiesItsNumbers) {
  EXPECT_TRUE((EllForm{4096, 8, 32}.verify()));
  EXPECT_FALSE((EllForm{0, 4, 1}.verify()));
  EXPECT_FALSE((EllForm{4097, 4, 1}.verify()));
  EXPECT_TRUE((EllForm{1, 16, 1}.verify()));
  EXPECT_FALSE((EllForm{1, 3, 1}.verify()));
  EXPECT_FALSE((EllForm{1, 4, 0}.verify()));
  EXPECT_FALSE((EllForm{1, 4, 33}.verify()));
}
