//===- CublasLibrary.h - cuBLAS without its headers -------------*- C++ -*-===//

#ifndef NM_SUPPORT_CUBLASLIBRARY_H
#define NM_SUPPORT_CUBLASLIBRARY_H

#include "nm/Format/ElementType.h"
#include "nm/Support/Error.h"

#include <string>

namespace nm::cublas {

// The values of cublas_api.h and library_types.h.
inline constexpr int kNoTranspose = 0, kTranspose = 1;
// f32 throughout: TensorFloat-32 has a compute type of its own.
inline constexpr int kComputeF32 = 68, kComputeI32 = 72, kComputeTF32 = 77;
inline constexpr int kDefaultAlgorithm = -1;
inline constexpr int kStatusNotSupported = 15;

// Bits of cublasLtEpilogue_t.
inline constexpr int kEpilogueRelu = 2, kEpilogueBias = 4, kEpilogueGelu = 32;

/// The library's number of a type; negative where it has no products of it. Of
/// 8-bit floats cuBLASLt and cuSPARSELt alone have them.
int dataType(ElementType type);

/// Opens the library at `path`, or, where that is empty, what
/// NM_CUBLAS_LIBRARY names, else libcublas.so.13 or libcublas.so.12. It is
/// never closed. The error holds the loader's reasons alone.
Result<void *> openLibrary(const std::string &path = "");

/// What to say of a library without `function`.
Error missingFunction(const char *function);

} // namespace nm::cublas

#endif // NM_SUPPORT_CUBLASLIBRARY_H
