// RUN: nm-opt %s --nm-attach-chip=chip=sm_86 --nm-stage-shared-memory --convert-nm-to-gpu --canonicalize --cse --split-input-file | FileCheck %s

// What one thread does of copies by way of a staging buffer.

// A copy to it takes four rows of 128 bytes, permuted by pairs of 16 bytes, as
// rows go in fours; a lane then loads four words of a column at once, which are
// one store. The barriers are the warp's own.
// CHECK-LABEL: func.func @staging_buffer
// CHECK: %[[BUFFER:.*]] = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [2, 4, 16, 32]
// CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %c4
// CHECK: %[[BITS:.*]] = arith.andi %[[ROW]], %c12
// CHECK: %[[MOVED:.*]] = arith.shli %[[BITS]], %c1
// CHECK: %[[COLUMN:.*]] = arith.xori %{{.*}}, %[[MOVED]]
// CHECK: nvgpu.device_async_copy %{{.*}}, %[[BUFFER]][%{{.*}}, %{{.*}}, %[[ROW]], %[[COLUMN]]], 4 {bypassL1}
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.cp.async.wait.group 2
// CHECK: nvvm.bar.warp.sync
// CHECK-COUNT-4: nvgpu.ldmatrix %[[BUFFER]]{{.*}} {numTiles = 4 : i32, transpose = false}
// CHECK-COUNT-4: vector.store %{{.*}} {alignment = 16 : i64} : memref<64x64xf32, strided<[68, 1]>, #gpu.address_space<workgroup>>, vector<4xf32>
// CHECK: nvvm.bar.warp.sync
// CHECK: nvvm.cp.async.wait.group 1
// CHECK: nvvm.bar.warp.sync
// CHECK-COUNT-4: nvgpu.ldmatrix %[[BUFFER]]
// CHECK: nvvm.cp.async.wait.group 0
// CHECK-NEXT: gpu.barrier
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
        schedule #nm.simt<block = [64, 128, 64], warp = [64, 32], thread = [8, 8], stages = 2, copy_a = matrices, prefetch = true, defer = true>
        ins(%at, %vt, %it : memref<64x64xf32, strided<[256, 1], offset: ?>>, memref<4x16x32xf32, strided<[2048, 32, 1], offset: ?>>, memref<4x16x1xi8, strided<[64, 1, 1], offset: ?>>)
        outs(%c : memref<64x128xf32>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Columns that A may lack are zeros in the buffer.
// CHECK-LABEL: func.func @edge
// CHECK: %[[K:.*]] = affine.min
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %{{.*}}, %[[K]]
// CHECK: %[[ELEMENTS:.*]] = arith.select %[[INSIDE]], %c4, %c0
// CHECK: nvgpu.device_async_copy {{.*}}, 4, %[[ELEMENTS]] {bypassL1}
// CHECK: nvgpu.ldmatrix
func.func @edge(%a: memref<64x200xf32>, %v: memref<4x64x32xf32>, %i: memref<4x64x1xi8>, %c: memref<64x128xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  scf.forall (%m, %n) in (1, 1) {
    scf.for %k = %c0 to %c256 step %c64 {
      %w = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%k)
      %size = affine.min affine_map<(d0) -> (64, 200 - d0)>(%k)
      %at = memref.subview %a[0, %k] [64, %size] [1, 1] : memref<64x200xf32> to memref<64x?xf32, strided<[200, 1], offset: ?>>
      %vt = memref.subview %v[0, %w, 0] [4, 16, 32] [1, 1, 1] : memref<4x64x32xf32> to memref<4x16x32xf32, strided<[2048, 32, 1], offset: ?>>
      %it = memref.subview %i[0, %w, 0] [4, 16, 1] [1, 1, 1] : memref<4x64x1xi8> to memref<4x16x1xi8, strided<[64, 1, 1], offset: ?>>
      nm.spmm <8:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
        schedule #nm.simt<block = [64, 128, 64], warp = [64, 32], thread = [8, 8], stages = 2, copy_a = matrices, prefetch = true, defer = true>
        ins(%at, %vt, %it : memref<64x?xf32, strided<[200, 1], offset: ?>>, memref<4x16x32xf32, strided<[2048, 32, 1], offset: ?>>, memref<4x16x1xi8, strided<[64, 1, 1], offset: ?>>)
        outs(%c : memref<64x128xf32>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
