// RUN: nm-opt %s --nm-attach-chip=chip=sm_86 --nm-stage-shared-memory --canonicalize --cse --split-input-file | FileCheck %s

// A row-major tile of A goes by way of a staging buffer, two fragments of 16 x 32 a
// warp, one of each part. A warp waits for its own copies only.
// CHECK-LABEL: func.func @staging_buffer
// CHECK: %[[AS:.*]] = memref.alloc() : memref<64x64xf32, strided<[68, 1]>, #gpu.address_space<workgroup>>
// CHECK: %[[BUFFER:.*]] = memref.alloc() : memref<2x4x16x32xf32, #nm.tile_layout<[2048, 512, 32, 1], xor = [3:3 with 2:2 for 2]>, #gpu.address_space<workgroup>>
// CHECK: %[[T0:.*]] = nm.copy <direct> %[[A:.*]] to %[[BUFFER]] part [0, 2]
// CHECK: %[[PART0:.*]] = nm.group %[[T0]]
// CHECK: %[[T1:.*]] = nm.copy <direct> %[[A]] to %[[BUFFER]] part [1, 2]
// CHECK: %[[PART1:.*]] = nm.group %[[T1]]
// CHECK: nm.copy <direct> %{{.*}} to memref<4x16x32xf32
// CHECK: %[[GROUP:.*]] = nm.group
// CHECK: nm.await <warp> %[[PART0]]
// CHECK: nm.copy <matrices> %[[BUFFER]] to %[[AS]] part [0, 2]
// CHECK: nm.release <warp> %[[BUFFER]]
// CHECK: nm.await <warp> %[[PART1]]
// CHECK: nm.copy <matrices> %[[BUFFER]] to %[[AS]] part [1, 2]
// CHECK: nm.await <block> %[[GROUP]]
// CHECK: nm.spmm <8:32, block = 1x32> transpose_a packing
// CHECK: nm.release <block> %[[AS]], %{{.*}} :
func.func @staging_buffer(%a: memref<64x256xf32>, %v: memref<4x64x32xf32>, %i: memref<4x64x1xi8>, %c: memref<64x128xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  scf.forall (%m, %n) in (1, 1) {
    scf.for %k = %c0 to %c256 step %c64 {
      %w = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%k)
      %at = memref.subview %a[0, %k] [64, 64] [1, 1] : memref<64x256xf32> to memref<64x64xf32, strided<[256, 1], offset: ?>>
      %vt = memref.subview %v[0, %w, 0] [4, 16, 32] [1, 1, 1] : memref<4x64x32xf32> to memref<4x16x32xf32, strided<[2048, 32, 1], offset: ?>>
      %it = memref.subview %i[0, %w, 0] [4, 16, 1] [1, 1, 1] : memref<4x64x1xi8> to memref<4x16x1xi8, strided<[64, 1, 1], offset: ?>>
      nm.spmm <8:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
        schedule #nm.simt<block = [64, 128, 64], warp = [64, 32], thread = [8, 8], stages = 2, copy_a = matrices, prefetch = true>
        ins(%at, %vt, %it : memref<64x64xf32, strided<[256, 1], offset: ?>>, memref<4x16x32xf32, strided<[2048, 32, 1], offset: ?>>, memref<4x16x1xi8, strided<[64, 1, 1], offset: ?>>)
        outs(%c : memref<64x128xf32>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
