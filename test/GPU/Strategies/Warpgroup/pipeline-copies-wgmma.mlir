// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --nm-pipeline-copies --canonicalize --cse | FileCheck %s

// A product is in flight while the next one starts, and reads its slot: of four
// stages copies run two ahead. They are issued behind the product.
// CHECK-LABEL: func.func @pipelined
// CHECK: %[[RING:.*]] = memref.alloc() : memref<4x64x64xf16, #nm.tile_layout<[4096, 64, 1], panels = [64, 4096], xor = [2:3 with 1:0 for 3]>
// CHECK: %[[G0:.*]] = nm.group
// CHECK: %[[G1:.*]] = nm.group
// CHECK-NOT: nm.group
// CHECK: scf.for %{{.*}} = %c0 to %c1536 step %c256 iter_args(%[[FIRST:.*]] = %[[G0]], %[[SECOND:.*]] = %[[G1]])
// CHECK: nm.await <block> async_proxy %[[FIRST]]
// CHECK: nm.spmm <8:32, block = 1x64> transpose_a gathered [8, 8]
// CHECK: nm.copy <direct>
// CHECK: %[[NEXT:.*]] = nm.group
// CHECK: scf.yield %[[SECOND]], %[[NEXT]]
// CHECK: nm.await <block> async_proxy
// CHECK: nm.spmm <8:32, block = 1x64> transpose_a gathered [8, 8]
func.func @pipelined(%a: memref<2048x64xf16>, %v: memref<1x512x64xf16>, %i: memref<1x512x1xi8>, %c: memref<64x64xf16>) {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %c2048 = arith.constant 2048 : index
  scf.forall (%m, %n) in (1, 1) {
    scf.for %k = %c0 to %c2048 step %c256 {
      %row = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%k)
      %at = memref.subview %a[%k, 0] [256, 64] [1, 1] : memref<2048x64xf16> to memref<256x64xf16, strided<[64, 1], offset: ?>>
      %vt = memref.subview %v[0, %row, 0] [1, 64, 64] [1, 1, 1] : memref<1x512x64xf16> to memref<1x64x64xf16, strided<[32768, 64, 1], offset: ?>>
      %it = memref.subview %i[0, %row, 0] [1, 64, 1] [1, 1, 1] : memref<1x512x1xi8> to memref<1x64x1xi8, strided<[512, 1, 1], offset: ?>>
      nm.spmm <8:32, block = 1x64> transpose_a packing #nm.packing<panel = 64, index_bits = 8>
        schedule #nm.wgmma<block = [64, 64, 256], warpgroup = [64, 64], stages = 4, packing = <panel = 64, index_bits = 8>>
        ins(%at, %vt, %it : memref<256x64xf16, strided<[64, 1], offset: ?>>, memref<1x64x64xf16, strided<[32768, 64, 1], offset: ?>>, memref<1x64x1xi8, strided<[512, 1, 1], offset: ?>>)
        outs(%c : memref<64x64xf16>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
