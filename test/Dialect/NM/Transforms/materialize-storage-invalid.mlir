// RUN: nm-opt %s --nm-materialize-storage --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-materialize-storage --split-input-file 2>/dev/null

func.func @broken_constant() -> tensor<2x2xf32> {
  // expected-error @+1 {{expected 'constant' to have at most 2 non-zeros in every 4 along k (pattern 2:4), but got 3 in column 1, k 0..3}}
  %w = arith.constant dense<[[1.0, 1.0], [0.0, 2.0], [0.0, 2.0], [3.0, 0.0]]> : tensor<4x2xf32, #nm.encoding<2:4>>
  %v, %i = nm.disassemble %w : tensor<4x2xf32, #nm.encoding<2:4>> -> tensor<2x2xf32>, tensor<2x2xi8>
  return %v : tensor<2x2xf32>
}

// -----

func.func @resource_of_another_size() -> tensor<2x2xf32> {
  // expected-error @+1 {{expected the resource 'short' to have the 32 bytes of tensor<4x2xf32, #nm.encoding<2:4>>, but got 8}}
  %w = arith.constant dense_resource<short> : tensor<4x2xf32, #nm.encoding<2:4>>
  %v, %i = nm.disassemble %w : tensor<4x2xf32, #nm.encoding<2:4>> -> tensor<2x2xf32>, tensor<2x2xi8>
  return %v : tensor<2x2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      short: "0x040000000000803F0000803F"
    }
  }
#-}

// -----

func.func @no_resource() -> tensor<2x2xf32> {
  // expected-error @+1 {{expected the resource 'absent' in the file's dialect_resources, but there is none}}
  %w = arith.constant dense_resource<absent> : tensor<4x2xf32, #nm.encoding<2:4>>
  %v, %i = nm.disassemble %w : tensor<4x2xf32, #nm.encoding<2:4>> -> tensor<2x2xf32>, tensor<2x2xi8>
  return %v : tensor<2x2xf32>
}

// -----

func.func @cast_weight(%w: tensor<4x2xf32>) -> tensor<2x2xf32> {
  // expected-error @+1 {{expected a weight with #nm.encoding<2:4> to be an argument of a function, a constant or what nm.compress gives, but it comes from 'tensor.cast'}}
  %c = tensor.cast %w : tensor<4x2xf32> to tensor<4x2xf32, #nm.encoding<2:4>>
  %v, %i = nm.disassemble %c : tensor<4x2xf32, #nm.encoding<2:4>> -> tensor<2x2xf32>, tensor<2x2xi8>
  return %v : tensor<2x2xf32>
}

// -----

func.func @not_a_weight(%w: tensor<64x48xf32, #nm.encoding<2:4>>) -> tensor<64x48xf32> {
  // expected-error @+1 {{expected no tensor encoding to be left where storage is materialized, but got 'tensor<64x48xf32, #nm.encoding<2:4>>'}}
  %r = tensor.cast %w : tensor<64x48xf32, #nm.encoding<2:4>> to tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}
