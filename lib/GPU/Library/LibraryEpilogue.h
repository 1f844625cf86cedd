//===- LibraryEpilogue.h - Epilogues that cuBLASLt has ----------*- C++ -*-===//

#ifndef NM_LIB_GPU_LIBRARY_LIBRARYEPILOGUE_H
#define NM_LIB_GPU_LIBRARY_LIBRARYEPILOGUE_H

#include "nm/Dialect/NM/IR/NM.h"

#include <optional>

namespace mlir::nm {

/// An epilogue of cublasLtMatmul.
struct LibraryEpilogue {
  /// The cublasLtEpilogue_t: bits of nm/Support/CublasLibrary.h, none where
  /// sums are rounded to D's type and that is all.
  int64_t kind = 0;
  /// What is added to the rows of C, one element for each column; null where
  /// nothing is.
  Value bias;
};

/// The epilogue of cublasLtMatmul that does what that of `op` does, if there is
/// one: a bias, ReLU, or GELU by its tanh approximation, which is cuBLASLt's
/// (cuBLAS documentation, "cublasLtEpilogue_t"), or a bias and either. Of 8-bit
/// floats, whose D is f32 or of 16 bits, the rounding to the latter.
///
/// The library adds a bias to columns of a column-major D, one element for each
/// of D's rows. Row-major C is D^T, so that its bias runs along n; that of a
/// transposed C would have to run along m, and there is none.
std::optional<LibraryEpilogue> findLibraryEpilogue(SparseProductOpInterface op);

} // namespace mlir::nm

#endif // NM_LIB_GPU_LIBRARY_LIBRARYEPILOGUE_H
