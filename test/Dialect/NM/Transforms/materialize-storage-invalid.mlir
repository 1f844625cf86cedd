// RUN: nm-opt %s --nm-materialize-storage --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-materialize-storage --split-input-file 2>/dev/null

func.func @broken_constant() -> tensor<2x2xf32> {
  // expected-error @+1 {{expected 'constant' to have at most 2 non-zeros in every 4 along k (pattern 2:4), but got 3 in column 1, k 0..3}}
  %w = arith.constant dense<[[1.0, 1.0], [0.0, 2.0], [0.0, 2.0], [3.0, 0.0]]> : tensor<4x2xf32, #nm.encoding<2:4>>
  %v, %i = nm.disassemble %w : tensor<4x2xf32, #nm.encoding<2:4>> -> tensor<2x2xf32>, tensor<2x2xi8>
  return %v : tensor<2x2xf32>
}

// -----

func.func @not_a_weight(%w: tensor<64x48xf32, #nm.encoding<2:4>>) -> tensor<64x48xf32> {
  // expected-error @+1 {{expected no tensor encoding to be left where storage is materialized, but got 'tensor<64x48xf32, #nm.encoding<2:4>>'}}
  %r = tensor.cast %w : tensor<64x48xf32, #nm.encoding<2:4>> to tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}
