// RUN: nm-opt %s --split-input-file --verify-diagnostics --convert-sparse-tensor-to-nm
// RUN: not nm-opt %s --split-input-file --convert-sparse-tensor-to-nm > %t 2>&1

#batched = #sparse_tensor.encoding<{map = (b, i, j) -> (b : dense, i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])}>
// expected-error@+1 {{expected levels (n : dense, k floordiv M : dense, k mod M : structured[N, M]), but got}}
func.func private @other_levels(tensor<2x64x48xf32, #batched>)

// -----

#w = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])}>
// expected-error@+1 {{expected a weight with an N:M pattern to have a static shape}}
func.func private @dynamic(tensor<?x48xf32, #w>)

// -----

#w = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])}>
// expected-error@+1 {{expected element type f32, f16, bf16, i8, f8E4M3FN or f8E5M2}}
func.func private @element(tensor<64x48xf64, #w>)

// -----

#w = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])}>
func.func @values(%w: tensor<64x48xf32, #w>) -> memref<?xf32> {
  // expected-error@+1 {{has no counterpart for weights with #nm.encoding<2:4, dim = 1>: expected a contraction, or sparse_tensor.convert from or to a dense tensor}}
  %v = sparse_tensor.values %w : tensor<64x48xf32, #w> to memref<?xf32>
  return %v : memref<?xf32>
}
