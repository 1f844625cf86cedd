// RUN: nm-opt %s --nm-attach-chip=chip=sm_90 --nm-select-gpu-schedule=schedule=mma_sp --split-input-file 2>&1 | FileCheck %s
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90 --nm-select-gpu-schedule=dense-fallback=false --split-input-file 2>&1 | FileCheck %s --check-prefix=EXACT
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90 --nm-select-gpu-schedule="schedule=mma_sp<pairs=true>" --split-input-file 2>&1 | FileCheck %s --check-prefix=PAIRS

// CHECK-LABEL: func.func @half
// CHECK: nm.spmm <2:4> schedule #nm.mma_sp<block = [{{.*}}, 64], warp = [{{.*}}]
// EXACT-LABEL: func.func @half
// EXACT: schedule #nm.mma_sp
func.func @half(%a: tensor<4096x4096xf16>, %v: tensor<2048x4096xf16>, %i: tensor<2048x4096xi8>, %c: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<4096x4096xf16>, tensor<2048x4096xf16>, tensor<2048x4096xi8>)
    outs(%c : tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  return %r : tensor<4096x4096xf16>
}

// -----

// Zeros stand beside the one of four that is kept, unless none may.
// CHECK-LABEL: func.func @quarter
// CHECK: schedule #nm.mma_sp
// CHECK-SAME: zeros fill up groups of four weights, and pruned weights then turn infinite and NaN activations into NaN, which dense-fallback=false prevents
// EXACT-LABEL: func.func @quarter
// EXACT-NOT: schedule #nm.mma_sp
func.func @quarter(%a: tensor<4096x4096xf16>, %v: tensor<1024x4096xf16>, %i: tensor<1024x4096xi8>, %c: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %r = nm.spmm <1:4> ins(%a, %v, %i : tensor<4096x4096xf16>, tensor<1024x4096xf16>, tensor<1024x4096xi8>)
    outs(%c : tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  return %r : tensor<4096x4096xf16>
}

// -----

// Blocks that have a multiprocessor each take two steps of each slice at once,
// where k is long.
// CHECK-LABEL: func.func @long
// CHECK: schedule #nm.mma_sp<block = [8, 32, 1024], warp = [8, 32], stages = 3, split_k = 1, cluster_k = 1, slice_k = 8>
// EXACT-LABEL: func.func @long
// The form of wgmma_sp has blocks of 64 columns, so that parts of k are blocks.
// PAIRS-LABEL: func.func @long
// PAIRS: schedule #nm.mma_sp<block = [8, 64, {{.*}}], warp = [8, 64], {{.*}}slice_k = 8, pairs = true>
func.func @long(%a: tensor<4x11008xf16>, %v: tensor<5504x4096xf16>, %i: tensor<5504x4096xi8>, %c: tensor<4x4096xf32>) -> tensor<4x4096xf32> {
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<4x11008xf16>, tensor<5504x4096xf16>, tensor<5504x4096xi8>)
    outs(%c : tensor<4x4096xf32>) -> tensor<4x4096xf32>
  return %r : tensor<4x4096xf32>
}

// -----

// Sums of integers are exact.
// CHECK-LABEL: func.func @integers
// CHECK-NOT: promote
// CHECK: return
func.func @integers(%a: tensor<8x65536xi8>, %v: tensor<32768x256xi8>, %i: tensor<32768x8xi8>, %c: tensor<8x256xi32>) -> tensor<8x256xi32> {
  %r = nm.spmm <2:4, block = 1x32> ins(%a, %v, %i : tensor<8x65536xi8>, tensor<32768x256xi8>, tensor<32768x8xi8>)
    outs(%c : tensor<8x256xi32>) -> tensor<8x256xi32>
  return %r : tensor<8x256xi32>
}

// -----

// More of those than multiprocessors have two stages, so that two blocks share a
// multiprocessor.
// CHECK-LABEL: func.func @wide
// EXACT-LABEL: func.func @wide
// PAIRS-LABEL: func.func @wide
// PAIRS: schedule #nm.mma_sp<block = [8, 64, 512], warp = [8, 64], stages = 2, split_k = 1, cluster_k = 1, slice_k = 8, pairs = true>
func.func @wide(%a: tensor<1x4096xf16>, %v: tensor<2048x28672xf16>, %i: tensor<2048x28672xi8>, %c: tensor<1x28672xf32>) -> tensor<1x28672xf32> {
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<1x4096xf16>, tensor<2048x28672xf16>, tensor<2048x28672xi8>)
    outs(%c : tensor<1x28672xf32>) -> tensor<1x28672xf32>
  return %r : tensor<1x28672xf32>
}

// -----

// Blocks of 64 columns where each multiprocessor has one.
// EXACT-LABEL: func.func @one_block_each
// EXACT: schedule #nm.mma_sp<block = [16, 64, 512], warp = [16, 64], stages = 3, split_k = 1, cluster_k = 1, slice_k = 8>
func.func @one_block_each(%a: tensor<16x8192xf16>, %v: tensor<4096x8192xf16>, %i: tensor<4096x8192xi8>, %c: tensor<16x8192xf16>) -> tensor<16x8192xf16> {
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<16x8192xf16>, tensor<4096x8192xf16>, tensor<4096x8192xi8>) outs(%c : tensor<16x8192xf16>) -> tensor<16x8192xf16>
  return %r : tensor<16x8192xf16>
}

// -----

// EXACT-LABEL: func.func @two_waves
// EXACT: schedule #nm.mma_sp<block = [16, 48, 256], warp = [16, 48]
func.func @two_waves(%a: tensor<16x8192xf16>, %v: tensor<4096x8512xf16>, %i: tensor<4096x8512xi8>, %c: tensor<16x8512xf16>) -> tensor<16x8512xf16> {
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<16x8192xf16>, tensor<4096x8512xf16>, tensor<4096x8512xi8>) outs(%c : tensor<16x8512xf16>) -> tensor<16x8512xf16>
  return %r : tensor<16x8512xf16>
}

// -----

// Of 8-bit operands, too.
// EXACT-LABEL: func.func @bytes_of_one_block_each
// EXACT: schedule #nm.mma_sp<block = [16, 64, 1024], warp = [16, 64], stages = 3, split_k = 1, cluster_k = 1, slice_k = 8>
func.func @bytes_of_one_block_each(%a: tensor<16x8192xi8>, %v: tensor<4096x8192xi8>, %i: tensor<4096x8192xi8>, %c: tensor<16x8192xi32>) -> tensor<16x8192xi32> {
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<16x8192xi8>, tensor<4096x8192xi8>, tensor<4096x8192xi8>) outs(%c : tensor<16x8192xi32>) -> tensor<16x8192xi32>
  return %r : tensor<16x8192xi32>
}
