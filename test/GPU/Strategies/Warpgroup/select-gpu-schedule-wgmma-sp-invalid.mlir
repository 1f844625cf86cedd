// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule=schedule=wgmma_sp --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule=schedule=wgmma_sp --split-input-file 2>/dev/null

func.func @pattern(%a: tensor<64x64xf16>, %v: tensor<32x64xf16>, %i: tensor<32x64xi8>, %c: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @+1 {{strategy wgmma_sp expected a pattern that keeps at most 2 of each 4 rows for a sparse operand, but 4:8 may keep 4}}
  %r = nm.spmm <4:8> transpose_a ins(%a, %v, %i : tensor<64x64xf16>, tensor<32x64xf16>, tensor<32x64xi8>)
    outs(%c : tensor<64x64xf16>) -> tensor<64x64xf16>
  return %r : tensor<64x64xf16>
}

// -----

func.func @odd(%a: tensor<64x63xf16>, %v: tensor<32x64xf16>, %i: tensor<32x64xi8>, %c: tensor<63x64xf16>) -> tensor<63x64xf16> {
  // expected-error @+1 {{strategy wgmma_sp expected rows of A of an even m, which it copies}}
  %r = nm.spmm <2:4> transpose_a ins(%a, %v, %i : tensor<64x63xf16>, tensor<32x64xf16>, tensor<32x64xi8>)
    outs(%c : tensor<63x64xf16>) -> tensor<63x64xf16>
  return %r : tensor<63x64xf16>
}

// -----

func.func @odd_row_major(%a: tensor<64x63xf16>, %v: tensor<32x64xf16>, %i: tensor<32x64xi8>, %c: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @+1 {{strategy wgmma_sp expected rows of A of an even k, which it copies}}
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<64x63xf16>, tensor<32x64xf16>, tensor<32x64xi8>)
    outs(%c : tensor<64x64xf16>) -> tensor<64x64xf16>
  return %r : tensor<64x64xf16>
}
