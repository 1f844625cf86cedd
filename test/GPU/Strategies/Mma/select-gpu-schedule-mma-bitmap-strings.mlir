// RUN: nm-opt %s --convert-linalg-to-nm --nm-materialize-storage --nm-attach-chip=chip=sm_90a --nm-fit-windows --nm-select-gpu-schedule --split-input-file 2>&1 | FileCheck %s

// Eight rows of weights that are loaded: what is not zero is read.
// CHECK: m = 8, n = 4096, k = 4096, f16: strategy mma_bitmap on sm_90; {{.*}}; lanes put zeros in place of pruned weights, {{.*}}; zeros are skipped, 50.0 % of the weights are kept
// CHECK-LABEL: func.func @half
// CHECK: nm.spmm <1:1> {{.*}}schedule #nm.mma_bitmap<block = [8, 32, 4096], warp = [8, 32], stages = 2, split_k = 1, cluster_k = 1, slice_k = {{[0-9]+}}>
func.func @half(%a: tensor<8x4096xf16>, %b: tensor<4096x4096xf16, #nm.encoding<unstructured, kept = 8388608>>, %c: tensor<8x4096xf16>) -> tensor<8x4096xf16> {
  %r = linalg.matmul ins(%a, %b : tensor<8x4096xf16>, tensor<4096x4096xf16, #nm.encoding<unstructured, kept = 8388608>>) outs(%c : tensor<8x4096xf16>) -> tensor<8x4096xf16>
  return %r : tensor<8x4096xf16>
}

// -----

// Many rows are dense.
// CHECK-LABEL: func.func @many
// CHECK-NOT: schedule #nm.mma_bitmap
func.func @many(%a: tensor<512x4096xf16>, %b: tensor<4096x4096xf16, #nm.encoding<unstructured, kept = 8388608>>, %c: tensor<512x4096xf16>) -> tensor<512x4096xf16> {
  %r = linalg.matmul ins(%a, %b : tensor<512x4096xf16>, tensor<4096x4096xf16, #nm.encoding<unstructured, kept = 8388608>>) outs(%c : tensor<512x4096xf16>) -> tensor<512x4096xf16>
  return %r : tensor<512x4096xf16>
}
