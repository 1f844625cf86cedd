//===- Check.cpp - Comparing results with the reference -------------------===//

#include "Check.h"

#include "RunReference.h"
#include "nm/Support/Progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

using namespace nm;

static bool areSame(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

/// What `value` is in `type`, where it may be too large.
static double roundTo(ElementType type, double value) {
  uint64_t memory = 0;
  storeFromDouble(&memory, type, 0, value);
  return loadAsDouble(&memory, type, 0);
}

/// How far `got`, of `type`, is from `expected`: 0 for the same infinity or for
/// NaN twice, and infinity where one of them alone is finite.
static double errorOf(double got, double expected, ElementType type) {
  if (areSame(got, expected) ||
      (!std::isfinite(got) && areSame(got, roundTo(type, expected))))
    return 0;
  double error = std::fabs(got - expected);
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

Difference nm::compareTensors(const Tensor &result, const Tensor &reference) {
  Difference difference;
  double squaredError = 0, squaredNorm = 0, worst = 0;
  for (int64_t i = 0, e = result.elements(); i < e; ++i) {
    double got = loadAsDouble(result.data, result.type, i);
    double expected = loadAsDouble(reference.data, reference.type, i);
    double error = errorOf(got, expected, result.type);
    squaredError += error * error;
    // What is not finite says nothing of the size of the others.
    if (std::isfinite(expected))
      squaredNorm += expected * expected;
    if (error > worst) {
      worst = error;
      difference.worst = i;
      difference.worstGot = got;
      difference.worstExpected = expected;
    }
  }
  difference.error = std::sqrt(squaredError);
  difference.norm = std::sqrt(squaredNorm);
  if (squaredError != 0)
    difference.relativeError = std::sqrt(squaredError / squaredNorm);
  return difference;
}

double nm::defaultTolerance(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return 1e-12;
  case ElementType::F32:
    return 1e-5;
  case ElementType::F16:
    return 2e-3;
  case ElementType::BF16:
    return 1e-2;
  case ElementType::F8E4M3:
    return 6e-2;
  case ElementType::F8E5M2:
    return 1.2e-1;
  case ElementType::I64:
  case ElementType::I32:
  case ElementType::I8:
    return 0;
  }
  return 0;
}

/// `[3, 17]` for the row-major position `flat`.
static std::string positionText(int64_t flat, const Shape &shape) {
  std::string text;
  Shape strides = rowMajorStrides(shape);
  for (size_t d = 0; d < shape.size(); ++d) {
    text += (d ? ", " : "") + std::to_string(flat / strides[d]);
    flat %= strides[d];
  }
  return "[" + text + "]";
}

/// Results of so few elements may be small by chance, where terms of their sums
/// cancel. Rounding the terms then moves them by more than the tolerance, which
/// no kernel can help.
static constexpr int64_t kFewElements = 64;
/// What the norm of a result is at least of that of its terms where they do not
/// cancel.
static constexpr double kUncancelled = 0.25;

/// The norm of the terms that `reference`, result `i`, is summed of: what it
/// moves by when the inputs move, relative to that.
static Result<double> measureTerms(const Module &module,
                                   const Function &function,
                                   const Inputs &inputs, size_t i,
                                   const Tensor &reference) {
  // What terms move by may cancel as well, but not again and again.
  constexpr uint64_t kPerturbations = 4;
  double terms = 0;
  for (uint64_t seed = 1; seed <= kPerturbations; ++seed) {
    Result<std::vector<Buffer>> moved =
        runReference(module, function, inputs, seed);
    if (!moved)
      return moved.error();
    double distance = compareTensors((*moved)[i].tensor(), reference).error;
    if (std::isfinite(distance))
      terms = std::max(terms, distance / kPerturbation);
  }
  return terms;
}

namespace {
/// A comparison, and what it is held to.
struct Verdict {
  Difference difference;
  double tolerance = 0;
  /// The norm of the terms, where it was measured.
  double terms = 0;

  // Written so that a NaN fails.
  bool isClose() const { return difference.relativeError <= tolerance; }
  bool isCloseToTerms() const {
    return difference.error <= tolerance * kUncancelled * terms;
  }
};
} // namespace

static void printVerdict(const Verdict &verdict, size_t i,
                         const Function &function, const Shape &shape) {
  const Difference &difference = verdict.difference;
  bool passes = verdict.isClose() || verdict.isCloseToTerms();
  std::printf("check: result %zu of @%s: %s, relative error %.3g, "
              "tolerance %.3g\n",
              i, function.name().c_str(), passes ? "passed" : "FAILED",
              std::fabs(difference.relativeError), verdict.tolerance);
  if (passes && !verdict.isClose())
    std::printf("  within the tolerance of its terms, which cancel: they are "
                "%.3g times as large\n",
                verdict.terms / difference.norm);
  if (!passes)
    std::printf("  worst at %s: expected %.9g, but got %.9g\n",
                positionText(difference.worst, shape).c_str(),
                difference.worstExpected, difference.worstGot);
}

Result<bool> nm::checkResults(const Module &module, const Function &function,
                              const Inputs &inputs,
                              const std::vector<Tensor> &results,
                              std::optional<double> tolerance) {
  Result<std::vector<Buffer>> reference = [&] {
    Progress progress("running the reference of @" + function.name());
    return runReference(module, function, inputs);
  }();
  if (!reference)
    return reference.error();
  bool allPass = true;
  for (size_t i = 0; i < results.size(); ++i) {
    const Tensor &expected = (*reference)[i].tensor();
    if (expected.shape != results[i].shape)
      return Error{"result " + std::to_string(i) + " of @" + function.name() +
                   ": expected the reference to give " + results[i].str() +
                   ", but got " + expected.str()};
    Verdict verdict{compareTensors(results[i], expected),
                    tolerance ? *tolerance : defaultTolerance(results[i].type)};
    if (!verdict.isClose() && !tolerance &&
        results[i].elements() <= kFewElements) {
      Result<double> terms =
          measureTerms(module, function, inputs, i, expected);
      if (!terms)
        return terms.error();
      verdict.terms = *terms;
    }
    allPass &= verdict.isClose() || verdict.isCloseToTerms();
    printVerdict(verdict, i, function, results[i].shape);
  }
  return allPass;
}
