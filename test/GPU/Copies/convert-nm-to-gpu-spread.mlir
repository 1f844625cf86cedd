// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --nm-pipeline-copies --convert-nm-to-gpu --canonicalize --cse --split-input-file | FileCheck %s

// Parts of A are moved from the staging buffer among the rows of weights, of
// which each begins with a barrier of the warp: a matrix load, and its store a
// row later. When all of a part is loaded, its refill follows, and the next
// part. Each wait leaves the groups in flight that ended after its own.
// CHECK-LABEL: func.func @spread
// CHECK: scf.for
// CHECK: nvvm.cp.async.wait.group 2
// CHECK-NEXT: gpu.barrier
// CHECK-NOT: nvgpu.device_async_copy
// CHECK: nvvm.cp.async.wait.group 1
// CHECK-NEXT: nvvm.bar.warp.sync
// CHECK: nvgpu.ldmatrix
// CHECK: nvgpu.device_async_copy {{.*}} to memref<4x16x32xf32
// CHECK: nvvm.cp.async.commit.group
// CHECK-NOT: vector.store
// CHECK: llvm.intr.fma
// CHECK: nvvm.bar.warp.sync
// CHECK: nvgpu.ldmatrix
// CHECK: vector.store
// CHECK: nvvm.bar.warp.sync
// CHECK: nvgpu.ldmatrix
// CHECK: vector.store
// CHECK: nvvm.bar.warp.sync
// CHECK: nvgpu.ldmatrix
// CHECK: vector.store
// CHECK-NOT: nvgpu.device_async_copy
// CHECK: nvvm.cp.async.wait.group 1
// CHECK-NEXT: nvvm.bar.warp.sync
// CHECK: vector.store
// CHECK-COUNT-4: nvgpu.device_async_copy {{.*}} to memref<2x4x16x32xf32
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvgpu.ldmatrix
// CHECK-COUNT-4: nvvm.bar.warp.sync
// CHECK-NOT: nvgpu.ldmatrix
// CHECK: vector.store
// CHECK-COUNT-4: nvgpu.device_async_copy {{.*}} to memref<2x4x16x32xf32
// CHECK: nvvm.cp.async.commit.group
// CHECK-NOT: nvgpu.device_async_copy
// CHECK: scf.yield
func.func @spread(%a: memref<64x256xf32>, %v: memref<4x64x32xf32>, %i: memref<4x64x1xi8>, %c: memref<64x128xf32>) {
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
