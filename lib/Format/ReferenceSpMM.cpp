//===- ReferenceSpMM.cpp - Products to check results with -----------------===//

#include "nm/Format/ReferenceSpMM.h"

#include <algorithm>
#include <vector>

using namespace nm;

static double loadA(const ActivationView &a, int64_t row, int64_t k) {
  return loadAsDouble(a.data, a.type, row * a.strideM + k * a.strideK);
}

static double loadB(const DenseView &b, int64_t k, int64_t column) {
  return loadAsDouble(b.data, b.type, k * b.strideK + column * b.strideN);
}

void nm::referenceSpMM(const ActivationView &a, const CondensedView &b,
                       double *c) {
  if (b.pattern.isUnstructured()) {
    std::vector<char> dense(b.k * b.n * elementSize(b.type));
    decompress(b, dense.data(), b.n, 1);
    return referenceDense(
        a, DenseView::rowMajor(dense.data(), b.type, b.k, b.n), c);
  }
  const Pattern &p = b.pattern;
  int64_t blocks = p.blockColumns(b.n);
  int64_t columns = p.paddedColumns(b.n);
  for (int64_t i = 0; i < a.m; ++i)
    for (int64_t j = 0; j < b.n; ++j)
      for (int64_t r = 0; r < p.condensedRows(b.k); ++r) {
        int64_t window = r / p.keptRows();
        int64_t position = b.indices[r / p.bk * blocks + j / p.bn];
        int64_t k = window * p.windowRows() + position * p.bk + r % p.bk;
        if (k >= b.k)
          continue;
        c[i * b.n + j] +=
            loadA(a, i, k) * loadAsDouble(b.values, b.type, r * columns + j);
      }
}

void nm::referenceDense(const ActivationView &a, const DenseView &b,
                        double *c) {
  for (int64_t i = 0; i < a.m; ++i)
    for (int64_t j = 0; j < b.n; ++j)
      for (int64_t k = 0; k < b.k; ++k)
        c[i * b.n + j] += loadA(a, i, k) * loadB(b, k, j);
}

// A block of B is converted to double once for all rows of C and stays in L2.
static constexpr int64_t kBlockK = 64;
static constexpr int64_t kBlockN = 256;

#if defined(__x86_64__)
#define NM_VECTOR_CLONES                                                       \
  __attribute__((target_clones("avx512f", "arch=haswell", "default")))
#else
#define NM_VECTOR_CLONES
#endif

/// c[j] += sum over k < depth of a[k] * b[k * kBlockN + j]; depth is a multiple
/// of four, so that a load and a store of C serve four terms.
NM_VECTOR_CLONES
static void addRow(const double *a, int64_t depth, const double *b,
                   int64_t columns, double *c) {
  for (int64_t k = 0; k < depth; k += 4) {
    const double *b0 = b + k * kBlockN, *b1 = b0 + kBlockN;
    const double *b2 = b1 + kBlockN, *b3 = b2 + kBlockN;
    for (int64_t j = 0; j < columns; ++j)
      c[j] +=
          a[k] * b0[j] + a[k + 1] * b1[j] + a[k + 2] * b2[j] + a[k + 3] * b3[j];
  }
}

void nm::denseProduct(const ActivationView &a, const DenseView &b, double *c,
                      int64_t rowBegin, int64_t rowEnd) {
  std::vector<double> rowA(kBlockK), blockB(kBlockK * kBlockN);
  for (int64_t k0 = 0; k0 < b.k; k0 += kBlockK)
    for (int64_t j0 = 0; j0 < b.n; j0 += kBlockN) {
      int64_t columns = std::min(kBlockN, b.n - j0);
      int64_t depth = std::min(kBlockK, b.k - k0);
      // Zeros on both sides fill the depth up to a multiple of four.
      std::fill(rowA.begin(), rowA.end(), 0.0);
      std::fill(blockB.begin(), blockB.end(), 0.0);
      for (int64_t k = 0; k < depth; ++k)
        for (int64_t j = 0; j < columns; ++j)
          blockB[k * kBlockN + j] = loadB(b, k0 + k, j0 + j);
      for (int64_t i = rowBegin; i < rowEnd; ++i) {
        for (int64_t k = 0; k < depth; ++k)
          rowA[k] = loadA(a, i, k0 + k);
        addRow(rowA.data(), (depth + 3) / 4 * 4, blockB.data(), columns,
               c + i * b.n + j0);
      }
    }
}
