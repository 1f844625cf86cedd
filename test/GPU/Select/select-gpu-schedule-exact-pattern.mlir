// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="exact-pattern schedule=mma_sp" --split-input-file -verify-diagnostics=only-expected
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="exact-pattern schedule=wgmma_sp" --split-input-file 2>&1 | FileCheck %s --check-prefix=WGMMA
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="exact-pattern schedule=cublas" --split-input-file 2>&1 | FileCheck %s --check-prefix=CUBLAS
// RUN: not nm-opt %s --nm-to-sim="chip=sm_90a dense-fallback=false schedule=mma_sp" --split-input-file 2>&1 | FileCheck %s --check-prefix=SP
// RUN: not nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa dense-fallback=false schedule=mma_sp" --split-input-file 2>&1 | FileCheck %s --check-prefix=SP

// WGMMA: error: 'nm.spmm' op expected a schedule without zeros in place of pruned weights, as dense-fallback=false asks for, but got strategy wgmma_sp for the pattern 1:4
// CUBLAS: error: 'nm.spmm' op expected a schedule without zeros {{.*}} strategy cublas for the pattern 1:4
// SP: error: 'nm.spmm' op expected a schedule without zeros {{.*}} strategy mma_sp for the pattern 1:4
func.func @filled(%a: tensor<64x64xf16>, %v: tensor<16x64xf16>, %i: tensor<16x64xi8>, %c: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @below {{expected a schedule without zeros in place of pruned weights, as dense-fallback=false asks for, but got strategy mma_sp for the pattern 1:4}}
  %r = nm.spmm <1:4> ins(%a, %v, %i : tensor<64x64xf16>, tensor<16x64xf16>, tensor<16x64xi8>)
    outs(%c : tensor<64x64xf16>) -> tensor<64x64xf16>
  return %r : tensor<64x64xf16>
}

// -----

func.func @bytes(%a: tensor<64x64xf8E5M2>, %v: tensor<16x64xf8E5M2>, %i: tensor<16x64xi8>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @below {{strategy mma_sp for the pattern 2:8}}
  %r = nm.spmm <2:8> ins(%a, %v, %i : tensor<64x64xf8E5M2>, tensor<16x64xf8E5M2>, tensor<16x64xi8>)
    outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

// Windows that keep fewer than overlapping groups have would get zeros.
func.func @overlapping(%a: tensor<64x96xf16>, %v: tensor<48x64xf16>, %i: tensor<48x64xi8>, %c: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @below {{strategy mma_sp expected}}
  %r = nm.spmm <3:6> ins(%a, %v, %i : tensor<64x96xf16>, tensor<48x64xf16>, tensor<48x64xi8>)
    outs(%c : tensor<64x64xf16>) -> tensor<64x64xf16>
  return %r : tensor<64x64xf16>
}

// -----

// The schedule that an op comes with is held to the same.
func.func @given(%a: tensor<64x64xf16>, %v: tensor<16x64xf16>, %i: tensor<16x64xi8>, %c: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @below {{strategy wgmma_sp for the pattern 1:4}}
  %r = nm.spmm <1:4> schedule #nm.wgmma_sp<block = [64, 64, 64], warpgroup = [64, 64], stages = 3, split_k = 1>
    ins(%a, %v, %i : tensor<64x64xf16>, tensor<16x64xf16>, tensor<16x64xi8>)
    outs(%c : tensor<64x64xf16>) -> tensor<64x64xf16>
  return %r : tensor<64x64xf16>
}

// -----

// Nothing is filled up, integers have no infinities, and sums of split floats
// that are not finite are made again.
func.func @exact(%a: tensor<64x64xf16>, %v: tensor<32x64xf16>, %i: tensor<32x64xi8>, %c: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<64x64xf16>, tensor<32x64xf16>, tensor<32x64xi8>)
    outs(%c : tensor<64x64xf16>) -> tensor<64x64xf16>
  return %r : tensor<64x64xf16>
}
func.func @integers(%a: tensor<64x64xi8>, %v: tensor<16x64xi8>, %i: tensor<16x64xi8>, %c: tensor<64x64xi32>) -> tensor<64x64xi32> {
  %r = nm.spmm <1:4> ins(%a, %v, %i : tensor<64x64xi8>, tensor<16x64xi8>, tensor<16x64xi8>)
    outs(%c : tensor<64x64xi32>) -> tensor<64x64xi32>
  return %r : tensor<64x64xi32>
}
func.func @split_floats(%a: tensor<64x64xf32>, %v: tensor<16x64xf32>, %i: tensor<16x64xi8>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = nm.spmm <1:4> schedule #nm.wgmma_sp<block = [64, 64, 64], warpgroup = [64, 64], stages = 3, producers = 4, split_k = 1, splits = 3>
    ins(%a, %v, %i : tensor<64x64xf32>, tensor<16x64xf32>, tensor<16x64xi8>)
    outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
