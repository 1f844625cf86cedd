//===- CompareOutputs.cpp - How far a result may be off -------------------===//

#include "CompareOutputs.h"

#include <algorithm>
#include <cmath>

using namespace nm;

double nm::test::toleranceOf(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return 2e-3;
  case ElementType::BF16:
    return 1e-2;
  case ElementType::I32:
    return 0;
  default:
    return 1e-5;
  }
}

/// Whether an infinite or NaN result is the one that was expected.
static bool isSameNonFinite(double got, double expected) {
  return std::isnan(expected) ? std::isnan(got) : got == expected;
}

static std::string describeElement(size_t i, double got, double expected) {
  return "element " + std::to_string(i) + " is " + std::to_string(got) +
         ", expected " + std::to_string(expected);
}

std::string nm::test::compareOutputs(const std::vector<double> &got,
                                     const std::vector<double> &expected,
                                     double tolerance) {
  double error = 0, norm = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    if (!std::isfinite(expected[i])) {
      if (!isSameNonFinite(got[i], expected[i]))
        return describeElement(i, got[i], expected[i]);
      continue;
    }
    error += (got[i] - expected[i]) * (got[i] - expected[i]);
    norm += expected[i] * expected[i];
  }
  // Written so that a NaN fails.
  if (!(std::sqrt(error) <= tolerance * std::sqrt(norm)))
    return "relative error " + std::to_string(std::sqrt(error / norm)) +
           " is above " + std::to_string(tolerance);
  double typical = std::sqrt(norm / std::max<size_t>(1, got.size()));
  for (size_t i = 0; i < got.size(); ++i)
    if (std::isfinite(expected[i]) &&
        !(std::fabs(got[i] - expected[i]) <=
          tolerance * (std::fabs(expected[i]) + typical)))
      return describeElement(i, got[i], expected[i]);
  return {};
}

std::string nm::test::compareOutputs(std::vector<double> got,
                                     std::vector<double> expected,
                                     const std::vector<double> &magnitudes,
                                     double tolerance) {
  // Away from zero: what is near the magnitude would otherwise cancel with it.
  for (size_t i = 0; i < magnitudes.size(); ++i) {
    double magnitude = std::copysign(magnitudes[i], expected[i]);
    got[i] += magnitude;
    expected[i] += magnitude;
  }
  return compareOutputs(got, expected, tolerance);
}

std::vector<double> nm::test::squared(std::vector<double> elements) {
  for (double &element : elements)
    element *= element;
  return elements;
}

bool nm::test::cancels(const std::vector<double> &sums,
                       const std::vector<double> &squaresOfTerms) {
  // Terms of random signs make the two equal on average.
  constexpr double kLeastShare = 1.0 / 16;
  double squares = 0, terms = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    if (!std::isfinite(sums[i]))
      continue;
    squares += sums[i] * sums[i];
    terms += squaresOfTerms[i];
  }
  return squares < kLeastShare * terms;
}
