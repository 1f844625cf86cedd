//===- CublasContract.cpp - Products of strided batches -------------------===//

#include "Cuda/Cublas.h"

#include "RecordedError.h"
#include "nm/Runtime/Export.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

using namespace nm;
using namespace nm::cuda;

namespace {
/// The distances of an operand's neighbours along two loops of batches, along
/// rows and along columns.
struct Strides {
  int64_t outer, inner, row, column;
};

/// What a product of strided batches multiplies.
struct StridedProduct {
  int64_t outer, inner;
  Strides ofA, ofB, ofC;

  /// Makes one loop of the batches of two where all operands allow it, and else
  /// the shorter loop the outer one.
  void orderBatches();
};

/// A matrix whose elements are contiguous along its rows, or, transposed, along
/// its columns.
struct Matrix {
  int64_t row;
  bool isTransposed;
};
} // namespace

void StridedProduct::orderBatches() {
  Strides *all[] = {&ofA, &ofB, &ofC};
  bool areOne = outer == 1 || inner == 1 ||
                std::all_of(std::begin(all), std::end(all), [&](Strides *each) {
                  return each->outer == each->inner * inner;
                });
  // The loop that is left has the distances of the faster one.
  bool isOuterLeft = areOne ? inner == 1 : inner < outer;
  if (isOuterLeft) {
    std::swap(outer, inner);
    for (Strides *each : all)
      std::swap(each->outer, each->inner);
  }
  if (!areOne)
    return;
  inner *= outer;
  outer = 1;
}

/// The matrix of such strides, if the library can read it. One of a single row
/// or column is both.
static std::optional<Matrix> findMatrix(const Strides &strides, int64_t rows,
                                        int64_t columns) {
  if (strides.column == 1 || columns <= 1) {
    int64_t row = rows <= 1 ? columns : strides.row;
    if (row >= columns)
      return Matrix{std::max<int64_t>(row, 1), false};
  }
  if (strides.row == 1 || rows <= 1) {
    int64_t row = columns <= 1 ? rows : strides.column;
    if (row >= rows)
      return Matrix{std::max<int64_t>(row, 1), true};
  }
  return std::nullopt;
}

/// The address of batch `i` of the outer loop.
static void *at(const void *data, ElementType type, int64_t stride, int64_t i) {
  return const_cast<char *>(static_cast<const char *>(data)) +
         stride * i * elementSize(type);
}

/// Queues a product for each batch of the outer loop.
static Refusal multiplyEach(const StridedProduct &strided,
                            const DenseProduct &product) {
  for (int64_t i = 0; i < strided.outer; ++i) {
    DenseProduct part = product;
    part.a = at(product.a, product.type, strided.ofA.outer, i);
    part.b = at(product.b, product.type, strided.ofB.outer, i);
    part.c = at(product.c, product.outputType, strided.ofC.outer, i);
    Refusal refusal = multiplyOrRecord(part);
    if (refusal.empty())
      continue;
    // Who makes the product instead would add to the batches before once more.
    if (i == 0 || !product.accumulate)
      return refusal;
    recordError(Error{"expected all batches of a product to be taken, but of "
                      "batch " +
                      std::to_string(i) + ": " + refusal});
    break;
  }
  return Refusal();
}

static Refusal multiply(StridedProduct strided, DenseProduct product) {
  std::optional<Matrix> a = findMatrix(strided.ofA, product.m, product.k),
                        b = findMatrix(strided.ofB, product.k, product.n),
                        c = findMatrix(strided.ofC, product.m, product.n);
  if (!a || !b || !c)
    return Refusal("expected matrices with contiguous rows or columns");
  strided.orderBatches();
  product.batches = strided.inner;
  product.batchOfA = strided.ofA.inner;
  product.batchOfB = strided.ofB.inner;
  product.batchOfC = strided.ofC.inner;
  product.rowOfA = a->row;
  product.rowOfB = b->row;
  product.rowOfC = c->row;
  product.transposeA = a->isTransposed;
  product.transposeB = b->isTransposed;
  product.transposeC = c->isTransposed;
  return multiplyEach(strided, product);
}

/// Bits of the argument `flags`, as of nmCublasTryMultiply.
static constexpr int64_t kAccumulate = 1, kAllowTF32 = 2;

extern "C" {

/// C += A · B, or C = A · B, of [m x k] by [k x n] matrices, for `outer` times
/// `inner` batches. The strides of A, B and C are those of the two loops of
/// batches, of rows and of columns, in elements. Returns 0 where the library
/// refuses the product and something else has to make it.
NM_RUNTIME_API int64_t nmCublasTryContract(
    int64_t m, int64_t n, int64_t k, int64_t outer, int64_t inner,
    const void *a, const void *b, void *c, int64_t type, int64_t outputType,
    int64_t outerOfA, int64_t innerOfA, int64_t rowOfA, int64_t columnOfA,
    int64_t outerOfB, int64_t innerOfB, int64_t rowOfB, int64_t columnOfB,
    int64_t outerOfC, int64_t innerOfC, int64_t rowOfC, int64_t columnOfC,
    int64_t flags) {
  DenseProduct product{};
  product.m = m;
  product.n = n;
  product.k = k;
  product.a = a;
  product.b = b;
  product.c = c;
  product.type = static_cast<ElementType>(type);
  product.outputType = static_cast<ElementType>(outputType);
  product.accumulate = (flags & kAccumulate) != 0;
  product.allowTF32 = (flags & kAllowTF32) != 0;
  StridedProduct strided{outer,
                         inner,
                         {outerOfA, innerOfA, rowOfA, columnOfA},
                         {outerOfB, innerOfB, rowOfB, columnOfB},
                         {outerOfC, innerOfC, rowOfC, columnOfC}};
  return multiply(strided, product).empty();
}
}
