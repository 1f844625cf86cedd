//===- NMToSparseTensor.td - Encodings to structured levels -*- tablegen -*-===//

#ifndef NM_CONVERSION_NMTOSPARSETENSOR_TD
#define NM_CONVERSION_NMTOSPARSETENSOR_TD

include "mlir/Pass/PassBase.td"

def ConvertNMToSparseTensor : Pass<"convert-nm-to-sparse-tensor"> {
  let summary = "#nm.encoding to sparse_tensor's structured[n, m] levels";
  let description = [{
    The inverse of `convert-sparse-tensor-to-nm`, for upstream's sparsifier:
    types with an `#nm.encoding` get levels instead. A constant is a dense one
    that `sparse_tensor.convert` takes. `nm.assemble` becomes `nm.decompress` and
    such a conversion, and `nm.disassemble` one to a dense tensor, and
    `nm.compress`. Products that `convert-linalg-to-nm` has made stay as they
    are; run the pass before it.

    Levels have units of one element, so that an encoding with larger blocks is
    an error, and so is a k that is not a multiple of M. Upstream's sparsifier, of
    LLVM 22, takes constants where `dim` is 1, so that levels are in the order of
    dimensions.

    Before:
    ```mlir
    %r = linalg.matmul
      ins(%a, %w : tensor<?x64xf32>, tensor<64x48xf32, #nm.encoding<2:4>>)
      outs(%c : tensor<?x48xf32>) -> tensor<?x48xf32>
    ```
    After:
    ```mlir
    #weight = #sparse_tensor.encoding<{map = (k, n) -> (
      n : dense, k floordiv 4 : dense, k mod 4 : structured[2, 4])}>
    %r = linalg.matmul
      ins(%a, %w : tensor<?x64xf32>, tensor<64x48xf32, #weight>)
      outs(%c : tensor<?x48xf32>) -> tensor<?x48xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::nm::NMDialect",
                           "::mlir::sparse_tensor::SparseTensorDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // NM_CONVERSION_NMTOSPARSETENSOR_TD
