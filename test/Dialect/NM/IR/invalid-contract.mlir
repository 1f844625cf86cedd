// RUN: nm-opt %s --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --split-input-file 2>/dev/null

// Each function is named for the constraint in NMContractions.td that it breaks.

func.func @c1_two_maps(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %c: tensor<4x6xf32>) {
  // expected-error @+1 {{expected 3 maps, of A, B and C, but got 2}}
  %r = nm.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>]
    ins(%a, %b : tensor<4x8xf32>, tensor<8x6xf32>) outs(%c : tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @c1_other_loops(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %c: tensor<4x6xf32>) {
  // expected-error @+1 {{expected a map of B from 3 loops to some of them, but got affine_map<(d0, d1) -> (d0, d1)>}}
  %r = nm.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(k, n) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<4x8xf32>, tensor<8x6xf32>) outs(%c : tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @c1_sum_of_loops(%a: tensor<4xf32>, %b: tensor<8x6xf32>, %c: tensor<4x6xf32>) {
  // expected-error @+1 {{expected a map of A from 3 loops to some of them, but got affine_map<(d0, d1, d2) -> (d0 + d2)>}}
  %r = nm.contract indexing_maps = [affine_map<(m, n, k) -> (m + k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<4xf32>, tensor<8x6xf32>) outs(%c : tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @c1_rank(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %c: tensor<6xf32>) {
  // expected-error @+1 {{expected a map of C with 1 results, one for each dimension, but got affine_map<(d0, d1, d2) -> (d0, d1)>}}
  %r = nm.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<4x8xf32>, tensor<8x6xf32>) outs(%c : tensor<6xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @c2_of_a_alone(%a: tensor<4x8x2xf32>, %b: tensor<8x6xf32>, %c: tensor<4x6xf32>) {
  // expected-error @+1 {{expected every loop to be one of A, B and C, or of two of them, and some of A and B alone}}
  %r = nm.contract indexing_maps = [affine_map<(m, n, k, l) -> (m, k, l)>, affine_map<(m, n, k, l) -> (k, n)>, affine_map<(m, n, k, l) -> (m, n)>]
    ins(%a, %b : tensor<4x8x2xf32>, tensor<8x6xf32>) outs(%c : tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @c2_without_k(%a: tensor<4xf32>, %b: tensor<6xf32>, %c: tensor<4x6xf32>) {
  // expected-error @+1 {{expected every loop to be one of A, B and C, or of two of them, and some of A and B alone}}
  %r = nm.contract indexing_maps = [affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>]
    ins(%a, %b : tensor<4xf32>, tensor<6xf32>) outs(%c : tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @c3_operands(%a: tensor<4x8xf32>, %b: tensor<8x6xf16>, %c: tensor<4x6xf32>) {
  // expected-error @+1 {{expected A and B of one element type, but got 'f32' and 'f16'}}
  %r = nm.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<4x8xf32>, tensor<8x6xf16>) outs(%c : tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @c3_result(%a: tensor<4x8xbf16>, %b: tensor<8x6xbf16>, %c: tensor<4x6xf16>) {
  // expected-error @+1 {{expected C of element type f32 or 'bf16', but got 'f16'}}
  %r = nm.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<4x8xbf16>, tensor<8x6xbf16>) outs(%c : tensor<4x6xf16>) -> tensor<4x6xf16>
  return
}

// -----

func.func @c4_sizes(%a: tensor<4x8xf32>, %b: tensor<9x6xf32>, %c: tensor<4x6xf32>) {
  // expected-error @+1 {{expected size of dim 0 of B to be 8, but got 9}}
  %r = nm.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<4x8xf32>, tensor<9x6xf32>) outs(%c : tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @c5_arithmetic(%a: tensor<4x8xf16>, %b: tensor<8x6xf16>, %c: tensor<4x6xf32>) {
  // expected-error @+1 {{expected arithmetic f32 of operands of 'f16', but got tf32}}
  %r = nm.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    arithmetic <tf32> ins(%a, %b : tensor<4x8xf16>, tensor<8x6xf16>) outs(%c : tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @c6_mixed(%a: memref<4x8xf32>, %b: tensor<8x6xf32>, %c: tensor<4x6xf32>) {
  // expected-error @+1 {{expected}}
  %r = nm.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : memref<4x8xf32>, tensor<8x6xf32>) outs(%c : tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}
