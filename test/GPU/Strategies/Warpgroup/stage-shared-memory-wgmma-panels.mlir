// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --canonicalize --cse --split-input-file | FileCheck %s

// Of an A in panels of 16 columns, bulk copies take the panels of the units that
// are kept: of units of 64 rows four each. The list is of panels then, and the
// product takes them as they are.
// CHECK-LABEL: func.func @listed
// CHECK: nm.copy <bulk> %{{.*}} to %{{.*}} : memref<1x128x64xi8> to
// CHECK: %[[AS:.*]] = memref.alloc() : memref<8x1024xi8, #gpu.address_space<workgroup>>
// CHECK: nm.copy <bulk> %{{.*}} to %[[AS]] rows %{{.*}} <pattern = <2:32, block = 4x64>, packing = <panel = 64, index_bits = 8, tile_rows = 128>, windows = 1> : memref<1x2x1xi8> : memref<128x1024xi8> to
// CHECK: nm.await <block> %
// CHECK-NOT: async_proxy
// CHECK: nm.spmm <2:32, block = 64x64> panels_a 64 gathered [1, 2] packing
func.func @listed(%a: memref<128x1024xi8>, %v: memref<1x128x64xi8>, %i: memref<1x2x1xi8>, %c: memref<64x64xi32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:32, block = 64x64> panels_a 64 packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 128>
      schedule #nm.wgmma<block = [64, 64, 128], warpgroup = [64, 64], stages = 3, producers = 4, copy_a = bulk, packing = <panel = 64, index_bits = 8, tile_rows = 128>>
      ins(%a, %v, %i : memref<128x1024xi8>, memref<1x128x64xi8>, memref<1x2x1xi8>)
      outs(%c : memref<64x64xi32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// A tile that is a part of a unit has no list; at the edge of C a tile of A is
// whole all the same.
// CHECK-LABEL: func.func @part
// CHECK: %[[WHOLE:.*]] = memref.cast %{{.*}} : memref<4x?xf8E4M3FN, strided<[?, 1], offset: ?>> to memref<4x1024xf8E4M3FN, strided<[?, 1], offset: ?>>
// CHECK: nm.copy <bulk> %[[WHOLE]] to %{{.*}} : memref<4x1024xf8E4M3FN, strided<[?, 1], offset: ?>> to memref<4x1024xf8E4M3FN, #gpu.address_space<workgroup>>
func.func @part(%a: memref<4x?xf8E4M3FN, strided<[?, 1], offset: ?>>, %v: memref<1x64x64xf8E4M3FN>, %i: memref<1x1x1xi8>, %c: memref<?x64xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <1:1, block = 64x64> panels_a 64 packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 64>
      schedule #nm.wgmma<block = [64, 64, 64], warpgroup = [64, 64], stages = 3, producers = 4, copy_a = bulk, promote = true, packing = <panel = 64, index_bits = 8, tile_rows = 64>>
      ins(%a, %v, %i : memref<4x?xf8E4M3FN, strided<[?, 1], offset: ?>>, memref<1x64x64xf8E4M3FN>, memref<1x1x1xi8>)
      outs(%c : memref<?x64xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
