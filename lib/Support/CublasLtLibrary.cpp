//===- CublasLtLibrary.cpp - cuBLASLt without its headers -----------------===//

#include "nm/Support/CublasLtLibrary.h"

#include <type_traits>

#include <dlfcn.h>

using namespace nm::cublas;

std::optional<LtFunctions> LtFunctions::find(void *library) {
  LtFunctions functions;
  // A library's dependencies are searched, too.
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        dlsym(library, name));
    return function != nullptr;
  };
  bool isThere =
      find(functions.createLayout, "cublasLtMatrixLayoutCreate") &&
      find(functions.destroyLayout, "cublasLtMatrixLayoutDestroy") &&
      find(functions.setLayout, "cublasLtMatrixLayoutSetAttribute") &&
      find(functions.createProduct, "cublasLtMatmulDescCreate") &&
      find(functions.destroyProduct, "cublasLtMatmulDescDestroy") &&
      find(functions.setProduct, "cublasLtMatmulDescSetAttribute") &&
      find(functions.createPreference, "cublasLtMatmulPreferenceCreate") &&
      find(functions.destroyPreference, "cublasLtMatmulPreferenceDestroy") &&
      find(functions.setPreference, "cublasLtMatmulPreferenceSetAttribute") &&
      find(functions.findAlgorithms, "cublasLtMatmulAlgoGetHeuristic") &&
      find(functions.multiply, "cublasLtMatmul");
  return isThere ? std::optional(functions) : std::nullopt;
}
