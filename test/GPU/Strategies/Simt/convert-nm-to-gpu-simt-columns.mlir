// RUN: nm-opt %s --nm-attach-chip=chip=sm_80 --convert-nm-to-gpu --canonicalize --cse --split-input-file | FileCheck %s

// A warp has a column. Its lanes load 32 weights and their rows, of a byte each,
// and the 32 behind before the ones in shared memory are multiplied, eight at a
// time; each lane has four neighbouring rows of m.
// CHECK-LABEL: func.func @own_columns
// CHECK: gpu.launch blocks({{.*}}) in ({{.*}} = %c1, {{.*}} threads({{.*}}) in (%{{.*}} = %c128
// CHECK: vector.load %{{.*}} {alignment = 8 : i64} : memref<4x1x8xi8>, vector<8xi8>
// CHECK: %[[SHARED:.*]] = memref.view {{.*}} to memref<256xi32, #gpu.address_space<workgroup>>
// CHECK: memref.load %{{.*}} : memref<1x1x164xf32>
// CHECK: vector.load %{{.*}} {alignment = 1 : i64} : memref<1x1x164xi8>, vector<1xi8>
// CHECK: scf.for
// CHECK: nvvm.bar.warp.sync
// CHECK: vector.store %{{.*}}, %[[SHARED]][%{{.*}}] {alignment = 8 : i64} : {{.*}}, vector<2xi32>
// CHECK: nvvm.bar.warp.sync
// CHECK: memref.load %{{.*}} : memref<1x1x164xf32>
// CHECK: scf.for
// CHECK-COUNT-4: vector.load %[[SHARED]][%{{.*}}] {alignment = 16 : i64} : {{.*}}, vector<4xi32>
// CHECK-COUNT-8: vector.load %{{.*}} {alignment = 16 : i64} : memref<{{.*}}xf32, strided<[1], offset: ?>>, vector<4xf32>
// CHECK-COUNT-32: llvm.intr.fma
// CHECK: scf.if
// CHECK: arith.select
// CHECK: vector.store %{{.*}} : memref<4x128xf32>, vector<4xf32>
func.func @own_columns(%a: memref<200x128xf32>, %v: memref<1x1x164xf32>, %i: memref<1x1x164xi8>, %l: memref<4x1x8xi8>, %c: memref<4x128xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%n) in (1) {
    linalg.fill ins(%zero : f32) outs(%c : memref<4x128xf32>)
    nm.spmm <1:1> transpose_a transpose_c packing #nm.columns<kept = 100, tile_rows = 200>
      schedule #nm.simt_columns<block = [128, 4, 200], warp = [128, 1], thread = [4, 1], slice_k = 1, kept = 100, tile_rows = 200>
      ins(%a, %v, %i : memref<200x128xf32>, memref<1x1x164xf32>, memref<1x1x164xi8>) lists(%l : memref<4x1x8xi8>)
      outs(%c : memref<4x128xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// Two warps share a column, whose sums meet in shared memory, where those of a
// row-major C are transposed, too. Rows that no access loads at once are 32
// apart; numbers of rows have two bytes.
// CHECK-LABEL: func.func @parts
// CHECK: gpu.launch blocks({{.*}}) in ({{.*}} = %c1, {{.*}} threads({{.*}}) in (%{{.*}} = %c512
// CHECK: arith.divui %{{.*}}, %c2_i32
// CHECK: vector.load %{{.*}} {alignment = 2 : i64} : memref<1x1x328xi8>, vector<2xi8>
// CHECK: memref.load %{{.*}} : memref<{{.*}}xf16, strided<[1], offset: ?>>
// CHECK: arith.extf
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK: arith.addf
// CHECK: scf.if
// CHECK: vector.store {{.*}} : memref<?x8xf32>, vector<1xf32>
func.func @parts(%a: memref<300x?xf16>, %v: memref<1x1x164xf16>, %i: memref<1x1x328xi8>, %l: memref<8x1x8xi8>, %c: memref<?x8xf32>) {
  scf.forall (%n) in (1) {
    nm.spmm <1:1> transpose_a packing #nm.columns<kept = 100, tile_rows = 300>
      schedule #nm.simt_columns<block = [64, 8, 300], warp = [64, 1], thread = [2, 1], slice_k = 2, kept = 100, tile_rows = 300>
      ins(%a, %v, %i : memref<300x?xf16>, memref<1x1x164xf16>, memref<1x1x328xi8>) lists(%l : memref<8x1x8xi8>)
      outs(%c : memref<?x8xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}
