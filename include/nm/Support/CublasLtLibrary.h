//===- CublasLtLibrary.h - cuBLASLt without its headers ---------*- C++ -*-===//

#ifndef NM_SUPPORT_CUBLASLTLIBRARY_H
#define NM_SUPPORT_CUBLASLTLIBRARY_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace nm::cublas {

/// Functions of cublasLt.h, where descriptors are pointers and enums ints. Each
/// returns a cublasStatus_t.
struct LtFunctions {
  /// cublasLtHandle_t, for which a cublasHandle_t may stand.
  using Handle = void *;
  using Descriptor = void *;
  /// cublasLtMatmulHeuristicResult_t.
  struct Found {
    std::array<uint64_t, 8> algorithm;
    size_t workspaceBytes;
    int status;
    float waves;
    int reserved[4];
  };

  int (*createLayout)(Descriptor *, int type, uint64_t rows, uint64_t columns,
                      int64_t leading) = nullptr;
  int (*destroyLayout)(Descriptor) = nullptr;
  int (*setLayout)(Descriptor, int attribute, const void *, size_t) = nullptr;
  int (*createProduct)(Descriptor *, int compute, int scaleType) = nullptr;
  int (*destroyProduct)(Descriptor) = nullptr;
  int (*setProduct)(Descriptor, int attribute, const void *, size_t) = nullptr;
  int (*createPreference)(Descriptor *) = nullptr;
  int (*destroyPreference)(Descriptor) = nullptr;
  int (*setPreference)(Descriptor, int attribute, const void *,
                       size_t) = nullptr;
  int (*findAlgorithms)(Handle, Descriptor product, Descriptor a, Descriptor b,
                        Descriptor c, Descriptor d, Descriptor preference,
                        int most, Found *found, int *count) = nullptr;
  int (*multiply)(Handle, Descriptor product, const void *alpha, const void *a,
                  Descriptor ofA, const void *b, Descriptor ofB,
                  const void *beta, const void *c, Descriptor ofC, void *d,
                  Descriptor ofD, const void *algorithm, void *workspace,
                  size_t workspaceBytes, void *stream) = nullptr;

  /// Those of the library that `library`, cuBLAS, depends on; none where it
  /// depends on none.
  static std::optional<LtFunctions> find(void *library);
};

// cublasLtMatmulDescAttributes_t.
inline constexpr int kProductOpOfA = 3, kProductOpOfB = 4, kProductEpilogue = 7,
                     kProductBias = 8, kProductFastAccum = 25;
// cublasLtMatrixLayoutAttribute_t.
inline constexpr int kLayoutBatches = 5, kLayoutBatchStride = 6;
// cublasLtMatmulPreferenceAttributes_t; the alignments are of A, B, C and D.
inline constexpr int kPreferWorkspace = 1, kPreferReductions = 3,
                     kPreferAlignments[] = {5, 6, 7, 8};

} // namespace nm::cublas

#endif // NM_SUPPORT_CUBLASLTLIBRARY_H
