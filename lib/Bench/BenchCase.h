//===- BenchCase.h - What is measured ---------------------------*- C++ -*-===//

#ifndef NM_LIB_BENCH_BENCHCASE_H
#define NM_LIB_BENCH_BENCHCASE_H

#include "nm/Support/ElementType.h"
#include "nm/Support/Error.h"
#include "nm/Support/Pattern.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nm {

/// The sizes of C[m x n] = A[m x k] * B[k x n].
struct ProductShape {
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;

  /// `256x4096x4096`.
  std::string str() const;
  /// Parses what `str` prints.
  static Result<ProductShape> parse(std::string_view text);
};

struct BenchCase {
  ProductShape shape;
  Pattern pattern;
  ElementType type = ElementType::F32;

  /// Whether the weights are read from memory, not from a cache, in each call:
  /// products of few rows are bound by that in use.
  bool isCold() const { return shape.m <= kMostColdRows; }
  static constexpr int64_t kMostColdRows = 16;

  /// The element type of C: products are summed in it.
  ElementType resultType() const {
    return type == ElementType::I8 ? ElementType::I32 : ElementType::F32;
  }
  /// Multiplications and additions with kept weights, those of padding
  /// included.
  double flops() const;
  /// The module that is compiled, with one function, @product(A, B).
  std::string moduleText() const;
};

/// Every shape with every pattern in every type.
std::vector<BenchCase> crossCases(const std::vector<ProductShape> &shapes,
                                  const std::vector<Pattern> &patterns,
                                  const std::vector<ElementType> &types);

/// A named list of cases.
struct Preset {
  const char *name;
  const char *help;
  std::vector<BenchCase> (*cases)();
};

const std::vector<Preset> &presets();
/// The cases of the preset, or an error that names those there are.
Result<std::vector<BenchCase>> presetCases(std::string_view name);

} // namespace nm

#endif // NM_LIB_BENCH_BENCHCASE_H
