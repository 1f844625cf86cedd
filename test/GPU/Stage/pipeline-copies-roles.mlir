// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --nm-pipeline-copies --canonicalize --cse --split-input-file | FileCheck %s

// Two blocks take turns at four tiles of C, and go through the ring without a
// break: a tile of C has eight steps. Of the two warps' roles the consumers come
// first. The producers have no use for C.
// CHECK-LABEL: func.func @turns
// CHECK: scf.forall (%[[BLOCK:.*]]) in (2) {
// CHECK: %[[V:.*]] = memref.alloc() : memref<3x1x64x64xf16, strided<[4096, 4096, 64, 1]>, #gpu.address_space<workgroup>>
// CHECK: %[[A:.*]] = memref.alloc() : memref<3x64x64xf16, #nm.tile_layout<[4096, 64, 1], panels = [64, 4096], xor = [2:3 with 1:0 for 3]>
// CHECK: %[[FULL:.*]] = nm.barriers : <3>
// CHECK: %[[EMPTY:.*]] = nm.barriers : <3>
// CHECK: nm.warps 0 to 4 {
// CHECK: scf.for %[[TILE:.*]] = %[[BLOCK]] to %c4 step %c2 iter_args(%[[FIRST:.*]] = %c0) -> (index) {
// CHECK: linalg.fill
// CHECK: scf.for %[[K:.*]] = %c0 to %c2048 step %c256 {
// CHECK: %[[NUMBER:.*]] = arith.divui %[[K]], %c256 : index
// CHECK: %[[STEP:.*]] = arith.addi %[[FIRST]], %[[NUMBER]] : index
// CHECK: nm.wait async_proxy %[[FULL]][%[[STEP]]] : <3>
// CHECK: nm.slot %[[V]]
// CHECK: nm.slot %[[A]]
// CHECK: nm.spmm <8:32, block = 1x64> transpose_a gathered [8, 8] packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 64>
// CHECK: %[[LATER:.*]] = arith.cmpi ne, %[[K]], %c0
// CHECK: %[[BEFORE:.*]] = arith.subi %[[STEP]], %c1
// CHECK: nm.signal <warpgroup> %[[EMPTY]][%[[BEFORE]]] where %[[LATER]] : <3>
// CHECK: }
// CHECK: %[[LAST:.*]] = arith.addi %[[FIRST]], %c7
// CHECK: nm.signal <warpgroup> %[[EMPTY]][%[[LAST]]] : <3>
// CHECK: %[[NEXT:.*]] = arith.addi %[[FIRST]], %c8
// CHECK: scf.yield %[[NEXT]]
// CHECK: nm.warps 4 to 8 {
// CHECK-NOT: linalg.fill
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[FREE:.*]] = arith.subi %{{.*}}, %c3 : index
// CHECK: %[[OVER:.*]] = nm.wait %[[EMPTY]][%[[FREE]]] : <3>
// CHECK: %[[T0:.*]] = nm.copy <bulk> {{.*}} after %[[OVER]] arrives %[[FULL]][%{{.*}}] : !nm.barriers<3>
// CHECK: %[[T1:.*]] = nm.copy <direct> {{.*}} rows
// CHECK: nm.signal <thread> %[[FULL]][%{{.*}}] tokens %[[T0]], %[[T1]] : <3>
// CHECK-NOT: nm.spmm
// CHECK: return
func.func @turns(%a: memref<2048x128xf16>, %v: memref<2x512x64xf16>, %i: memref<2x512x1xi8>, %c: memref<128x128xf16>) {
  %zero = arith.constant 0.0 : f16
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %c2048 = arith.constant 2048 : index
  scf.forall (%m, %n) = (0, 0) to (128, 128) step (64, 64) {
    %panel = affine.apply affine_map<(d0) -> (d0 floordiv 64)>(%n)
    %cb = memref.subview %c[%m, %n] [64, 64] [1, 1] : memref<128x128xf16> to memref<64x64xf16, strided<[128, 1], offset: ?>>
    linalg.fill ins(%zero : f16) outs(%cb : memref<64x64xf16, strided<[128, 1], offset: ?>>)
    scf.for %k = %c0 to %c2048 step %c256 {
      %row = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%k)
      %at = memref.subview %a[%k, %m] [256, 64] [1, 1] : memref<2048x128xf16> to memref<256x64xf16, strided<[128, 1], offset: ?>>
      %vt = memref.subview %v[%panel, %row, 0] [1, 64, 64] [1, 1, 1] : memref<2x512x64xf16> to memref<1x64x64xf16, strided<[32768, 64, 1], offset: ?>>
      %it = memref.subview %i[%panel, %row, 0] [1, 64, 1] [1, 1, 1] : memref<2x512x1xi8> to memref<1x64x1xi8, strided<[512, 1, 1], offset: ?>>
      nm.spmm <8:32, block = 1x64> transpose_a packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 64>
        schedule #nm.wgmma<block = [64, 64, 256], warpgroup = [64, 64], stages = 3, producers = 4, blocks = 2, packing = <panel = 64, index_bits = 8, tile_rows = 64>>
        ins(%at, %vt, %it : memref<256x64xf16, strided<[128, 1], offset: ?>>, memref<1x64x64xf16, strided<[32768, 64, 1], offset: ?>>, memref<1x64x1xi8, strided<[512, 1, 1], offset: ?>>)
        outs(%cb : memref<64x64xf16, strided<[128, 1], offset: ?>>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Roles change their registers to those that the schedule names. Without `blocks`, each block has one tile; here that has one step.
// CHECK-LABEL: func.func @one_step
// CHECK: scf.forall (%{{.*}}, %{{.*}}) in (1, 1) {
// CHECK: nm.warps 0 to 8 registers 216 {
// CHECK-NOT: scf.for
// CHECK: nm.wait async_proxy %{{.*}}[%c0] : <3>
// CHECK: nm.spmm
// CHECK-NEXT: nm.end_tile %{{.*}} : memref<256x128xf16>
// CHECK-NEXT: nm.signal <warpgroup> %{{.*}}[%c0] : <3>
// CHECK: nm.warps 8 to 12 registers 72 {
func.func @one_step(%a: memref<64x256xf16>, %v: memref<1x16x128xf16>, %i: memref<1x16x1xi8>, %c: memref<256x128xf16>) {
  %zero = arith.constant 0.0 : f16
  scf.forall (%m, %n) in (1, 1) {
    linalg.fill ins(%zero : f16) outs(%c : memref<256x128xf16>)
    nm.spmm <8:32, block = 1x128> transpose_a packing #nm.packing<panel = 128, index_bits = 8, tile_rows = 16>
      schedule #nm.wgmma<block = [256, 128, 64], warpgroup = [256, 64], stages = 3, producers = 4, producer_registers = 72, consumer_registers = 216, packing = <panel = 128, index_bits = 8, tile_rows = 16>>
      ins(%a, %v, %i : memref<64x256xf16>, memref<1x16x128xf16>, memref<1x16x1xi8>) outs(%c : memref<256x128xf16>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
