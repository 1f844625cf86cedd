// RUN: nm-opt %s --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --split-input-file 2>/dev/null

// Each function is named for the constraint in NMSums.td that it breaks.

func.func @c1_scalar(%p: tensor<4xf32>, %c: tensor<f32>) {
  // expected-error @+1 {{expected C to have rank at least 1, but got 'tensor<f32>'}}
  %r = nm.combine ins(%p : tensor<4xf32>) outs(%c : tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @c1_no_parts(%p: tensor<8x16xf32>, %c: tensor<8x16xf32>) {
  // expected-error @+1 {{expected partial sums to have rank 3, but got 'tensor<8x16xf32>'}}
  %r = nm.combine ins(%p : tensor<8x16xf32>) outs(%c : tensor<8x16xf32>) -> tensor<8x16xf32>
  return
}

// -----

func.func @c1_scalar_parts(%p: tensor<f32>, %c: tensor<8xf32>) {
  // expected-error @+1 {{expected partial sums to have rank 2, but got 'tensor<f32>'}}
  %r = nm.combine ins(%p : tensor<f32>) outs(%c : tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @c1_sizes(%p: memref<4x8x15xf32>, %c: memref<8x16xf32>) {
  // expected-error @+1 {{expected size of dim 2 of partial sums to be 16, but got 15}}
  nm.combine ins(%p : memref<4x8x15xf32>) outs(%c : memref<8x16xf32>)
  return
}

// -----

func.func @c1_parts_last(%p: tensor<8x16x4xf32>, %c: tensor<8x16xf32>) {
  // expected-error @+1 {{expected size of dim 1 of partial sums to be 8, but got 16}}
  %r = nm.combine ins(%p : tensor<8x16x4xf32>) outs(%c : tensor<8x16xf32>) -> tensor<8x16xf32>
  return
}

// -----

func.func @c1_too_many_parts(%p: tensor<1099511627777x8xf32>, %c: tensor<8xf32>) {
  // expected-error @+1 {{expected size of dim 0 of partial sums to be at most 1099511627776, but got 1099511627777}}
  %r = nm.combine ins(%p : tensor<1099511627777x8xf32>) outs(%c : tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @c2_narrow_parts(%p: tensor<4x8xf16>, %c: tensor<8xf16>) {
  // expected-error @+1 {{operand #0 must be}}
  %r = nm.combine ins(%p : tensor<4x8xf16>) outs(%c : tensor<8xf16>) -> tensor<8xf16>
  return
}

// -----

func.func @c2_float(%p: tensor<4x8xf32>, %c: tensor<8xi32>) {
  // expected-error @+1 {{expected C to have element type f32, f16 or bf16 for partial sums of 'f32', but got 'i32'}}
  %r = nm.combine ins(%p : tensor<4x8xf32>) outs(%c : tensor<8xi32>) -> tensor<8xi32>
  return
}

// -----

func.func @c2_integer(%p: tensor<4x8xi32>, %c: tensor<8xi8>) {
  // expected-error @+1 {{expected C to have element type i32 for partial sums of 'i32', but got 'i8'}}
  %r = nm.combine ins(%p : tensor<4x8xi32>) outs(%c : tensor<8xi8>) -> tensor<8xi8>
  return
}

// -----

func.func @c3_mixed(%p: memref<4x8xf32>, %c: tensor<8xf32>) {
  // expected-error @+1 {{expected all operands to be tensors or all to be memrefs}}
  %r = nm.combine ins(%p : memref<4x8xf32>) outs(%c : tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @c3_no_result(%p: tensor<4x8xf32>, %c: tensor<8xf32>) {
  // expected-error @+1 {{expected number of results to be 1 on tensors, but got 0}}
  nm.combine ins(%p : tensor<4x8xf32>) outs(%c : tensor<8xf32>)
  return
}
