// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule=schedule=wgmma_sp --split-input-file 2>&1 | FileCheck %s
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule=dense-fallback=false --split-input-file 2>&1 | FileCheck %s --check-prefix=EXACT

// CHECK-LABEL: func.func @half
// CHECK: nm.spmm <2:4> transpose_a schedule #nm.wgmma_sp<block = [{{.*}}, 64], warpgroup = [{{.*}}], stages = {{[3-9]}}
// EXACT-LABEL: func.func @half
// EXACT: schedule #nm.wgmma_sp
func.func @half(%a: tensor<4096x4096xf16>, %v: tensor<2048x4096xf16>, %i: tensor<2048x4096xi8>, %c: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %r = nm.spmm <2:4> transpose_a ins(%a, %v, %i : tensor<4096x4096xf16>, tensor<2048x4096xf16>, tensor<2048x4096xi8>)
    outs(%c : tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  return %r : tensor<4096x4096xf16>
}

// -----

// Zeros stand beside the one of four that is kept, unless none may.
// CHECK-LABEL: func.func @quarter
// CHECK: schedule #nm.wgmma_sp
// CHECK-SAME: zeros fill up groups of four weights, and pruned weights then turn infinite and NaN activations into NaN, which dense-fallback=false prevents
// EXACT-LABEL: func.func @quarter
// EXACT-NOT: schedule #nm.wgmma_sp
func.func @quarter(%a: tensor<4096x4096xf16>, %v: tensor<1024x4096xf16>, %i: tensor<1024x4096xi8>, %c: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %r = nm.spmm <1:4> transpose_a ins(%a, %v, %i : tensor<4096x4096xf16>, tensor<1024x4096xf16>, tensor<1024x4096xi8>)
    outs(%c : tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  return %r : tensor<4096x4096xf16>
}
