// RUN: nm-opt %s --nm-attach-chip=chip=sm_80 --nm-stage-shared-memory --canonicalize --cse | FileCheck %s

// A stays row-major, with the 16-byte words of eight rows in different banks;
// kept weights are copied as they are, and bits stay where they are.
// CHECK-LABEL: func.func @row_major
// CHECK-SAME: %[[A:[^:]*]]: memref<8x128xf16>, %[[V:[^:]*]]: memref<2x1x512xf16>, %[[I:[^:]*]]: memref<2x1x256xi8>
// CHECK: %[[AS:.*]] = memref.alloc() : memref<8x128xf16, #nm.tile_layout<[128, 1], xor = [1:3 with 0:0 for 3]>, #gpu.address_space<workgroup>>
// CHECK: %[[T0:.*]] = nm.copy <direct> %[[A]] to %[[AS]]
// CHECK: %[[VS:.*]] = memref.alloc() : memref<2x1x512xf16, strided<[512, 512, 1]>, #gpu.address_space<workgroup>>
// CHECK: %[[T1:.*]] = nm.copy <direct> %[[V]] to %[[VS]]
// CHECK: %[[GROUP:.*]] = nm.group %[[T0]], %[[T1]]
// CHECK: nm.await <block> %[[GROUP]]
// CHECK: nm.spmm <8:32> packing #nm.bitmap
// CHECK-SAME: ins(%[[AS]], %[[VS]], %[[I]] :
func.func @row_major(%a: memref<8x128xf16>, %v: memref<2x1x512xf16>, %i: memref<2x1x256xi8>, %c: memref<8x32xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <8:32> packing #nm.bitmap schedule #nm.mma_bitmap<block = [8, 32, 128], warp = [8, 32], stages = 2>
      ins(%a, %v, %i : memref<8x128xf16>, memref<2x1x512xf16>, memref<2x1x256xi8>)
      outs(%c : memref<8x32xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
