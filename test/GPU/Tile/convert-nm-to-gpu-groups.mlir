// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --convert-nm-to-gpu --canonicalize --cse | FileCheck %s

// Of 5 x 3 tiles, groups of two along m have six blocks: block 7 is the second
// of the second group, in row 2 + 1 and column 0. The last group has one row.
// CHECK-LABEL: func.func @groups
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C5:.*]] = arith.constant 5 : index
// CHECK-DAG: %[[C6:.*]] = arith.constant 6 : index
// CHECK-DAG: %[[C15:.*]] = arith.constant 15 : index
// CHECK: gpu.launch blocks(%[[BLOCK:[^,]*]], %{{.*}}, %{{.*}}) in (%{{.*}} = %[[C15]],
// CHECK: %[[GROUP:.*]] = arith.divui %[[BLOCK]], %[[C6]]
// CHECK: %[[FIRST:.*]] = arith.muli %[[GROUP]], %[[C2]]
// CHECK: %[[INSIDE:.*]] = arith.remui %[[BLOCK]], %[[C6]]
// CHECK: %[[LEFT:.*]] = arith.subi %[[C5]], %[[FIRST]]
// CHECK: %[[ROWS:.*]] = arith.minui %[[LEFT]], %[[C2]]
// CHECK-DAG: %[[COLUMN:.*]] = arith.divui %[[INSIDE]], %[[ROWS]]
// CHECK-DAG: %[[IN:.*]] = arith.remui %[[INSIDE]], %[[ROWS]]
// CHECK-DAG: %[[ROW:.*]] = arith.addi %[[FIRST]], %[[IN]]
// CHECK-DAG: %[[M:.*]] = arith.muli %[[ROW]],
// CHECK-DAG: %[[N:.*]] = arith.muli %[[COLUMN]],
// CHECK: memref.subview %{{.*}}[%[[M]], %[[N]]] [32, 64]
func.func @groups(%c: memref<160x192xf32>) {
  scf.forall (%m, %n) = (0, 0) to (160, 192) step (32, 64) {
    %a = memref.alloc() : memref<32x32xf32, #gpu.address_space<workgroup>>
    %v = memref.alloc() : memref<16x64xf32, #gpu.address_space<workgroup>>
    %i = memref.alloc() : memref<16x64xi8, #gpu.address_space<workgroup>>
    %ct = memref.subview %c[%m, %n] [32, 64] [1, 1] : memref<160x192xf32> to memref<32x64xf32, strided<[192, 1], offset: ?>>
    nm.spmm <2:4> transpose_a schedule #nm.simt<block = [32, 64, 32], warp = [32, 32], thread = [8, 4], group_m = 2>
      ins(%a, %v, %i : memref<32x32xf32, #gpu.address_space<workgroup>>, memref<16x64xf32, #gpu.address_space<workgroup>>, memref<16x64xi8, #gpu.address_space<workgroup>>)
      outs(%ct : memref<32x64xf32, strided<[192, 1], offset: ?>>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
