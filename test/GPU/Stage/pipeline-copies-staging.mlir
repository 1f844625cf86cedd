// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --nm-pipeline-copies --canonicalize --cse --split-input-file | FileCheck %s

// The first tile goes all the way before the loop, by a staging buffer in the
// slot that is free, while the second one is copied to the buffer itself, each
// of its two parts a group. In the loop the tile after the one that is
// multiplied is moved from there, part by part, and each part is refilled with
// the tile after that, or zeros where there is none.
// CHECK-LABEL: func.func @two_stages
// CHECK: %[[RING:.*]] = memref.alloc() : memref<2x64x64xf32, strided<[4352, 68, 1]>, #gpu.address_space<workgroup>>
// CHECK: %[[BUFFER:.*]] = memref.alloc() : memref<2x4x16x32xf32, #nm.tile_layout
// CHECK: %[[FREE:.*]] = nm.slot %[[RING]][%c1]
// CHECK: %[[FIRST:.*]] = nm.alias %[[FREE]]
// CHECK: %[[SLOT:.*]] = nm.slot %[[RING]][%c0]
// CHECK: nm.copy <direct> %{{.*}} to %[[FIRST]] part [0, 2]
// CHECK: %[[FIRST0:.*]] = nm.group
// CHECK: nm.copy <direct> %{{.*}} to %[[FIRST]] part [1, 2]
// CHECK: %[[FIRST1:.*]] = nm.group
// CHECK: nm.copy <direct> %{{.*}} to memref<4x16x32xf32
// CHECK: %[[WEIGHTS:.*]] = nm.group
// CHECK: nm.copy <direct> %{{.*}} to %[[BUFFER]] part [0, 2]
// CHECK: %[[PART0:.*]] = nm.group
// CHECK: nm.copy <direct> %{{.*}} to %[[BUFFER]] part [1, 2]
// CHECK: %[[PART1:.*]] = nm.group
// CHECK: nm.await <warp> %[[FIRST0]]
// CHECK-NEXT: nm.copy <matrices> %[[FIRST]] to %[[SLOT]] part [0, 2]
// CHECK-NEXT: nm.release <warp> %[[FIRST]]
// CHECK-NEXT: nm.await <warp> %[[FIRST1]]
// CHECK-NEXT: nm.copy <matrices> %[[FIRST]] to %[[SLOT]] part [1, 2]
// CHECK: %[[LEFT:.*]]:3 = scf.for %[[K:.*]] = %c0 to %c192 step %c64 iter_args(%[[W:.*]] = %[[WEIGHTS]], %[[P0:.*]] = %[[PART0]], %[[P1:.*]] = %[[PART1]])
// CHECK: nm.await <block> %[[W]]
// CHECK: nm.copy <direct> %{{.*}} to memref<4x16x32xf32
// CHECK: %[[NEXTW:.*]] = nm.group
// CHECK: nm.spmm
// CHECK: %[[NEXT:.*]] = arith.addi %[[K]], %c128
// CHECK: %[[IS_TILE:.*]] = arith.cmpi ule, %[[NEXT]], %c192
// CHECK: %[[FROM:.*]] = arith.select %[[IS_TILE]], %[[NEXT]], %c192
// CHECK: nm.await <warp> %[[P0]]
// CHECK-NEXT: nm.copy <matrices> %[[BUFFER]] to %{{.*}} part [0, 2]
// CHECK-NEXT: nm.release <warp> %[[BUFFER]]
// CHECK: %[[A:.*]] = memref.subview %{{.*}}[0, %[[FROM]]] [64, 64]
// CHECK: nm.copy <direct> %[[A]] to %[[BUFFER]] part [0, 2] where %[[IS_TILE]]
// CHECK: %[[NEXT0:.*]] = nm.group
// CHECK: nm.await <warp> %[[P1]]
// CHECK: nm.copy <direct> %{{.*}} to %[[BUFFER]] part [1, 2] where %[[IS_TILE]]
// CHECK: %[[NEXT1:.*]] = nm.group
// CHECK: scf.yield %[[NEXTW]], %[[NEXT0]], %[[NEXT1]]
// CHECK: nm.await <block> %[[LEFT]]#0, %[[LEFT]]#1, %[[LEFT]]#2
// CHECK-NOT: <matrices>
// CHECK: nm.spmm
func.func @two_stages(%a: memref<64x256xf32>, %v: memref<4x64x32xf32>, %i: memref<4x64x1xi8>, %c: memref<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  scf.forall (%m, %n) in (1, 1) {
    linalg.fill ins(%zero : f32) outs(%c : memref<64x128xf32>)
    scf.for %k = %c0 to %c256 step %c64 {
      %w = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%k)
      %at = memref.subview %a[0, %k] [64, 64] [1, 1] : memref<64x256xf32> to memref<64x64xf32, strided<[256, 1], offset: ?>>
      %vt = memref.subview %v[0, %w, 0] [4, 16, 32] [1, 1, 1] : memref<4x64x32xf32> to memref<4x16x32xf32, strided<[2048, 32, 1], offset: ?>>
      %it = memref.subview %i[0, %w, 0] [4, 16, 1] [1, 1, 1] : memref<4x64x1xi8> to memref<4x16x1xi8, strided<[64, 1, 1], offset: ?>>
      nm.spmm <8:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
        schedule #nm.simt<block = [64, 128, 64], warp = [64, 32], thread = [8, 8], stages = 2, copy_a = matrices, prefetch = true, defer = true>
        ins(%at, %vt, %it : memref<64x64xf32, strided<[256, 1], offset: ?>>, memref<4x16x32xf32, strided<[2048, 32, 1], offset: ?>>, memref<4x16x1xi8, strided<[64, 1, 1], offset: ?>>)
        outs(%c : memref<64x128xf32>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// With a third slot two tiles go all the way before the loop.
// CHECK-LABEL: func.func @three_stages
// CHECK: memref.alloc() : memref<3x64x64xf32
// CHECK-COUNT-4: nm.copy <matrices>
// CHECK-NOT: nm.copy <matrices>
// CHECK: scf.for %[[K:.*]] = %c0 to %c128 step %c64 iter_args(%[[OLDEST:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}})
// CHECK: nm.await <block> %[[OLDEST]]
// CHECK: nm.spmm
// CHECK: arith.addi %[[K]], %c192
// CHECK-COUNT-2: nm.copy <matrices>
func.func @three_stages(%a: memref<64x256xf32>, %v: memref<4x64x32xf32>, %i: memref<4x64x1xi8>, %c: memref<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  scf.forall (%m, %n) in (1, 1) {
    linalg.fill ins(%zero : f32) outs(%c : memref<64x128xf32>)
    scf.for %k = %c0 to %c256 step %c64 {
      %w = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%k)
      %at = memref.subview %a[0, %k] [64, 64] [1, 1] : memref<64x256xf32> to memref<64x64xf32, strided<[256, 1], offset: ?>>
      %vt = memref.subview %v[0, %w, 0] [4, 16, 32] [1, 1, 1] : memref<4x64x32xf32> to memref<4x16x32xf32, strided<[2048, 32, 1], offset: ?>>
      %it = memref.subview %i[0, %w, 0] [4, 16, 1] [1, 1, 1] : memref<4x64x1xi8> to memref<4x16x1xi8, strided<[64, 1, 1], offset: ?>>
      nm.spmm <8:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
        schedule #nm.simt<block = [64, 128, 64], warp = [64, 32], thread = [8, 8], stages = 3, copy_a = matrices, prefetch = true, defer = true>
        ins(%at, %vt, %it : memref<64x64xf32, strided<[256, 1], offset: ?>>, memref<4x16x32xf32, strided<[2048, 32, 1], offset: ?>>, memref<4x16x1xi8, strided<[64, 1, 1], offset: ?>>)
        outs(%c : memref<64x128xf32>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
