//===- Random.cpp - Draws of test cases and data --------------------------===//

#include "Random.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <numeric>

using namespace nm;
using namespace nm::test;

uint64_t nm::test::runSeed() {
  static const uint64_t seed = [] {
    const char *given = std::getenv("NM_TEST_SEED");
    uint64_t seed = given ? std::strtoull(given, nullptr, 10)
                          : std::random_device()() % 1000000;
    std::printf("NM_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
    return seed;
  }();
  return seed;
}

double Random::element(ElementType type) {
  if (type == ElementType::I8)
    return integer(-128, 127);
  if (type == ElementType::I32)
    return integer(-1000000, 1000000);
  if (chance(0.05))
    return chance(0.5) ? 0.0 : -0.0;
  return std::uniform_real_distribution<double>(-1, 1)(engine);
}

void Random::fill(GuardedArray &array, double scale) {
  for (int64_t i = 0; i < array.numElements(); ++i)
    array.store(i, element(array.type()) * scale);
}

double Random::scale(ElementType type) {
  bool isWide = type == ElementType::F32 || type == ElementType::BF16;
  if (!(isWide || type == ElementType::F16) || chance(0.6))
    return 1;
  bool isHuge = chance(0.5);
  return std::ldexp(1, isWide ? (isHuge ? 100 : -100) : (isHuge ? 6 : -8));
}

std::vector<std::pair<int64_t, double>> Random::nonFinite(ElementType type,
                                                          int64_t count) {
  if (!isFloat(type) || count == 0 || chance(0.7))
    return {};
  bool hasInfinity = type != ElementType::F8E4M3;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double values[] = {kInfinity, -kInfinity,
                           std::numeric_limits<double>::quiet_NaN()};
  std::vector<std::pair<int64_t, double>> elements;
  for (int64_t left = integer(1, 3); left > 0; --left) {
    int64_t element = integer(0, count - 1);
    elements.emplace_back(element, values[hasInfinity ? integer(0, 2) : 2]);
  }
  return elements;
}

bool Random::addNonFinite(GuardedArray &array) {
  auto elements = nonFinite(array.type(), array.numElements());
  for (auto [element, value] : elements)
    array.store(element, value);
  return !elements.empty();
}

Pattern Random::pattern() {
  Pattern pattern;
  pattern.m = chance(0.7) ? oneOf({1, 2, 4, 5, 8, 10, 16, 32})
                          : integer(3, kMaxWindowUnits);
  pattern.n = chance(0.5) ? (pattern.m + 3) / 4 : integer(1, pattern.m);
  switch (integer(0, 3)) {
  case 0:
    pattern.bn = oneOf({2, 3, 4, 8, 16, 20, 32});
    break;
  case 1:
    pattern.bk = integer(1, 4);
    pattern.bn = chance(0.5) ? pattern.bk : integer(1, 9);
    break;
  }
  return pattern;
}

/// `packing` with lists of rows of a few panels, where some rows are left out.
static PanelPacking withLists(Random &random, PanelPacking packing,
                              const Pattern &pattern) {
  packing = {packing.panel, /*indexBits=*/8};
  packing.colInfo = packing.panel * random.integer(1, 4);
  while (packing.colInfo != 0 && !packing.verify(pattern))
    packing.colInfo -= packing.panel;
  return packing;
}

PanelPacking Random::packing(const Pattern &pattern) {
  PanelPacking packing;
  if (pattern.bn == 1) {
    packing.panel = oneOf({1, 3, 4, 8, 16, 16, 32, 48});
  } else if (chance(0.6)) {
    packing.panel = pattern.bn * integer(1, 3);
  } else {
    std::vector<int64_t> divisors;
    for (int64_t d = 1; d <= pattern.bn; ++d)
      if (pattern.bn % d == 0)
        divisors.push_back(d);
    packing.panel = oneOf(divisors);
  }
  int64_t least = std::max<int64_t>(1, pattern.indexBits());
  packing.indexBits = chance(0.5) ? least : integer(least, 8);
  if (chance(0.4)) {
    packing.indexRows = integer(1, 36);
    if (int64_t rows = pattern.n * integer(1, 3);
        chance(0.3) && rows > 1 && pattern.m <= PanelPacking::kMaxBits) {
      packing.indexBits = 0;
      packing.indexRows = rows;
    }
    do
      packing.chunkRows = integer(1, 8);
    while (packing.indexRows * pattern.bk % packing.chunkRows != 0);
    do
      packing.chunkColumns = integer(1, 4);
    while (packing.panel % packing.chunkColumns != 0);
  }
  if (chance(0.3))
    return withLists(*this, packing, pattern);
  return packing;
}

Layout Random::layout() {
  Layout layout;
  layout.strided = chance(0.4);
  if (layout.strided) {
    layout.offset = integer(0, 5);
    layout.rowGap = integer(0, 7);
  }
  if (chance(0.3))
    layout.edge = GuardedMemory::Edge::Front;
  return layout;
}

std::vector<uint8_t> Random::indices(const Pattern &pattern, int64_t k,
                                     int64_t n) {
  int64_t blocks = pattern.blockColumns(n);
  std::vector<uint8_t> indices(pattern.unitRows(k) * blocks);
  std::vector<uint8_t> units(pattern.m), kept(pattern.n);
  std::iota(units.begin(), units.end(), 0);
  for (int64_t window = 0; window < pattern.windows(k); ++window)
    for (int64_t block = 0; block < blocks; ++block) {
      // std::sample keeps the order.
      std::sample(units.begin(), units.end(), kept.begin(), pattern.n, engine);
      for (int64_t slot = 0; slot < pattern.n; ++slot)
        indices[(window * pattern.n + slot) * blocks + block] = kept[slot];
    }
  return indices;
}

int64_t Random::sizeOfK(const Pattern &pattern) {
  int64_t window = pattern.windowRows();
  int64_t most = std::max<int64_t>(1, 400 / window);
  if (chance(0.3))
    return window * integer(1, most);
  return integer(1, std::max<int64_t>(most * window, 8));
}

int64_t Random::sizeOfN(const Pattern &pattern) {
  if (chance(0.1))
    return 1;
  int64_t most = integer(1, 100);
  return chance(0.5) ? pattern.paddedColumns(most) : most;
}
