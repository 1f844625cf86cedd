//===- BenchCase.h - What is measured ---------------------------*- C++ -*-===//

#ifndef NM_LIB_BENCH_BENCHCASE_H
#define NM_LIB_BENCH_BENCHCASE_H

#include "CaseEpilogue.h"
#include "nm/Format/ElementType.h"
#include "nm/Format/Pattern.h"
#include "nm/Runtime/Manifest.h"
#include "nm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nm {

/// The sizes of C[m x n] = A[m x k] * B[k x n].
struct ProductShape {
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;

  /// Sizes above this would overflow products of three of them.
  static constexpr int64_t kMaxSide = int64_t(1) << 20;

  /// The sizes of an array with m rows of so many columns; one row is a vector.
  std::vector<int64_t> rowsOf(int64_t columns) const;
  /// `256x4096x4096`.
  std::string str() const;
  /// Parses what `str` prints.
  static Result<ProductShape> parse(std::string_view text);
};

/// Weights of 4 or 8 bits, which stand for integers times the scales of their
/// columns and groups of k.
struct CaseQuantization {
  int64_t bits = 8;
  int64_t group = 128;

  /// `i4/128`.
  std::string str() const;
  static Result<CaseQuantization> parse(std::string_view text);
};

struct BenchCase {
  ProductShape shape;
  Pattern pattern;
  ElementType type = ElementType::F32;
  /// Options of nm-compile that say how the product is mapped, in place of the
  /// cost model; separated by spaces.
  std::string schedule = {};
  /// What the schedule stands for, where a list of them is compared.
  std::string step = {};
  /// Whether A comes as [k x m], the m of one k side by side.
  bool isMMajor = false;
  /// The element type of C, where it was chosen.
  std::optional<ElementType> givenResult = {};
  /// Whether sums of 8-bit floats may stay as the tensor cores make them.
  bool hasFastAccum = false;
  /// The weights' own form, where they are not of A's type.
  std::optional<CaseQuantization> quantization = {};
  CaseEpilogue epilogue = {};
  /// Whether the weights are a constant of the module, not an argument.
  bool isConstant = false;

  /// `256x4096x4096 8:32, block = 1x32 f32`, with `x i4/128` behind the type
  /// where weights are quantized, `constant` where they are, `m-major` where A
  /// is, `to f16` where C was chosen, `fast accumulation` where sums may have
  /// it, what is done with the sums, and the schedule where it has one.
  std::string str() const;
  /// `f16`, or `f16 x i4/128`.
  std::string typeText() const;
  /// Parses what `str` prints of a case without a schedule.
  static Result<BenchCase> parse(const std::string &text);
  /// Whether the weights are read from memory, not from a cache, in each call:
  /// products of few rows are bound by that in use. Of constants there is one
  /// copy, which caches keep; so they do with those of the libraries beside.
  bool isCold() const { return shape.m <= kMostColdRows && !isConstant; }
  static constexpr int64_t kMostColdRows = 64;

  /// The type of B [k x n], with its encoding.
  TensorType weightType() const;
  /// The seed that weights are drawn with, where other data have `seed`. Those
  /// of constants depend on none: kernels compiled beforehand have them.
  uint64_t weightSeed(uint64_t seed) const {
    return isConstant ? 1 : 2 * seed + 1;
  }
  /// The element type of C: that which products are summed in, unless chosen.
  ElementType resultType() const { return givenResult.value_or(sumType()); }
  ElementType sumType() const {
    return type == ElementType::I8 ? ElementType::I32 : ElementType::F32;
  }
  /// Multiplications and additions with kept weights, those of padding
  /// included.
  double flops() const;
  /// The share of weights that are zeros; of unstructured weights rounded to
  /// thousandths.
  double sparsity() const;
  /// Gives the case another shape. Unstructured weights keep their share of
  /// zeros.
  void takeShape(const ProductShape &other);
  /// What a call reads and writes at least: A, the kept weights with their
  /// indices in as few bits as they take, and C.
  double leastBytes() const;
  /// Whether C can be of `result`: where products of floats of at most 16 bits
  /// are summed in f32, of f32, f16 and bf16.
  bool canResultIn(ElementType result) const;
  /// The module that is compiled, with one function, @product(A, B, scales,
  /// bias, residual), of which B is there where it is no constant, and the last
  /// three where the case has them.
  Result<std::string> moduleText() const;
};

/// A type that cases can have.
Result<ElementType> parseBenchType(std::string_view text);

/// `EW`, `VW32` or `BW4x4`: what is pruned at once.
std::string granularityName(const Pattern &pattern);

/// Every shape with every pattern in every type.
std::vector<BenchCase> crossCases(const std::vector<ProductShape> &shapes,
                                  const std::vector<Pattern> &patterns,
                                  const std::vector<ElementType> &types);

} // namespace nm

#endif // NM_LIB_BENCH_BENCHCASE_H
