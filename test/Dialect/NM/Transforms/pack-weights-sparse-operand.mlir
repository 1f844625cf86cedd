// RUN: nm-opt %s --nm-pack-weights --split-input-file | FileCheck %s

// A product of packed weights keeps two of each four rows, whatever the weights
// kept.
// CHECK-LABEL: func.func @eighth.pack
// CHECK: = nm.pack <1:8> #nm.sparse_operand<mma> {{.*}} -> tensor<2x2x512xf16>, tensor<2x2x128xi8>
// CHECK-LABEL: func.func @eighth(
// CHECK-SAME: %[[V:[^:]*]]: tensor<2x2x512xf16> {nm.packed_values_of = 1 : i64}, %[[I:[^:]*]]: tensor<2x2x128xi8> {nm.packed_indices_of = 1 : i64}
// CHECK: nm.spmm <2:4> packing #nm.sparse_operand<mma> {{.*}} ins(%{{.*}}, %[[V]], %[[I]]
func.func @eighth(%a: tensor<4x128xf16>, %v: tensor<16x20xf16> {nm.values_of = 1 : i64}, %i: tensor<16x20xi8> {nm.indices_of = 1 : i64},
                  %c: tensor<4x20xf32>) -> tensor<4x20xf32> {
  %r = nm.spmm <1:8> schedule #nm.mma_sp<block = [8, 32, 64], warp = [8, 32]>
    ins(%a, %v, %i : tensor<4x128xf16>, tensor<16x20xf16>, tensor<16x20xi8>)
    outs(%c : tensor<4x20xf32>) -> tensor<4x20xf32>
  return %r : tensor<4x20xf32>
}

// -----

// The padding of the last window and the last unit is left away: 22 windows of
// three rows have 66, and two units of 40 columns 80.
// CHECK-LABEL: func.func @padded(
// CHECK-SAME: %[[V:[^:]*]]: tensor<5x2x512xf16>
// CHECK-SAME: %[[I:[^:]*]]: tensor<5x2x128xi8>
// CHECK-DAG: %[[VALUES:.*]] = tensor.extract_slice %[[V]][0, 0, 0] [4, 1, 512] [1, 1, 1]
// CHECK-DAG: %[[INDICES:.*]] = tensor.extract_slice %[[I]][0, 0, 0] [4, 1, 128] [1, 1, 1]
// CHECK: nm.spmm <2:4> {{.*}} ins(%{{.*}}, %[[VALUES]], %[[INDICES]]
func.func @padded(%a: tensor<4x64xf16>, %v: tensor<22x80xf16> {nm.values_of = 1 : i64}, %i: tensor<22x2xi8> {nm.indices_of = 1 : i64},
                  %c: tensor<4x50xf32>) -> tensor<4x50xf32> {
  %r = nm.spmm <1:3, block = 1x40> schedule #nm.mma_sp<block = [8, 64, 64], warp = [8, 64]>
    ins(%a, %v, %i : tensor<4x64xf16>, tensor<22x80xf16>, tensor<22x2xi8>)
    outs(%c : tensor<4x50xf32>) -> tensor<4x50xf32>
  return %r : tensor<4x50xf32>
}

// -----

// Constants are packed here. Column 0 keeps rows 1 and 2, and column 1 row 3
// alone, to which row 2 is added.
// CHECK-LABEL: func.func @constant
// CHECK-DAG: arith.constant dense<"0x00400042{{0+}}00003C
// CHECK-DAG: arith.constant dense<"0x49
// CHECK: nm.spmm <2:4> packing #nm.sparse_operand<mma>
func.func @constant(%a: tensor<4x4xf16>, %c: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %v = arith.constant dense<[[2.0, 0.0], [3.0, 1.0]]> : tensor<2x2xf16>
  %i = arith.constant dense<[[1, 0], [2, 3]]> : tensor<2x2xi8>
  %r = nm.spmm <2:4> schedule #nm.mma_sp<block = [8, 16, 64], warp = [8, 16]>
    ins(%a, %v, %i : tensor<4x4xf16>, tensor<2x2xf16>, tensor<2x2xi8>)
    outs(%c : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}
