//===- DrawMatrix.h - Random patterns and matrices for tests ----*- C++ -*-===//

#ifndef NM_TEST_UNIT_FORMAT_DRAWMATRIX_H
#define NM_TEST_UNIT_FORMAT_DRAWMATRIX_H

#include "nm/Format/Condensed.h"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace nm::test {

using Random = std::mt19937;

inline constexpr ElementType kAllTypes[] = {
    ElementType::F64,  ElementType::F32,    ElementType::F16,
    ElementType::BF16, ElementType::F8E4M3, ElementType::I64,
    ElementType::I32,  ElementType::I8,     ElementType::F8E5M2};

/// A dense matrix that owns its elements, n- or k-contiguous.
struct Matrix {
  ElementType type = ElementType::F32;
  int64_t k = 0, n = 0;
  int64_t strideK = 0, strideN = 0;
  std::vector<char> bytes;

  Matrix(ElementType type, int64_t k, int64_t n, bool kContiguous = false);

  DenseView view() const {
    return {bytes.data(), type, k, n, strideK, strideN};
  }
  int64_t offset(int64_t row, int64_t column) const {
    return row * strideK + column * strideN;
  }
  double at(int64_t row, int64_t column) const {
    return loadAsDouble(bytes.data(), type, offset(row, column));
  }
  void set(int64_t row, int64_t column, double value) {
    storeFromDouble(bytes.data(), type, offset(row, column), value);
  }
};

/// Expects the elements of `matrix` in `got`.
void expectElements(const Matrix &got, const Matrix &matrix);

/// Weights in condensed form that own their arrays.
struct Condensed {
  Pattern pattern;
  ElementType type;
  int64_t k, n;
  std::vector<char> values;
  std::vector<uint8_t> indices;

  Condensed(const Pattern &pattern, ElementType type, int64_t k, int64_t n);

  CondensedView view() const {
    return {values.data(), indices.data(), type, pattern, k, n};
  }
  double value(int64_t row, int64_t column) const {
    return loadAsDouble(values.data(), type,
                        row * pattern.paddedColumns(n) + column);
  }
};

int64_t draw(Random &random, int64_t least, int64_t most);
/// Any 1 <= N <= M <= 256, small M more often, and a block of up to 4 x 40.
Pattern drawPattern(Random &random);
ElementType drawType(Random &random);
/// A matrix that obeys `pattern`: a random number of units up to N in every
/// window, each with at least one non-zero, and -0.0 among the zeros.
Matrix drawMatrix(Random &random, const Pattern &pattern, ElementType type,
                  int64_t k, int64_t n);
/// A k that gives few windows and is mostly ragged, whatever the pattern.
int64_t drawK(Random &random, const Pattern &pattern);
/// Compresses a matrix that obeys `pattern`.
Condensed compressed(const Matrix &matrix, const Pattern &pattern);
/// What a failing case prints.
std::string describe(const Matrix &matrix, const Pattern &pattern);

} // namespace nm::test

#endif // NM_TEST_UNIT_FORMAT_DRAWMATRIX_H
