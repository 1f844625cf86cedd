// RUN: nm-opt %s | nm-opt | FileCheck %s
// RUN: nm-opt %s --mlir-print-op-generic | nm-opt | FileCheck %s
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --convert-nm-to-gpu | FileCheck %s --check-prefix=LAUNCH

// The kernels of strategies simt and gemv, whole, as the stages before
// convert-nm-to-gpu leave them.

!a_tile = memref<64x128xf32, strided<[512, 1], offset: ?>>
!a_ring = memref<2x128x64xf32, #nm.tile_layout<[8704, 68, 1], order = [[], [2, 3, 4, 0, 1], []]>, #gpu.address_space<workgroup>>
!a_slot = memref<128x64xf32, #nm.tile_layout<[68, 1], offset = ?, order = [[2, 3, 4, 0, 1], []]>, #gpu.address_space<workgroup>>
!a_fragment = !nm.fragment<memref<128x64xf32, #nm.tile_layout<[68, 1], order = [[2, 3, 4, 0, 1], []]>, #gpu.address_space<workgroup>>>
!v_tile = memref<2x32x32xf32, strided<[4096, 32, 1], offset: ?>>
!v_ring = memref<2x2x32x32xf32, strided<[2048, 32, 64, 1]>, #gpu.address_space<workgroup>>
!v_slot = memref<2x32x32xf32, strided<[32, 64, 1], offset: ?>, #gpu.address_space<workgroup>>
!i_tile = memref<2x32x1xi8, strided<[128, 1, 1], offset: ?>>
!c_tile = memref<64x64xf32, strided<[128, 1], offset: ?>>

