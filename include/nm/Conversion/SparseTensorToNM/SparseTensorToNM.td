//===- SparseTensorToNM.td - Structured levels to encodings -*- tablegen -*-===//

#ifndef NM_CONVERSION_SPARSETENSORTONM_TD
#define NM_CONVERSION_SPARSETENSORTONM_TD

include "mlir/Pass/PassBase.td"

def ConvertSparseTensorToNM : Pass<"convert-sparse-tensor-to-nm"> {
  let summary = "sparse_tensor's structured[n, m] levels to #nm.encoding";
  let description = [{
    Upstream's sparse tensors write 2:4 as three levels of a matrix: the columns,
    windows of 4 rows, and `structured[2, 4]`, the place in a window. The types
    get the `#nm.encoding` of the pattern instead, in functions, blocks and ops,
    so that `convert-linalg-to-nm` takes the ops that multiply them.

    `sparse_tensor.convert` from a dense constant becomes a constant with the
    encoding, from any other dense tensor `nm.compress` and `nm.assemble`, and to
    a dense tensor `nm.disassemble` and `nm.decompress`. Another op of
    sparse_tensor on such a type is an error, and so is a structured level of
    another form: only the widths of positions and coordinates, which say how
    upstream stores a tensor, are dropped. Sparse tensors without structured
    levels stay as they are.

    Before:
    ```mlir
    #weight = #sparse_tensor.encoding<{map = (k, n) -> (
      n : dense, k floordiv 4 : dense, k mod 4 : structured[2, 4])}>
    %r = linalg.matmul
      ins(%a, %w : tensor<?x64xf32>, tensor<64x48xf32, #weight>)
      outs(%c : tensor<?x48xf32>) -> tensor<?x48xf32>
    ```
    After:
    ```mlir
    %r = linalg.matmul
      ins(%a, %w : tensor<?x64xf32>, tensor<64x48xf32, #nm.encoding<2:4>>)
      outs(%c : tensor<?x48xf32>) -> tensor<?x48xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::nm::NMDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // NM_CONVERSION_SPARSETENSORTONM_TD
