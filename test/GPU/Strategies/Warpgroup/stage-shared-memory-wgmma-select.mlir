// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --canonicalize --cse | FileCheck %s

// Whole rows of A go by a tensor copy, to panels of 128 bytes; weights and
// selectors by bulk copies, of whole tiles. Whoever multiplies reads A without a
// fence of proxies.
// CHECK-LABEL: func.func @select
// CHECK: %[[A:.*]] = memref.alloc() : memref<64x256xi8, #nm.tile_layout<[128, 1], panels = [128, 8192], xor = [1:4 with 0:0 for 3]>, #gpu.address_space<workgroup>>
// CHECK: nm.copy <tensor> %{{.*}} to %[[A]]
// CHECK-NOT: unfilled
// CHECK: %[[VALUES:.*]] = memref.alloc() : memref<1x64x64xi8, #gpu.address_space<workgroup>>
// CHECK: nm.copy <bulk> %{{.*}} to %[[VALUES]]
// CHECK: %[[SELECTORS:.*]] = memref.alloc() : memref<1x16x2xi8, #gpu.address_space<workgroup>>
// CHECK: nm.copy <bulk> %{{.*}} to %[[SELECTORS]]
// CHECK: nm.await <block>
// CHECK-NOT: async_proxy
// CHECK: nm.spmm <2:8, block = 1x64> packing {{.*}} ins(%[[A]], %[[VALUES]], %[[SELECTORS]] :
func.func @select(%a: memref<64x256xi8>, %v: memref<1x64x64xi8>, %i: memref<1x16x2xi8>, %c: memref<64x64xi32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:8, block = 1x64> packing #nm.packing<panel = 64, index_bits = 4, index_rows = 4, tile_rows = 64>
      schedule #nm.wgmma_select<block = [64, 64, 256], warpgroup = [64, 64], stages = 3, producers = 4, packing = <panel = 64, index_bits = 4, index_rows = 4, tile_rows = 64>>
      ins(%a, %v, %i : memref<64x256xi8>, memref<1x64x64xi8>, memref<1x16x2xi8>)
      outs(%c : memref<64x64xi32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// What is behind the last row of A is not filled, for no sum of it is stored.
// CHECK-LABEL: func.func @open
// CHECK: nm.copy <tensor> {{.*}} unfilled 0
func.func @open(%a: memref<?x256xi8>, %v: memref<1x64x64xi8>, %i: memref<1x16x2xi8>, %c: memref<?x64xi32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:8, block = 1x64> packing #nm.packing<panel = 64, index_bits = 4, index_rows = 4, tile_rows = 64>
      schedule #nm.wgmma_select<block = [64, 64, 256], warpgroup = [64, 64], stages = 3, producers = 4, packing = <panel = 64, index_bits = 4, index_rows = 4, tile_rows = 64>>
      ins(%a, %v, %i : memref<?x256xi8>, memref<1x64x64xi8>, memref<1x16x2xi8>)
      outs(%c : memref<?x64xi32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// Of 3:8 runs of 32 bytes stand in panels of 128, too.
// CHECK-LABEL: func.func @three_of_eight
// CHECK: memref.alloc() : memref<64x256xi8, #nm.tile_layout<[128, 1], panels = [128, 8192], xor = [1:4 with 0:0 for 3]>, #gpu.address_space<workgroup>>
func.func @three_of_eight(%a: memref<64x256xi8>, %v: memref<1x96x64xi8>, %i: memref<1x24x2xi8>, %c: memref<64x64xi32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <3:8, block = 1x64> packing #nm.packing<panel = 64, index_bits = 4, index_rows = 4, tile_rows = 96, lane_words = 3>
      schedule #nm.wgmma_select<block = [64, 64, 256], warpgroup = [64, 64], stages = 3, producers = 4, packing = <panel = 64, index_bits = 4, index_rows = 4, tile_rows = 96, lane_words = 3>>
      ins(%a, %v, %i : memref<64x256xi8>, memref<1x96x64xi8>, memref<1x24x2xi8>)
      outs(%c : memref<64x64xi32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