// A block makes 64 x 64 of C in four tiles of 128 along k. While one is
// multiplied, A's next squares are in registers and the next weights on their
// way to the other slot.
// CHECK-LABEL: func.func @simt
// CHECK: scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (128, 128) step (64, 64) {
// CHECK: %[[F:.*]] = nm.load_tile <squares>
// CHECK: nm.copy <direct>
// CHECK: %[[G:.*]] = nm.group
// CHECK: nm.store_tile %[[F]]
// CHECK: %[[LAST:.*]] = scf.for %{{.*}} iter_args(%[[CARRIED:.*]] = %[[G]]) -> (!nm.token)
// CHECK: nm.await <block> %[[CARRIED]]
// CHECK: %[[NEXT:.*]] = nm.load_tile <squares>
// CHECK: nm.copy <direct>
// CHECK: %[[ENDED:.*]] = nm.group
// CHECK: nm.spmm <8:32, block = 1x32> transpose_a packing #nm.packing<panel = 32, index_bits = 8> schedule #nm.simt<
// CHECK: nm.store_tile %[[NEXT]]
// CHECK: scf.yield %[[ENDED]]
// CHECK: nm.await <block> %[[LAST]]
// CHECK: nm.spmm
// CHECK: mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]
// LAUNCH-LABEL: func.func @simt
// LAUNCH: gpu.launch
// LAUNCH-NOT: nm.
// LAUNCH: gpu.terminator
func.func @simt(%a: memref<128x512xf32>, %v: memref<4x128x32xf32>, %i: memref<4x128x1xi8>, %c: memref<128x128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c96 = arith.constant 96 : index
  %c128 = arith.constant 128 : index
  %c384 = arith.constant 384 : index
  scf.forall (%m, %n) = (0, 0) to (128, 128) step (64, 64) {
    %panel = arith.divui %n, %c32 : index
    %ct = memref.subview %c[%m, %n] [64, 64] [1, 1] : memref<128x128xf32> to !c_tile
    %a_ring = memref.alloc() : !a_ring
    %v_ring = memref.alloc() : !v_ring
    %a0 = nm.slot %a_ring[%c0] : !a_ring to !a_slot
    %v0 = nm.slot %v_ring[%c0] : !v_ring to !v_slot
    %at = memref.subview %a[%m, %c0] [64, 128] [1, 1] : memref<128x512xf32> to !a_tile
    %vt = memref.subview %v[%panel, %c0, 0] [2, 32, 32] [1, 1, 1] : memref<4x128x32xf32> to !v_tile
    %f = nm.load_tile <squares> %at transpose : !a_tile -> !a_fragment
    %t = nm.copy <direct> %vt to %v0 : !v_tile to !v_slot -> !nm.token
    %g = nm.group %t
    nm.store_tile %f to %a0 : !a_fragment to !a_slot
    %last = scf.for %k = %c0 to %c384 step %c128 iter_args(%carried = %g) -> (!nm.token) {
      %this = arith.divui %k, %c128 : index
      %now = arith.remui %this, %c2 : index
      %as = nm.slot %a_ring[%now] : !a_ring to !a_slot
      %vs = nm.slot %v_ring[%now] : !v_ring to !v_slot
      %kept = arith.muli %this, %c32 : index
      %it = memref.subview %i[%panel, %kept, 0] [2, 32, 1] [1, 1, 1] : memref<4x128x1xi8> to !i_tile
      %next = arith.addi %this, %c1 : index
      %then = arith.remui %next, %c2 : index
      %an = nm.slot %a_ring[%then] : !a_ring to !a_slot
      %vn = nm.slot %v_ring[%then] : !v_ring to !v_slot
      %next_k = arith.addi %k, %c128 : index
      %next_kept = arith.muli %next, %c32 : index
      %an_tile = memref.subview %a[%m, %next_k] [64, 128] [1, 1] : memref<128x512xf32> to !a_tile
      %vn_tile = memref.subview %v[%panel, %next_kept, 0] [2, 32, 32] [1, 1, 1] : memref<4x128x32xf32> to !v_tile
      nm.await <block> %carried
      %fn = nm.load_tile <squares> %an_tile transpose : !a_tile -> !a_fragment
      %tn = nm.copy <direct> %vn_tile to %vn : !v_tile to !v_slot -> !nm.token
      %gn = nm.group %tn
      nm.spmm <8:32, block = 1x32> transpose_a packing #nm.packing<panel = 32, index_bits = 8>
        schedule #nm.simt<block = [64, 64, 128], warp = [32, 32], thread = [4, 8], stages = 2, copy_a = squares, layout_a = interleaved, prefetch = true, packing = <panel = 32, index_bits = 8>>
        ins(%as, %vs, %it : !a_slot, !v_slot, !i_tile) outs(%ct : !c_tile)
      nm.store_tile %fn to %an : !a_fragment to !a_slot
      scf.yield %gn : !nm.token
    }
    nm.await <block> %last
    %a1 = nm.slot %a_ring[%c1] : !a_ring to !a_slot
    %v1 = nm.slot %v_ring[%c1] : !v_ring to !v_slot
    %i1 = memref.subview %i[%panel, %c96, 0] [2, 32, 1] [1, 1, 1] : memref<4x128x1xi8> to !i_tile
    nm.spmm <8:32, block = 1x32> transpose_a packing #nm.packing<panel = 32, index_bits = 8>
      schedule #nm.simt<block = [64, 64, 128], warp = [32, 32], thread = [4, 8], stages = 2, copy_a = squares, layout_a = interleaved, prefetch = true, packing = <panel = 32, index_bits = 8>>
      ins(%a1, %v1, %i1 : !a_slot, !v_slot, !i_tile) outs(%ct : !c_tile)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

!x_part = memref<2048xf16, strided<[1], offset: ?>>
!v_part = memref<1x64x256xf16, strided<[32768, 256, 1], offset: ?>>
!i_part = memref<1x16x640xi8, strided<[20480, 640, 1], offset: ?>>
!sums = memref<32xf32, strided<[1], offset: ?>>
!parts = memref<2x256xf32, strided<[4096, 1], offset: ?>>
!y_tile = memref<256xf32, strided<[1], offset: ?>>

// One row: weights go from global memory to registers, and only x to shared
// memory, so that no tile is copied. Blocks sum two parts of k, eight warps a
// part, and nm.combine adds these up in their order.
// CHECK-LABEL: func.func @gemv
// CHECK: scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (2, 4096) step (1, 32) {
// CHECK: linalg.fill
// CHECK: nm.spmv <8:32> packing #nm.packing<panel = 32, index_bits = 5, chunk_rows = 8, index_rows = 32> schedule #nm.gemv<block = [1, 32, 2048], {{.*}}split_k = 2, slice_k = 8
// CHECK: mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]
// CHECK: scf.forall (%{{.*}}) = (0) to (4096) step (256) {
// CHECK: nm.combine
// CHECK: mapping = [#gpu.block<linear_dim_0>]
// LAUNCH-LABEL: func.func @gemv
// LAUNCH: gpu.launch
// LAUNCH: gpu.terminator
func.func @gemv(%x: memref<4096xf16>, %v: memref<128x128x256xf16>, %i: memref<128x32x640xi8>, %partials: memref<2x4096xf32>, %y: memref<4096xf32>) {
  %zero = arith.constant 0.0 : f32
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c2048 = arith.constant 2048 : index
  scf.forall (%part, %n) = (0, 0) to (2, 4096) step (1, 32) {
    %panel = arith.divui %n, %c32 : index
    %k = arith.muli %part, %c2048 : index
    %chunk = arith.muli %part, %c64 : index
    %indices = arith.muli %part, %c16 : index
    %sums = memref.subview %partials[%part, %n] [1, 32] [1, 1] : memref<2x4096xf32> to !sums
    linalg.fill ins(%zero : f32) outs(%sums : !sums)
    %xt = memref.subview %x[%k] [2048] [1] : memref<4096xf16> to !x_part
    %vt = memref.subview %v[%panel, %chunk, 0] [1, 64, 256] [1, 1, 1] : memref<128x128x256xf16> to !v_part
    %it = memref.subview %i[%panel, %indices, 0] [1, 16, 640] [1, 1, 1] : memref<128x32x640xi8> to !i_part
    nm.spmv <8:32> packing #nm.packing<panel = 32, index_bits = 5, chunk_rows = 8, index_rows = 32>
      schedule #nm.gemv<block = [1, 32, 2048], warp = [1, 32], thread = [1, 1], stages = 2, split_k = 2, slice_k = 8, packing = <panel = 32, index_bits = 5, chunk_rows = 8, index_rows = 32>>
      ins(%xt, %vt, %it : !x_part, !v_part, !i_part) outs(%sums : !sums)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  scf.forall (%n) = (0) to (4096) step (256) {
    %parts = memref.subview %partials[0, %n] [2, 256] [1, 1] : memref<2x4096xf32> to !parts
    %yt = memref.subview %y[%n] [256] [1] : memref<4096xf32> to !y_tile
    linalg.fill ins(%zero : f32) outs(%yt : !y_tile)
    nm.combine ins(%parts : !parts) outs(%yt : !y_tile)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}
