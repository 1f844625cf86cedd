// RUN: nm-opt %s --convert-linalg-to-nm --nm-materialize-storage --nm-attach-chip=chip=sm_90a --nm-fit-windows --nm-select-gpu-schedule --split-input-file 2>/dev/null | FileCheck %s
// RUN: nm-opt %s --convert-linalg-to-nm --nm-materialize-storage --nm-attach-chip=chip=sm_90a --nm-fit-windows --nm-select-gpu-schedule --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: m = 1, n = 4096, k = 4096, f16: strategy gemv_columns on sm_90; {{.*}}; zeros stand where gaps between weights are long, and at the ends of columns, {{.*}}; zeros are skipped, 50.0 % of the weights are kept
// REMARK: m = 1, n = 4096, k = 4096, f16: strategy gemv_columns on sm_90; {{.*}}; zeros are skipped, 2.4 % of the weights are kept
// REMARK: m = 1, n = 64, k = 64, f16: strategy gemv on sm_90

// One row of weights that are loaded: there is room for all of k, and what half
// of them takes is estimated.
// CHECK-LABEL: func.func @half
// CHECK: nm.spmm <1:1> {{.*}}schedule #nm.gemv_columns<block = [1, {{[0-9]+}}, 4096], warp = [1, 32], thread = [1, 1], stages = {{[0-9]+}}, slice_k = {{[0-9]+}}, {{.*}}steps = 256, gap_bits = {{2|4}}>
// CHECK-NOT: nm.ell_steps
func.func @half(%a: tensor<1x4096xf16>, %b: tensor<4096x4096xf16, #nm.encoding<unstructured, kept = 8388608>>, %c: tensor<1x4096xf32>) -> tensor<1x4096xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<1x4096xf16>, tensor<4096x4096xf16, #nm.encoding<unstructured, kept = 8388608>>) outs(%c : tensor<1x4096xf32>) -> tensor<1x4096xf32>
  return %r : tensor<1x4096xf32>
}

// -----

// Where few are kept, gaps are long, and rows take no more.
// CHECK-LABEL: func.func @few
// CHECK: nm.spmm <1:1> {{.*}}schedule #nm.gemv_columns<{{.*}}gap_bits = {{8|16}}>
func.func @few(%a: tensor<1x4096xf16>, %b: tensor<4096x4096xf16, #nm.encoding<unstructured, kept = 400000>>, %c: tensor<1x4096xf32>) -> tensor<1x4096xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<1x4096xf16>, tensor<4096x4096xf16, #nm.encoding<unstructured, kept = 400000>>) outs(%c : tensor<1x4096xf32>) -> tensor<1x4096xf32>
  return %r : tensor<1x4096xf32>
}

// -----

// With rows in place of gaps, four words of A are loaded at once from banks of
// their own.
// CHECK-LABEL: func.func @eight_rows
// CHECK: nm.spmm <1:1> {{.*}}schedule #nm.gemv_columns<block = [8, {{[0-9]+}}, 8192], warp = [8, 32], thread = [8, 1], stages = 1, {{.*}}gap_bits = 16>
func.func @eight_rows(%a: tensor<8x8192xf16>, %b: tensor<8192x8192xf16, #nm.encoding<unstructured, kept = 6710886>>, %c: tensor<8x8192xf32>) -> tensor<8x8192xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<8x8192xf16>, tensor<8192x8192xf16, #nm.encoding<unstructured, kept = 6710886>>) outs(%c : tensor<8x8192xf32>) -> tensor<8x8192xf32>
  return %r : tensor<8x8192xf32>
}

// -----

// Weights that come with each call would be packed then.
// CHECK-LABEL: func.func @each_call
// CHECK-NOT: gemv_columns
func.func @each_call(%a: tensor<1x64xf16>, %v: tensor<1x900xf16>, %i: tensor<1x512xi8>, %c: tensor<1x64xf32>) -> tensor<1x64xf32> {
  %r = nm.spmm <unstructured, kept = 900> ins(%a, %v, %i : tensor<1x64xf16>, tensor<1x900xf16>, tensor<1x512xi8>) outs(%c : tensor<1x64xf32>) -> tensor<1x64xf32>
  return %r : tensor<1x64xf32>
}
