// RUN: nm-opt %s --nm-attach-chip=chip=sm_90 --nm-select-gpu-schedule=schedule=mma_bitmap --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_90 --nm-select-gpu-schedule=schedule=mma_bitmap --split-input-file 2>/dev/null

func.func @pattern(%a: tensor<8x64xf16>, %v: tensor<62x64xf16>, %i: tensor<62x64xi8>, %c: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{strategy mma_bitmap expected a pattern that keeps at most 29 of each 32 rows for a bitmap, but 31:32 may keep 31}}
  %r = nm.spmm <31:32> ins(%a, %v, %i : tensor<8x64xf16>, tensor<62x64xf16>, tensor<62x64xi8>)
    outs(%c : tensor<8x64xf16>) -> tensor<8x64xf16>
  return %r : tensor<8x64xf16>
}

// -----

func.func @type(%a: tensor<8x64xf32>, %v: tensor<32x64xf32>, %i: tensor<32x64xi8>, %c: tensor<8x64xf32>) -> tensor<8x64xf32> {
  // expected-error @+1 {{strategy mma_bitmap expected weights of f16, bf16, i8, f8E4M3FN or f8E5M2 for a bitmap, but got f32}}
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<8x64xf32>, tensor<32x64xf32>, tensor<32x64xi8>)
    outs(%c : tensor<8x64xf32>) -> tensor<8x64xf32>
  return %r : tensor<8x64xf32>
}

// -----

func.func @vector(%a: tensor<64xf16>, %v: tensor<32x64xf16>, %i: tensor<32x64xi8>, %c: tensor<64xf16>) -> tensor<64xf16> {
  // expected-error @+1 {{strategy mma_bitmap expected a matrix, but got a vector}}
  %r = nm.spmv <2:4> ins(%a, %v, %i : tensor<64xf16>, tensor<32x64xf16>, tensor<32x64xi8>)
    outs(%c : tensor<64xf16>) -> tensor<64xf16>
  return %r : tensor<64xf16>
}

// -----

func.func @many_rows(%a: tensor<65x64xf16>, %v: tensor<32x64xf16>, %i: tensor<32x64xi8>, %c: tensor<65x64xf16>) -> tensor<65x64xf16> {
  // expected-error @+1 {{strategy mma_bitmap expected at most 64 rows of A, but got 65}}
  %r = nm.spmm <8:16> ins(%a, %v, %i : tensor<65x64xf16>, tensor<32x64xf16>, tensor<32x64xi8>)
    outs(%c : tensor<65x64xf16>) -> tensor<65x64xf16>
  return %r : tensor<65x64xf16>
}

// -----

func.func @odd(%a: tensor<8x64xi8>, %v: tensor<10x64xi8>, %i: tensor<10x64xi8>, %c: tensor<8x64xi32>) -> tensor<8x64xi32> {
  // expected-error @+1 {{strategy mma_bitmap expected a pattern that keeps an even number of each 32 rows for a bitmap of i8, but 5:32 may keep 5}}
  %r = nm.spmm <5:32> ins(%a, %v, %i : tensor<8x64xi8>, tensor<10x64xi8>, tensor<10x64xi8>)
    outs(%c : tensor<8x64xi32>) -> tensor<8x64xi32>
  return %r : tensor<8x64xi32>
}
