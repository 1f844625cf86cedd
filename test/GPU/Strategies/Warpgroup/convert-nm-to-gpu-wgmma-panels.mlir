// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --nm-pipeline-copies --convert-nm-to-gpu --canonicalize --cse | FileCheck %s

// A's panels are wgmma's core matrices of 8 x 16 bytes, one behind the other
// along m: neither operand has a swizzle. One thread loads the list, in front of
// its wait, and starts one copy for each panel of 64 rows, 1024 bytes.
// CHECK-LABEL: func.func @panels
// CHECK-COUNT-4: nvvm.wgmma.mma_async %{{.*}}, %{{.*}}, %{{.*}}, <m = 64, n = 64, k = 32>, D[<s32>, <one>], A[<s8>, <one>, <row>], B[<s8>, <one>, <col>]
// CHECK: scf.for
// CHECK-COUNT-2: memref.load %{{.*}} : memref<1x2x1xi8
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK-COUNT-8: nvvm.cp.async.bulk.shared.cluster.global %{{.*}}, %{{.*}}, %{{.*}}, %c1024_i32
// CHECK-NOT: nvvm.cp.async.shared.global
func.func @panels(%a: memref<256x1024xi8>, %v: memref<1x256x64xi8>, %i: memref<1x4x1xi8>, %c: memref<64x64xi32>) {
  %zero = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c2048 = arith.constant 2048 : index
  %c4096 = arith.constant 4096 : index
  scf.forall (%m, %n) in (1, 1) {
    linalg.fill ins(%zero : i32) outs(%c : memref<64x64xi32>)
    scf.for %k = %c0 to %c4096 step %c2048 {
      %panel = affine.apply affine_map<(d0) -> (d0 floordiv 16)>(%k)
      %unit = affine.apply affine_map<(d0) -> (d0 floordiv 1024)>(%k)
      %at = memref.subview %a[%panel, 0] [128, 1024] [1, 1] : memref<256x1024xi8> to memref<128x1024xi8, strided<[1024, 1], offset: ?>>
      %vt = memref.subview %v[0, %panel, 0] [1, 128, 64] [1, 1, 1] : memref<1x256x64xi8> to memref<1x128x64xi8, strided<[16384, 64, 1], offset: ?>>
      %it = memref.subview %i[0, %unit, 0] [1, 2, 1] [1, 1, 1] : memref<1x4x1xi8> to memref<1x2x1xi8, strided<[4, 1, 1], offset: ?>>
      nm.spmm <2:32, block = 64x64> panels_a 64 packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 128>
        schedule #nm.wgmma<block = [64, 64, 128], warpgroup = [64, 64], stages = 3, producers = 4, copy_a = bulk, packing = <panel = 64, index_bits = 8, tile_rows = 128>>
        ins(%at, %vt, %it : memref<128x1024xi8, strided<[1024, 1], offset: ?>>, memref<1x128x64xi8, strided<[16384, 64, 1], offset: ?>>, memref<1x2x1xi8, strided<[4, 1, 1], offset: ?>>)
        outs(%c : memref<64x64xi32>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
