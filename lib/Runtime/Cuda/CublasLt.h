//===- CublasLt.h - Products of cuBLASLt ------------------------*- C++ -*-===//

#ifndef NM_LIB_RUNTIME_CUDA_CUBLASLT_H
#define NM_LIB_RUNTIME_CUDA_CUBLASLT_H

#include "Cuda/CudaDriver.h"
#include "nm/Support/CublasLtLibrary.h"

#include <cstdint>
#include <optional>

namespace nm::cuda {

/// A matrix as the library sees it, column-major: a row-major one is its
/// transpose. The enums are cuBLAS'.
struct ColumnMajorMatrix {
  const void *data;
  int type, op, leading;
  long long batch;
};

/// D[rows x columns] = epilogue(left * right), as the library sees it, or,
/// where it accumulates and has no epilogue, D += left * right.
struct ColumnMajorProduct {
  ColumnMajorMatrix left, right;
  int64_t rows, columns, k, batches;
  /// D, whose type and rows' distance `result` has.
  void *data;
  ColumnMajorMatrix result;
  int compute;
  /// A cublasLtEpilogue_t, and what it adds to each of D's columns.
  int64_t epilogue = 0;
  const void *bias = nullptr;
  /// Whether the sums are added to D.
  bool accumulate = false;
  /// Whether sums of 8-bit floats are left as the tensor cores make them.
  bool fastAccum = false;

  /// Whether the operands are integers, and sums are, of 32 bits.
  bool isOfIntegers() const;
  /// Whether the operands are integers, or floats of 8 or 16 bits, or may be
  /// rounded to TensorFloat-32.
  bool usesTensorCores() const;
};

/// cuBLASLt, which cuBLAS brings along.
class CublasLt {
public:
  /// That which `library`, cuBLAS, depends on; none where it depends on none.
  static std::optional<CublasLt> find(void *library);

  /// Queues the product on `stream`, for `handle`, cuBLAS'. Returns cuBLAS'
  /// status: that of a product which it has not, if there is no algorithm. The
  /// first product of its kind that uses the tensor cores waits while the
  /// fastest algorithm is looked for, unless `stream` is captured or the
  /// product accumulates.
  Result<int> multiply(const ContextScope &scope, void *handle,
                       const ColumnMajorProduct &product, Stream stream) const;

private:
  cublas::LtFunctions functions;
};

} // namespace nm::cuda

#endif // NM_LIB_RUNTIME_CUDA_CUBLASLT_H
