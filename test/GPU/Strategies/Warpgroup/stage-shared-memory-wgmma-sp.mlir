// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --canonicalize --cse | FileCheck %s

// Rows of A go to swizzled panels of 64 columns; packed weights and their
// metadata are copied as they are. wgmma reads all of it by the async proxy.
// CHECK-LABEL: func.func @tile
// CHECK-SAME: %[[A:[^:]*]]: memref<64x128xf16>, %[[V:[^:]*]]: memref<2x1x2048xf16>, %[[I:[^:]*]]: memref<2x1x512xi8>
// CHECK: %[[AS:.*]] = memref.alloc() : memref<64x128xf16, #nm.tile_layout<[64, 1], panels = [64, 4096], xor = [1:3 with 0:0 for 3]>, #gpu.address_space<workgroup>>
// CHECK: %[[T0:.*]] = nm.copy <direct> %[[A]] to %[[AS]]
// CHECK: %[[VS:.*]] = memref.alloc() : memref<2x1x2048xf16, strided<[2048, 2048, 1]>, #gpu.address_space<workgroup>>
// CHECK: %[[T1:.*]] = nm.copy <direct> %[[V]] to %[[VS]]
// CHECK: %[[IS:.*]] = memref.alloc() : memref<2x1x512xi8, strided<[512, 512, 1]>, #gpu.address_space<workgroup>>
// CHECK: %[[T2:.*]] = nm.copy <direct> %[[I]] to %[[IS]]
// CHECK: %[[GROUP:.*]] = nm.group %[[T0]], %[[T1]], %[[T2]]
// CHECK: nm.await <block> async_proxy %[[GROUP]]
// CHECK: nm.spmm <2:4> transpose_a packing #nm.sparse_operand<wgmma>
// CHECK-SAME: ins(%[[AS]], %[[VS]], %[[IS]] :
func.func @tile(%a: memref<64x128xf16>, %v: memref<2x1x2048xf16>, %i: memref<2x1x512xi8>, %c: memref<128x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:4> transpose_a packing #nm.sparse_operand<wgmma> schedule #nm.wgmma_sp<block = [128, 128, 64], warpgroup = [128, 64], stages = 3>
      ins(%a, %v, %i : memref<64x128xf16>, memref<2x1x2048xf16>, memref<2x1x512xi8>)
      outs(%c : memref<128x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// Producers copy a box of A and parts of the weights, through the proxy that
// wgmma reads by. A tile at the end has fewer rows and columns.
// CHECK-LABEL: func.func @producers
// CHECK-SAME: %[[A:[^:]*]]: memref<?x64xf16>, %[[V:[^:]*]]: memref<?x1x2048xf16>, %[[I:[^:]*]]: memref<?x1x512xi8>
// CHECK: %[[AS:.*]] = memref.alloc() : memref<128x64xf16, #nm.tile_layout<[64, 1], panels = [64, 8192], xor = [1:3 with 0:0 for 3]>, #gpu.address_space<workgroup>>
// CHECK: %[[T0:.*]] = nm.copy <tensor> %[[A]] to %[[AS]]
// CHECK: %[[T1:.*]] = nm.copy <bulk> %[[V]] to %[[VS:.*]] : memref<?x1x2048xf16> to memref<2x1x2048xf16,
// CHECK: %[[T2:.*]] = nm.copy <bulk> %[[I]] to %[[IS:.*]] : memref<?x1x512xi8> to memref<2x1x512xi8,
// CHECK: %[[GROUP:.*]] = nm.group %[[T0]], %[[T1]], %[[T2]]
// CHECK: nm.await <block> %[[GROUP]]
// CHECK: nm.spmm <2:4> packing #nm.sparse_operand<wgmma_pairs>
// CHECK-SAME: ins(%[[AS]], %[[VS]], %[[IS]] :
func.func @producers(%a: memref<?x64xf16>, %v: memref<?x1x2048xf16>, %i: memref<?x1x512xi8>, %c: memref<?x?xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:4> packing #nm.sparse_operand<wgmma_pairs> schedule #nm.wgmma_sp<block = [128, 128, 64], warpgroup = [128, 64], stages = 3, producers = 4>
      ins(%a, %v, %i : memref<?x64xf16>, memref<?x1x2048xf16>, memref<?x1x512xi8>)
      outs(%c : memref<?x?xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// The last tile of k has fewer rows of it, but a step of weights.
// CHECK-LABEL: func.func @producers_end
// CHECK-SAME: %[[A:[^:]*]]: memref<128x?xf16, strided<[512, 1]>>, %[[V:[^:]*]]: memref<2x?x2048xf16>, %[[I:[^:]*]]: memref<2x?x512xi8>
// CHECK: nm.copy <tensor> %[[A]] to
// CHECK: %[[VSTEP:.*]] = memref.cast %[[V]] : memref<2x?x2048xf16> to memref<2x1x2048xf16>
// CHECK: nm.copy <bulk> %[[VSTEP]] to
// CHECK: %[[ISTEP:.*]] = memref.cast %[[I]] : memref<2x?x512xi8> to memref<2x1x512xi8>
// CHECK: nm.copy <bulk> %[[ISTEP]] to
func.func @producers_end(%a: memref<128x?xf16, strided<[512, 1]>>, %v: memref<2x?x2048xf16>, %i: memref<2x?x512xi8>, %c: memref<128x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:4> packing #nm.sparse_operand<wgmma_pairs> schedule #nm.wgmma_sp<block = [128, 128, 64], warpgroup = [128, 64], stages = 3, producers = 4>
      ins(%a, %v, %i : memref<128x?xf16, strided<[512, 1]>>, memref<2x?x2048xf16>, memref<2x?x512xi8>)
      outs(%c : memref<128x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// Of splits, a slot has three panels of A for 64 rows, and of each step of
// weights three of values and one of metadata.
// CHECK-LABEL: func.func @splits
// CHECK: memref.alloc() : memref<64x384xbf16, #nm.tile_layout<[64, 1], panels = [64, 4096], xor = [1:3 with 0:0 for 3]>, #gpu.address_space<workgroup>>
// CHECK: nm.copy <tensor>
// CHECK: nm.copy <bulk> {{.*}} to memref<2x1x6144xbf16,
// CHECK: nm.copy <bulk> {{.*}} to memref<2x1x512xi8,
func.func @splits(%a: memref<64x384xbf16>, %v: memref<2x1x6144xbf16>, %i: memref<2x1x512xi8>, %c: memref<128x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:4> transpose_a packing #nm.sparse_operand<wgmma_pairs, splits = 3> schedule #nm.wgmma_sp<block = [128, 128, 64], warpgroup = [128, 64], stages = 3, producers = 4, splits = 3>
      ins(%a, %v, %i : memref<64x384xbf16>, memref<2x1x6144xbf16>, memref<2x1x512xi8>)
      outs(%c : memref<128x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
