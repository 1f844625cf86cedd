// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-tile-to-gpu-blocks --canonicalize --cse --split-input-file | FileCheck %s

// Blocks of k have whole groups: two of the four for each.
// CHECK-LABEL: func.func @blocks
// CHECK: scf.forall (%{{.*}}, %[[N:.*]]) = (0, 0) to (16, 64) step (16, 32)
// CHECK: %[[BLOCK:.*]] = tensor.extract_slice %arg3[0, %[[N]]] [4, 32] [1, 1] : tensor<4x64xf16> to tensor<4x32xf16>
// CHECK: scf.for %[[K:.*]] = %c0 to %c256 step %c128
// CHECK: %[[GROUP:.*]] = affine.apply #{{.*}}(%[[K]])
// CHECK: %[[SCALES:.*]] = tensor.extract_slice %[[BLOCK]][%[[GROUP]], 0] [2, 32] [1, 1] : tensor<4x32xf16> to tensor<2x32xf16>
// CHECK: nm.spmm {{.*}} scales(%[[SCALES]] : tensor<2x32xf16>)
func.func @blocks(%a: tensor<16x256xf16>, %v: tensor<4x4x256xi8>, %i: tensor<4x4x128xi8>, %s: tensor<4x64xf16>, %c: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %r = nm.spmm <2:4> packing #nm.sparse_operand<mma, bits = 4> schedule #nm.mma_sp<block = [16, 32, 128], warp = [16, 32], bits = 4> quantization <bits = 4, group = 64>
    ins(%a, %v, %i : tensor<16x256xf16>, tensor<4x4x256xi8>, tensor<4x4x128xi8>)
    scales(%s : tensor<4x64xf16>) outs(%c : tensor<16x64xf32>) -> tensor<16x64xf32>
  return %r : tensor<16x64xf32>
}

// -----

// Three parts of 640 rows, of which the last ends with 320: tiles of all start
// with groups.
// CHECK-LABEL: func.func @parts
// CHECK: scales(%{{.*}} : tensor<{{.*}}x32xf16>)
func.func @parts(%a: tensor<16x1600xf16>, %v: tensor<2x25x256xi8>, %i: tensor<2x25x128xi8>, %s: tensor<13x32xf16>, %c: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %r = nm.spmm <2:4> packing #nm.sparse_operand<mma, bits = 4> schedule #nm.mma_sp<block = [16, 32, 128], warp = [16, 32], split_k = 3, bits = 4> quantization <bits = 4, group = 128>
    ins(%a, %v, %i : tensor<16x1600xf16>, tensor<2x25x256xi8>, tensor<2x25x128xi8>)
    scales(%s : tensor<13x32xf16>) outs(%c : tensor<16x32xf32>) -> tensor<16x32xf32>
  return %r : tensor<16x32xf32>
}
