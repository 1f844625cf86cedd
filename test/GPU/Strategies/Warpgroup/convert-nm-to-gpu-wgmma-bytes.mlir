// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --nm-pipeline-copies --convert-nm-to-gpu --canonicalize --cse | FileCheck %s

// An instruction takes 32 bytes of k, of which both operands are contiguous. The
// weights' descriptor has no swizzle, that of A's rows of 128 bytes its.
// CHECK-LABEL: func.func @direct
// CHECK-DAG: %[[PLAIN:.*]] = arith.constant 34363932672 : i64
// CHECK-DAG: %[[SWIZZLED:.*]] = arith.constant 4611686293305294848 : i64
// CHECK-COUNT-4: nvvm.wgmma.mma_async %{{.*}}, %{{.*}}, %{{.*}}, <m = 64, n = 64, k = 32>, D[<s32>, <one>], A[<s8>, <one>, <row>], B[<s8>, <one>, <col>]
// CHECK: nvvm.wgmma.wait.group.sync.aligned 1
// Producers: each thread has one place of the list, loaded a step ahead, and
// copies it of every 16th row.
// CHECK: scf.for
// CHECK: memref.load %{{.*}} : memref<1x2x1xi8
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: nvvm.cp.async.bulk.shared.cluster.global
// CHECK-COUNT-4: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg
// CHECK-NOT: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.mbarrier.arrive
func.func @direct(%a: memref<64x4096xi8>, %v: memref<1x256x64xi8>, %i: memref<1x4x1xi8>, %c: memref<64x64xi32>) {
  %zero = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c2048 = arith.constant 2048 : index
  %c4096 = arith.constant 4096 : index
  scf.forall (%m, %n) in (1, 1) {
    linalg.fill ins(%zero : i32) outs(%c : memref<64x64xi32>)
    scf.for %k = %c0 to %c4096 step %c2048 {
      %row = affine.apply affine_map<(d0) -> (d0 floordiv 16)>(%k)
      %unit = affine.apply affine_map<(d0) -> (d0 floordiv 1024)>(%k)
      %at = memref.subview %a[0, %k] [64, 2048] [1, 1] : memref<64x4096xi8> to memref<64x2048xi8, strided<[4096, 1], offset: ?>>
      %vt = memref.subview %v[0, %row, 0] [1, 128, 64] [1, 1, 1] : memref<1x256x64xi8> to memref<1x128x64xi8, strided<[16384, 64, 1], offset: ?>>
      %it = memref.subview %i[0, %unit, 0] [1, 2, 1] [1, 1, 1] : memref<1x4x1xi8> to memref<1x2x1xi8, strided<[4, 1, 1], offset: ?>>
      nm.spmm <2:32, block = 64x64> packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 128>
        schedule #nm.wgmma<block = [64, 64, 128], warpgroup = [64, 64], stages = 3, producers = 4, packing = <panel = 64, index_bits = 8, tile_rows = 128>>
        ins(%at, %vt, %it : memref<64x2048xi8, strided<[4096, 1], offset: ?>>, memref<1x128x64xi8, strided<[16384, 64, 1], offset: ?>>, memref<1x2x1xi8, strided<[4, 1, 1], offset: ?>>)
        outs(%c : memref<64x64xi32>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// Of tensor copies one thread loads the list, in front of its wait, and starts
// one for each unit. Sums of f8 are those of a tile and half of the rows of A,
// and are added to promoted sums.
// CHECK-LABEL: func.func @tensor
// CHECK: nm.tensor_map %{{.*}} box [256, 64] swizzled
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, {{.*}}f32
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK-NOT: nvvm.fence.proxy
// CHECK: D[<f32>, <zero>], A[<e4m3>, <one>, <row>], B[<e4m3>, <one>, <col>] : {{.*}}
// CHECK-COUNT-3: nvvm.wgmma.mma_async %{{.*}}, <m = 64, n = 128, k = 32>, D[<f32>, <one>]
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK-COUNT-64: arith.addf
// CHECK: D[<f32>, <zero>]
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK: memref.load %{{.*}} : memref<1x2x1xi8
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global
func.func @tensor(%a: memref<256x4096xf8E4M3FN>, %v: memref<1x256x64xf8E4M3FN>, %i: memref<1x4x1xi8>, %c: memref<256x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c2048 = arith.constant 2048 : index
  %c4096 = arith.constant 4096 : index
  scf.forall (%m, %n) in (1, 1) {
    linalg.fill ins(%zero : f32) outs(%c : memref<256x64xf32>)
    scf.for %k = %c0 to %c4096 step %c2048 {
      %row = affine.apply affine_map<(d0) -> (d0 floordiv 16)>(%k)
      %unit = affine.apply affine_map<(d0) -> (d0 floordiv 1024)>(%k)
      %at = memref.subview %a[0, %k] [256, 2048] [1, 1] : memref<256x4096xf8E4M3FN> to memref<256x2048xf8E4M3FN, strided<[4096, 1], offset: ?>>
      %vt = memref.subview %v[0, %row, 0] [1, 128, 64] [1, 1, 1] : memref<1x256x64xf8E4M3FN> to memref<1x128x64xf8E4M3FN, strided<[16384, 64, 1], offset: ?>>
      %it = memref.subview %i[0, %unit, 0] [1, 2, 1] [1, 1, 1] : memref<1x4x1xi8> to memref<1x2x1xi8, strided<[4, 1, 1], offset: ?>>
      nm.spmm <2:32, block = 64x64> packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 128>
        schedule #nm.wgmma<block = [256, 64, 128], warpgroup = [256, 64], stages = 3, producers = 4, copy_a = tensor, promote = true, packing = <panel = 64, index_bits = 8, tile_rows = 128>>
        ins(%at, %vt, %it : memref<256x2048xf8E4M3FN, strided<[4096, 1], offset: ?>>, memref<1x128x64xf8E4M3FN, strided<[16384, 64, 1], offset: ?>>, memref<1x2x1xi8, strided<[4, 1, 1], offset: ?>>)
        outs(%c : memref<256x64xf32>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
