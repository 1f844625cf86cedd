//===- QuantizedCase.cpp - What a drawn weight of few bits is -------------===//

#include "QuantizedCase.h"

#include <algorithm>

using namespace nm;
using namespace nm::test;

/// Rows of the shortest group of a power of two, and of one that is longer than
/// any k that is drawn.
static constexpr int64_t kShortGroup = 32, kLongGroup = 1 << 14;
/// What cases of successive numbers have: the powers of two first.
static constexpr int64_t kPowers = 4, kColumns = 4, kLong = 5, kKinds = 7;

/// Which of them case `number` has, another one in the next run.
static int64_t kindOf(int64_t number) {
  return (number + int64_t(runSeed() % kKinds)) % kKinds;
}

bool QuantizedCase::suits(int64_t number, const Pattern &pattern) {
  return kindOf(number) >= kPowers || kShortGroup % pattern.windowRows() == 0;
}

QuantizedCase QuantizedCase::draw(int64_t number, const Pattern &pattern,
                                  Random &random, int64_t maxGroup) {
  int64_t window = pattern.windowRows(), kind = kindOf(number);
  QuantizedCase drawn;
  drawn.bits = random.chance(0.5) ? 4 : 8;
  drawn.columnsFirst = random.chance(0.5);
  if (kind == kColumns)
    return drawn;
  int64_t power = std::min(kShortGroup << kind, maxGroup);
  if (kind == kLong)
    drawn.group = kLongGroup;
  else if (kind < kPowers && power % window == 0)
    drawn.group = power;
  else
    drawn.group = window * (2 * random.integer(1, 3) + 1);
  return drawn;
}

int64_t QuantizedCase::drawK(const Pattern &pattern, Random &random) const {
  bool isShared = !group || *group == kLongGroup;
  int64_t rows = isShared ? pattern.windowRows() : *group;
  int64_t more = isShared ? std::max<int64_t>(rows, 200) : rows;
  return rows + (random.chance(0.3) ? rows : random.integer(1, more));
}

int64_t QuantizedCase::groups(int64_t k) const {
  return group ? (k + *group - 1) / *group : 1;
}

std::vector<int64_t> QuantizedCase::scaleShape(int64_t k, int64_t n) const {
  if (!group)
    return {n};
  if (columnsFirst)
    return {n, groups(k)};
  return {groups(k), n};
}

int64_t QuantizedCase::scaleIndex(int64_t row, int64_t column, int64_t k,
                                  int64_t n) const {
  int64_t number = group ? row / *group : 0;
  return columnsFirst ? column * groups(k) + number : number * n + column;
}

int64_t QuantizedCase::drawValue(Random &random) const {
  int64_t value = random.integer(-128, 127);
  // Half of them as callers have them, the integer in its byte.
  if (bits == 8 || random.chance(0.5))
    return value;
  return value >> 4;
}

double QuantizedCase::dequantize(int64_t value, double scale,
                                 ElementType type) const {
  auto integer = double(bits == 8 ? value : ((value & 15) ^ 8) - 8);
  uint16_t rounded = 0;
  storeFromDouble(&rounded, type, 0, integer * scale);
  return loadAsDouble(&rounded, type, 0);
}

std::string QuantizedCase::text(int64_t kDim, ElementType type,
                                const std::string &values,
                                const std::string &scales,
                                const std::string &weight) const {
  std::string element(elementName(type)), k = "d" + std::to_string(kDim),
                                          n = "d" + std::to_string(1 - kDim),
                                          place = n;
  if (group) {
    std::string number = k + " floordiv " + std::to_string(*group);
    place = columnsFirst ? n + ", " + number : number + ", " + n;
  }
  std::string integer = "%value", integerType = "i8", trunc;
  if (bits == 4) {
    trunc = "    %bits = arith.trunci %value : i8 to i4\n";
    integer = "%bits";
    integerType = "i4";
  }
  // Either order of the factors.
  std::string factors = columnsFirst ? "%scale, %exact" : "%exact, %scale";
  std::string identity = "affine_map<(d0, d1) -> (d0, d1)>";
  return "  %dense = tensor.empty() : " + weight +
         "\n  %w = linalg.generic {indexing_maps = [" + identity +
         ", affine_map<(d0, d1) -> (" + place + ")>, " + identity +
         "], iterator_types = [\"parallel\", \"parallel\"]}\n    ins(%q, "
         "%scales : " +
         values + ", " + scales + ") outs(%dense : " + weight +
         ") {\n  ^bb0(%value: i8, %scale: " + element + ", %old: " + element +
         "):\n" + trunc + "    %exact = arith.sitofp " + integer + " : " +
         integerType + " to " + element + "\n    %weight = arith.mulf " +
         factors + " : " + element + "\n    linalg.yield %weight : " + element +
         "\n  } -> " + weight + "\n";
}
