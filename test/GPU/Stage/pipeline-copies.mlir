// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --nm-pipeline-copies --canonicalize --cse --split-input-file | FileCheck %s

// Two stages: the first tile is copied before the loop; in it, the next one's
// loads to registers are issued before the barrier and its copies after, and
// its stores follow the product; the last product stands after the loop.
// CHECK-LABEL: func.func @two_stages
// CHECK: %[[RING:.*]] = memref.alloc() : memref<2x32x64xf32, strided<[2176, 68, 1]>, #gpu.address_space<workgroup>>
// CHECK: %[[FIRST:.*]] = nm.slot %[[RING]][%c0]
// CHECK: %[[LOADED:.*]] = nm.load_tile <squares>
// CHECK: nm.copy <direct>
// CHECK: %[[GROUP:.*]] = nm.group
// CHECK: nm.store_tile %[[LOADED]] to %[[FIRST]]
// CHECK: %[[LAST:.*]] = scf.for %{{.*}} = %c0 to %c96 step %c32 iter_args(%[[CARRIED:.*]] = %[[GROUP]])
// CHECK: %[[NEXT:.*]] = nm.load_tile
// CHECK: nm.await <block> %[[CARRIED]]
// CHECK-NOT: nm.store_tile
// CHECK: nm.copy <direct>
// CHECK: %[[ENDED:.*]] = nm.group
// CHECK: nm.spmm
// CHECK: nm.store_tile %[[NEXT]]
// CHECK: scf.yield %[[ENDED]]
// CHECK: nm.await <block> %[[LAST]]
// CHECK: nm.spmm
// CHECK-NOT: nm.release
func.func @two_stages(%a: memref<64x128xf32>, %v: memref<4x64x32xf32>, %i: memref<4x64x1xi8>, %c: memref<64x128xf32>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  scf.forall (%m, %n) in (1, 1) {
    scf.for %k = %c0 to %c128 step %c32 {
      %w = affine.apply affine_map<(d0) -> (d0 floordiv 2)>(%k)
      %at = memref.subview %a[0, %k] [64, 32] [1, 1] : memref<64x128xf32> to memref<64x32xf32, strided<[128, 1], offset: ?>>
      %vt = memref.subview %v[0, %w, 0] [4, 16, 32] [1, 1, 1] : memref<4x64x32xf32> to memref<4x16x32xf32, strided<[2048, 32, 1], offset: ?>>
      %it = memref.subview %i[0, %w, 0] [4, 16, 1] [1, 1, 1] : memref<4x64x1xi8> to memref<4x16x1xi8, strided<[64, 1, 1], offset: ?>>
      nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
        schedule #nm.simt<block = [64, 128, 32], warp = [32, 64], thread = [8, 8], stages = 2, copy_a = squares>
        ins(%at, %vt, %it : memref<64x32xf32, strided<[128, 1], offset: ?>>, memref<4x16x32xf32, strided<[2048, 32, 1], offset: ?>>, memref<4x16x1xi8, strided<[64, 1, 1], offset: ?>>)
        outs(%c : memref<64x128xf32>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Loads of single elements, 16 a thread, hold no more registers than four of 16
// bytes: they are issued before the barrier too.
// CHECK-LABEL: func.func @single_elements
// CHECK: scf.for
// CHECK: nm.load_tile <elements>
// CHECK: nm.await
// CHECK: nm.spmm
func.func @single_elements(%a: memref<64x129xf32>, %v: memref<4x64x32xf32>, %i: memref<4x64x1xi8>, %c: memref<64x128xf32>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  scf.forall (%m, %n) in (1, 1) {
    scf.for %k = %c0 to %c128 step %c32 {
      %w = affine.apply affine_map<(d0) -> (d0 floordiv 2)>(%k)
      %at = memref.subview %a[0, %k] [64, 32] [1, 1] : memref<64x129xf32> to memref<64x32xf32, strided<[129, 1], offset: ?>>
      %vt = memref.subview %v[0, %w, 0] [4, 16, 32] [1, 1, 1] : memref<4x64x32xf32> to memref<4x16x32xf32, strided<[2048, 32, 1], offset: ?>>
      %it = memref.subview %i[0, %w, 0] [4, 16, 1] [1, 1, 1] : memref<4x64x1xi8> to memref<4x16x1xi8, strided<[64, 1, 1], offset: ?>>
      nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
        schedule #nm.simt<block = [64, 128, 32], warp = [32, 64], thread = [8, 8], stages = 2>
        ins(%at, %vt, %it : memref<64x32xf32, strided<[129, 1], offset: ?>>, memref<4x16x32xf32, strided<[2048, 32, 1], offset: ?>>, memref<4x16x1xi8, strided<[64, 1, 1], offset: ?>>)
        outs(%c : memref<64x128xf32>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// With late_loads, they are asked for behind the barrier.
// CHECK-LABEL: func.func @late_loads
// CHECK: scf.for %{{.*}} iter_args
// CHECK-NOT: nm.load_tile
// CHECK: nm.await
// CHECK: nm.load_tile <elements>
// CHECK: nm.spmm
func.func @late_loads(%a: memref<64x129xf32>, %v: memref<4x64x32xf32>, %i: memref<4x64x1xi8>, %c: memref<64x128xf32>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  scf.forall (%m, %n) in (1, 1) {
    scf.for %k = %c0 to %c128 step %c32 {
      %w = affine.apply affine_map<(d0) -> (d0 floordiv 2)>(%k)
      %at = memref.subview %a[0, %k] [64, 32] [1, 1] : memref<64x129xf32> to memref<64x32xf32, strided<[129, 1], offset: ?>>
      %vt = memref.subview %v[0, %w, 0] [4, 16, 32] [1, 1, 1] : memref<4x64x32xf32> to memref<4x16x32xf32, strided<[2048, 32, 1], offset: ?>>
      %it = memref.subview %i[0, %w, 0] [4, 16, 1] [1, 1, 1] : memref<4x64x1xi8> to memref<4x16x1xi8, strided<[64, 1, 1], offset: ?>>
      nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
        schedule #nm.simt<block = [64, 128, 32], warp = [32, 64], thread = [8, 8], stages = 2, late_loads = true>
        ins(%at, %vt, %it : memref<64x32xf32, strided<[129, 1], offset: ?>>, memref<4x16x32xf32, strided<[2048, 32, 1], offset: ?>>, memref<4x16x1xi8, strided<[64, 1, 1], offset: ?>>)
        outs(%c : memref<64x128xf32>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Three stages: two groups are in flight before the loop, and the older one is
// awaited in it; two products follow the loop, in one of their own.
// CHECK-LABEL: func.func @three_stages
// CHECK: memref.alloc() : memref<3x32x64xf32
// CHECK: %[[OLD:.*]] = nm.group
// CHECK: %[[YOUNG:.*]] = nm.group
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c32 iter_args(%[[FIRST:.*]] = %[[OLD]], %[[SECOND:.*]] = %[[YOUNG]])
// CHECK: nm.await <block> %[[FIRST]]
// CHECK: %[[NEW:.*]] = nm.group
// CHECK: nm.spmm
// CHECK: scf.yield %[[SECOND]], %[[NEW]]
// CHECK: scf.for %{{.*}} = %c64 to %c128 step %c32
// CHECK-NEXT: nm.await <block> %{{.*}}#0, %{{.*}}#1
// CHECK: nm.spmm
func.func @three_stages(%a: memref<64x128xf32>, %v: memref<64x128xf32>, %i: memref<64x128xi8>, %c: memref<64x128xf32>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  scf.forall (%m, %n) in (1, 1) {
    scf.for %k = %c0 to %c128 step %c32 {
      %w = affine.apply affine_map<(d0) -> (d0 floordiv 2)>(%k)
      %at = memref.subview %a[0, %k] [64, 32] [1, 1] : memref<64x128xf32> to memref<64x32xf32, strided<[128, 1], offset: ?>>
      %vt = memref.subview %v[%w, 0] [16, 128] [1, 1] : memref<64x128xf32> to memref<16x128xf32, strided<[128, 1], offset: ?>>
      %it = memref.subview %i[%w, 0] [16, 128] [1, 1] : memref<64x128xi8> to memref<16x128xi8, strided<[128, 1], offset: ?>>
      nm.spmm <2:4> schedule #nm.simt<block = [64, 128, 32], warp = [32, 64], thread = [8, 8], stages = 3, copy_a = squares>
        ins(%at, %vt, %it : memref<64x32xf32, strided<[128, 1], offset: ?>>, memref<16x128xf32, strided<[128, 1], offset: ?>>, memref<16x128xi8, strided<[128, 1], offset: ?>>)
        outs(%c : memref<64x128xf32>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// One tile: what is staged stays as it is.
// CHECK-LABEL: func.func @one_tile
// CHECK: nm.load_tile
// CHECK: %[[GROUP:.*]] = nm.group
// CHECK: nm.store_tile
// CHECK-NEXT: nm.await <block> %[[GROUP]]
// CHECK-NEXT: nm.spmm
// CHECK-NOT: nm.release
func.func @one_tile(%a: memref<64x32xf32>, %v: memref<16x100xf32>, %i: memref<16x100xi8>, %c: memref<64x100xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:4> schedule #nm.simt<block = [64, 128, 32], warp = [32, 64], thread = [8, 8], stages = 2, copy_a = squares>
      ins(%a, %v, %i : memref<64x32xf32>, memref<16x100xf32>, memref<16x100xi8>)
      outs(%c : memref<64x100xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
