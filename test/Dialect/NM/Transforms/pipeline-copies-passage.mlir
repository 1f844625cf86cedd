// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --nm-pipeline-copies --canonicalize --cse --split-input-file | FileCheck %s

// The first tile goes all the way before the loop, by a passage in the slot that
// is free, while the second one is copied to the passage, each of a warp's two
// pieces a group. In the loop the tile after the
// one that is multiplied is moved from there, piece by piece, and each piece is
// refilled with the tile after that, or zeros where there is none. The groups
// of the pieces may be under way when the weights are awaited.
// CHECK-LABEL: func.func @two_stages
// CHECK: %[[AS:.*]] = memref.alloc() : memref<2x64x64xf32, strided<[4352, 68, 1]>, #gpu.address_space<workgroup>>
// CHECK: %[[PASSAGE:.*]] = memref.alloc() : memref<8x16x32xf32, #gpu.address_space<workgroup>>
// CHECK: %[[FIRST:.*]] = memref.reinterpret_cast %[[AS]] to offset: [4352], sizes: [8, 16, 32], strides: [512, 32, 1]
// CHECK-COUNT-4: nvgpu.device_async_copy %{{.*}}, %[[FIRST]][{{.*}}, 4 {bypassL1}
// CHECK-NEXT: nvgpu.device_async_create_group
// CHECK-COUNT-4: nvgpu.device_async_copy %{{.*}}, %[[FIRST]][{{.*}}, 4 {bypassL1}
// CHECK-NEXT: nvgpu.device_async_create_group
// CHECK: nvgpu.device_async_copy {{.*}} to memref<4x16x32xf32
// CHECK: %[[GROUP:.*]] = nvgpu.device_async_create_group
// CHECK-COUNT-4: nvgpu.device_async_copy %{{.*}}, %[[PASSAGE]][{{.*}}, 4 {bypassL1}
// CHECK-NEXT: nvgpu.device_async_create_group
// CHECK-COUNT-4: nvgpu.device_async_copy %{{.*}}, %[[PASSAGE]][{{.*}}, 4 {bypassL1}
// CHECK-NEXT: nvgpu.device_async_create_group
// CHECK-NEXT: nvgpu.device_async_wait %[[GROUP]] {numGroups = 3 : i32}
// CHECK-NEXT: nvvm.bar.warp.sync
// CHECK-COUNT-4: nvgpu.ldmatrix %[[FIRST]]
// CHECK: nvvm.bar.warp.sync
// CHECK-COUNT-4: nvgpu.ldmatrix %[[FIRST]]
// CHECK-COUNT-4: vector.store
// CHECK-NEXT: nvvm.bar.warp.sync
// CHECK: scf.for %[[K:.*]] = %c0 to %c192 step %c64
// CHECK: nvgpu.device_async_wait %[[GROUP]] {numGroups = 2 : i32}
// CHECK-NEXT: gpu.barrier
// CHECK-NOT: %[[PASSAGE]]
// CHECK: nvgpu.device_async_create_group
// CHECK: nm.spmm
// CHECK: %[[NEXT:.*]] = arith.addi %[[K]], %c128
// CHECK: %[[IS_TILE:.*]] = arith.cmpi ule, %[[NEXT]], %c192
// CHECK: %[[FROM:.*]] = arith.select %[[IS_TILE]], %[[NEXT]], %c192
// CHECK: %[[A:.*]] = memref.subview %{{.*}}[0, %[[FROM]]] [64, 64]
// CHECK: nvgpu.device_async_wait %[[GROUP]] {numGroups = 2 : i32}
// CHECK-NEXT: nvvm.bar.warp.sync
// CHECK-COUNT-4: nvgpu.ldmatrix %[[PASSAGE]]
// CHECK-COUNT-4: vector.store
// CHECK-NEXT: nvvm.bar.warp.sync
// CHECK-NEXT: %[[ELEMENTS:.*]] = arith.select %[[IS_TILE]], %c4, %c0
// CHECK-COUNT-4: nvgpu.device_async_copy %[[A]][{{.*}}], %[[PASSAGE]][{{.*}}], 4, %[[ELEMENTS]] {bypassL1}
// CHECK-NEXT: nvgpu.device_async_create_group
// CHECK-NEXT: nvgpu.device_async_wait %[[GROUP]] {numGroups = 2 : i32}
// CHECK-NEXT: nvvm.bar.warp.sync
// CHECK-COUNT-4: nvgpu.ldmatrix %[[PASSAGE]]
// CHECK: nvvm.bar.warp.sync
// CHECK-COUNT-4: nvgpu.device_async_copy %[[A]]
// CHECK-NEXT: nvgpu.device_async_create_group
// CHECK: nvgpu.device_async_wait %[[GROUP]] {numGroups = 0 : i32}
// CHECK-NEXT: gpu.barrier
// CHECK-NOT: nvgpu.ldmatrix
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
      nm.spmm <8:32, block = 1x32> packing <panel = 32, index_bits = 8>
        schedule #nm.simt<block = [64, 128, 64], warp = [64, 32], thread = [8, 8], stages = 2>
        ins(%at, %vt, %it : memref<64x64xf32, strided<[256, 1], offset: ?>>, memref<4x16x32xf32, strided<[2048, 32, 1], offset: ?>>, memref<4x16x1xi8, strided<[64, 1, 1], offset: ?>>)
        outs(%c : memref<64x128xf32>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// With a third slot a tile's groups may be under way beside them, and two tiles
// go all the way before the loop.
// CHECK-LABEL: func.func @three_stages
// CHECK: memref.alloc() : memref<3x64x64xf32
// CHECK: memref.alloc() : memref<8x16x32xf32
// CHECK-COUNT-16: nvgpu.ldmatrix
// CHECK-NOT: nvgpu.ldmatrix
// CHECK: scf.for %[[K:.*]] = %c0 to %c128 step %c64
// CHECK: nvgpu.device_async_wait {{.*}} {numGroups = 5 : i32}
// CHECK: nm.spmm
// CHECK: arith.addi %[[K]], %c192
// CHECK: nvgpu.device_async_wait {{.*}} {numGroups = 2 : i32}
// CHECK-COUNT-8: nvgpu.ldmatrix
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
      nm.spmm <8:32, block = 1x32> packing <panel = 32, index_bits = 8>
        schedule #nm.simt<block = [64, 128, 64], warp = [64, 32], thread = [8, 8], stages = 3>
        ins(%at, %vt, %it : memref<64x64xf32, strided<[256, 1], offset: ?>>, memref<4x16x32xf32, strided<[2048, 32, 1], offset: ?>>, memref<4x16x1xi8, strided<[64, 1, 1], offset: ?>>)
        outs(%c : memref<64x128xf32>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
