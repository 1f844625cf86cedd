// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --nm-pipeline-copies --canonicalize --cse | FileCheck %s --check-prefix=ROLES
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --nm-pipeline-copies --convert-nm-to-gpu --canonicalize --cse | FileCheck %s

// Two warpgroups add the sums of each tile of f8 to promoted sums, and start its
// products in turn, so that one's products run while the other adds.
// ROLES-LABEL: func.func @floats
// ROLES: nm.warps 0 to 8 ordered {
// ROLES: nm.warps 8 to 12 {

// The second lets the first begin, once. Each waits at its own barrier, 8 or 9,
// and its products started, arrives at the other's.
// CHECK-LABEL: func.func @floats
// CHECK: %[[IS_LAST:.*]] = arith.cmpi uge, %{{.*}}, %c128 : index
// CHECK-NEXT: scf.if %[[IS_LAST]] {
// CHECK-NEXT: nvvm.barrier.arrive id = %c8_i32 number_of_threads = %c256_i32
// CHECK: %[[GROUP:.*]] = nvvm.shfl.sync
// CHECK: %[[OWN:.*]] = arith.addi %[[GROUP]], %c8_i32 : i32
// CHECK: %[[AFTER:.*]] = arith.addi %[[GROUP]], %c1_i32 : i32
// CHECK: %[[REST:.*]] = arith.remui %[[AFTER]], %c2_i32 : i32
// CHECK: %[[NEXT:.*]] = arith.addi %[[REST]], %c8_i32 : i32
// CHECK: scf.for
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: nvvm.barrier id = %[[OWN]] number_of_threads = %c256_i32
// CHECK-NEXT: nvvm.wgmma.fence.aligned
// CHECK: wgmma.mma_async.sp
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK-NEXT: nvvm.barrier.arrive id = %[[NEXT]] number_of_threads = %c256_i32
// CHECK-NEXT: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK: scf.yield
// CHECK-NOT: nvvm.barrier
// CHECK: return
func.func @floats(%a: memref<64x512xf8E4M3FN>, %v: memref<2x8x2048xf8E4M3FN>, %i: memref<2x8x512xi8>, %c: memref<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %c512 = arith.constant 512 : index
  scf.forall (%m, %n) in (1, 1) {
    linalg.fill ins(%zero : f32) outs(%c : memref<64x128xf32>)
    scf.for %k = %c0 to %c512 step %c128 {
      %step = affine.apply affine_map<(d0) -> (d0 floordiv 64)>(%k)
      %at = memref.subview %a[0, %k] [64, 128] [1, 1] : memref<64x512xf8E4M3FN> to memref<64x128xf8E4M3FN, strided<[512, 1], offset: ?>>
      %vt = memref.subview %v[0, %step, 0] [2, 2, 2048] [1, 1, 1] : memref<2x8x2048xf8E4M3FN> to memref<2x2x2048xf8E4M3FN, strided<[16384, 2048, 1], offset: ?>>
      %it = memref.subview %i[0, %step, 0] [2, 2, 512] [1, 1, 1] : memref<2x8x512xi8> to memref<2x2x512xi8, strided<[4096, 512, 1], offset: ?>>
      nm.spmm <2:4> packing #nm.sparse_operand<wgmma_pairs> schedule #nm.wgmma_sp<block = [64, 128, 128], warpgroup = [64, 64], stages = 3, producers = 4, blocks = 2, promote = true, ordered = true>
        ins(%at, %vt, %it : memref<64x128xf8E4M3FN, strided<[512, 1], offset: ?>>, memref<2x2x2048xf8E4M3FN, strided<[16384, 2048, 1], offset: ?>>, memref<2x2x512xi8, strided<[4096, 512, 1], offset: ?>>)
        outs(%c : memref<64x128xf32>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
