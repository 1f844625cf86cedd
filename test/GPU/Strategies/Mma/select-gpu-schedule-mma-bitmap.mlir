// RUN: nm-opt %s --nm-attach-chip=chip=sm_90 --nm-select-gpu-schedule --split-input-file 2>&1 | FileCheck %s
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90 --nm-select-gpu-schedule=dense-fallback=false --split-input-file 2>&1 | FileCheck %s --check-prefix=EXACT

// Few rows of elements, of which more than two of four may be kept, unless no
// zero may meet an activation.
// CHECK-LABEL: func.func @elements
// CHECK: schedule #nm.mma_bitmap<block = [8, {{.*}}], warp = [8, {{.*}}], stages = {{.*}}slice_k =
// CHECK-SAME: lanes put zeros in place of pruned weights, and pruned weights then turn infinite and NaN activations into NaN, which dense-fallback=false prevents
// EXACT-LABEL: func.func @elements
// EXACT-NOT: schedule #nm.mma_bitmap
func.func @elements(%a: tensor<8x8192xf16>, %v: tensor<4096x8192xf16>, %i: tensor<4096x8192xi8>, %c: tensor<8x8192xf16>) -> tensor<8x8192xf16> {
  %r = nm.spmm <8:16> ins(%a, %v, %i : tensor<8x8192xf16>, tensor<4096x8192xf16>, tensor<4096x8192xi8>)
    outs(%c : tensor<8x8192xf16>) -> tensor<8x8192xf16>
  return %r : tensor<8x8192xf16>
}

// -----

// Many rows are none of the strategy's.
// CHECK-LABEL: func.func @many
// CHECK-NOT: schedule #nm.mma_bitmap
func.func @many(%a: tensor<1024x4096xf16>, %v: tensor<2048x4096xf16>, %i: tensor<2048x4096xi8>, %c: tensor<1024x4096xf16>) -> tensor<1024x4096xf16> {
  %r = nm.spmm <8:16> ins(%a, %v, %i : tensor<1024x4096xf16>, tensor<2048x4096xf16>, tensor<2048x4096xi8>)
    outs(%c : tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  return %r : tensor<1024x4096xf16>
}

// -----

// Of i8 zeros change no sum. Rows up to 32 are one block's.
// CHECK-LABEL: func.func @bytes
// CHECK: schedule #nm.mma_bitmap<block = [32, {{.*}}], warp = [32, {{.*}}], stages = {{.*}}slice_k =
// EXACT-LABEL: func.func @bytes
// EXACT: schedule #nm.mma_bitmap
func.func @bytes(%a: tensor<32x8192xi8>, %v: tensor<4096x8192xi8>, %i: tensor<4096x8192xi8>, %c: tensor<32x8192xi32>) -> tensor<32x8192xi32> {
  %r = nm.spmm <16:32> ins(%a, %v, %i : tensor<32x8192xi8>, tensor<4096x8192xi8>, tensor<4096x8192xi8>)
    outs(%c : tensor<32x8192xi32>) -> tensor<32x8192xi32>
  return %r : tensor<32x8192xi32>
}
