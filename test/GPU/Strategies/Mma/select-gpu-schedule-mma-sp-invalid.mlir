// RUN: nm-opt %s --nm-attach-chip=chip=sm_90 --nm-select-gpu-schedule=schedule=mma_sp --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_90 --nm-select-gpu-schedule=schedule=mma_sp --split-input-file 2>/dev/null

func.func @pattern(%a: tensor<64x64xf16>, %v: tensor<32x64xf16>, %i: tensor<32x64xi8>, %c: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @+1 {{strategy mma_sp expected a pattern that keeps at most 2 of each 4 rows for a sparse operand, but 4:8 may keep 4}}
  %r = nm.spmm <4:8> ins(%a, %v, %i : tensor<64x64xf16>, tensor<32x64xf16>, tensor<32x64xi8>)
    outs(%c : tensor<64x64xf16>) -> tensor<64x64xf16>
  return %r : tensor<64x64xf16>
}

// -----

func.func @type(%a: tensor<64x64xf32>, %v: tensor<32x64xf32>, %i: tensor<32x64xi8>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @+1 {{strategy mma_sp expected weights of f16, bf16, i8, f8E4M3FN or f8E5M2 for a sparse operand, but got f32}}
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<64x64xf32>, tensor<32x64xf32>, tensor<32x64xi8>)
    outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

func.func @vector(%a: tensor<64xf16>, %v: tensor<32x64xf16>, %i: tensor<32x64xi8>, %c: tensor<64xf16>) -> tensor<64xf16> {
  // expected-error @+1 {{strategy mma_sp expected a matrix, but got a vector}}
  %r = nm.spmv <2:4> ins(%a, %v, %i : tensor<64xf16>, tensor<32x64xf16>, tensor<32x64xi8>)
    outs(%c : tensor<64xf16>) -> tensor<64xf16>
  return %r : tensor<64xf16>
}

// -----

func.func @m_major_bytes(%a: tensor<64x64xi8>, %v: tensor<32x64xi8>, %i: tensor<32x64xi8>, %c: tensor<64x64xi32>) -> tensor<64x64xi32> {
  // expected-error @+1 {{strategy mma_sp expected a row-major A, for no instruction transposes i8}}
  %r = nm.spmm <2:4> transpose_a ins(%a, %v, %i : tensor<64x64xi8>, tensor<32x64xi8>, tensor<32x64xi8>)
    outs(%c : tensor<64x64xi32>) -> tensor<64x64xi32>
  return %r : tensor<64x64xi32>
}

// -----

func.func @k_major_f8(%a: tensor<64x64xf8E5M2>, %v: tensor<32x64xf8E5M2>, %i: tensor<32x64xi8>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @+1 {{strategy mma_sp expected a row-major A, for no instruction transposes f8E5M2}}
  %r = nm.spmm <2:4> transpose_a ins(%a, %v, %i : tensor<64x64xf8E5M2>, tensor<32x64xf8E5M2>, tensor<32x64xi8>)
    outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
