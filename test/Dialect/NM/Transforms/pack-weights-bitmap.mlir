// RUN: nm-opt %s --nm-pack-weights --split-input-file | FileCheck %s

// Products of packed weights have windows of 32 rows.
// CHECK-LABEL: func.func @half.pack
// CHECK: = nm.pack <8:16> #nm.bitmap {{.*}} -> tensor<2x2x1024xf16>, tensor<2x2x256xi8>
// CHECK-LABEL: func.func @half(
// CHECK-SAME: %[[V:[^:]*]]: tensor<2x2x1024xf16> {nm.packed_values_of = 1 : i64}, %[[I:[^:]*]]: tensor<2x2x256xi8> {nm.packed_indices_of = 1 : i64}
// CHECK: nm.spmm <16:32> packing #nm.bitmap {{.*}} ins(%{{.*}}, %[[V]], %[[I]]
func.func @half(%a: tensor<4x144xf16>, %v: tensor<72x20xf16> {nm.values_of = 1 : i64}, %i: tensor<72x20xi8> {nm.indices_of = 1 : i64},
                %c: tensor<4x20xf32>) -> tensor<4x20xf32> {
  %r = nm.spmm <8:16> schedule #nm.mma_bitmap<block = [8, 32, 128], warp = [8, 32]>
    ins(%a, %v, %i : tensor<4x144xf16>, tensor<72x20xf16>, tensor<72x20xi8>)
    outs(%c : tensor<4x20xf32>) -> tensor<4x20xf32>
  return %r : tensor<4x20xf32>
}

// -----

// Constants are packed here. Column 0 keeps rows 1 and 2 of four, whose bits
// are those of the first lane's first word, bytes 1 and 2.
// CHECK-LABEL: func.func @constant
// CHECK-DAG: arith.constant dense<"0x00400000
// CHECK-DAG: arith.constant dense<"0x00010100
// CHECK: nm.spmm <16:32> packing #nm.bitmap
func.func @constant(%a: tensor<4x4xf16>, %c: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %v = arith.constant dense<[[2.0, 0.0], [3.0, 1.0]]> : tensor<2x2xf16>
  %i = arith.constant dense<[[1, 0], [2, 3]]> : tensor<2x2xi8>
  %r = nm.spmm <2:4> schedule #nm.mma_bitmap<block = [8, 16, 128], warp = [8, 16]>
    ins(%a, %v, %i : tensor<4x4xf16>, tensor<2x2xf16>, tensor<2x2xi8>)
    outs(%c : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// -----

// Of windows of 64 and 128 rows these are the windows, of which steps have
// four.
// CHECK-LABEL: func.func @bytes.pack
// CHECK: = nm.pack <20:128> #nm.bitmap {{.*}} -> tensor<2x3x1280xi8>, tensor<2x3x1024xi8>
// CHECK-LABEL: func.func @bytes(
// CHECK: nm.spmm <20:128> packing #nm.bitmap
func.func @bytes(%a: tensor<4x1100xi8>, %v: tensor<180x20xi8> {nm.values_of = 1 : i64}, %i: tensor<180x20xi8> {nm.indices_of = 1 : i64},
                 %c: tensor<4x20xi32>) -> tensor<4x20xi32> {
  %r = nm.spmm <20:128> schedule #nm.mma_bitmap<block = [8, 16, 512], warp = [8, 16]>
    ins(%a, %v, %i : tensor<4x1100xi8>, tensor<180x20xi8>, tensor<180x20xi8>)
    outs(%c : tensor<4x20xi32>) -> tensor<4x20xi32>
  return %r : tensor<4x20xi32>
}

// -----

// Weights that are kept anywhere: 32 columns and 128 rows of k, with room for
// 64 slots, and behind the bits the number of slots.
// CHECK-LABEL: func.func @anywhere.pack
// CHECK: = nm.pack <1:1> #nm.bitmap {{.*}} -> tensor<2x2x4096xf16>, tensor<2x2x528xi8>
// CHECK-LABEL: func.func @anywhere(
// CHECK: nm.spmm <1:1> packing #nm.bitmap
func.func @anywhere(%a: tensor<4x144xf16>, %v: tensor<144x40xf16> {nm.values_of = 1 : i64}, %i: tensor<144x40xi8> {nm.indices_of = 1 : i64},
                    %c: tensor<4x40xf32>) -> tensor<4x40xf32> {
  %r = nm.spmm <1:1> schedule #nm.mma_bitmap<block = [8, 32, 256], warp = [8, 32], stages = 2>
    ins(%a, %v, %i : tensor<4x144xf16>, tensor<144x40xf16>, tensor<144x40xi8>)
    outs(%c : tensor<4x40xf32>) -> tensor<4x40xf32>
  return %r : tensor<4x40xf32>
}
