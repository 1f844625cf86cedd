// RUN: nm-opt %s | nm-opt | FileCheck %s
// RUN: nm-opt %s --mlir-print-op-generic | nm-opt | FileCheck %s

// Kernels whose warps have roles and whose tiles all come by tensor copies, as
// one writes them by hand for Hopper. roles.mlir has the exact gather.

!a_of_24 = memref<256x64xf16, strided<[4096, 1], offset: ?>>
!v_of_24 = memref<2x1x2048xf16, strided<[131072, 2048, 1], offset: ?>>
!m_of_24 = memref<2x1x512xi8, strided<[32768, 512, 1], offset: ?>>
!a_ring_24 = memref<4x256x64xf16, #nm.tile_layout<[16384, 64, 1], panels = [64, 16384], xor = [2:3 with 1:0 for 3]>, #gpu.address_space<workgroup>>
!v_ring_24 = memref<4x2x1x2048xf16, strided<[4096, 2048, 2048, 1]>, #gpu.address_space<workgroup>>
!m_ring_24 = memref<4x2x1x512xi8, strided<[1024, 512, 512, 1]>, #gpu.address_space<workgroup>>
!a_slot_24 = memref<256x64xf16, #nm.tile_layout<[64, 1], offset = ?, panels = [64, 16384], xor = [1:3 with 0:0 for 3]>, #gpu.address_space<workgroup>>
!v_slot_24 = memref<2x1x2048xf16, strided<[2048, 2048, 1], offset: ?>, #gpu.address_space<workgroup>>
!m_slot_24 = memref<2x1x512xi8, strided<[512, 512, 1], offset: ?>, #gpu.address_space<workgroup>>
!c_of_24 = memref<256x128xf16, strided<[4096, 1], offset: ?>>

// 2:4 by wgmma.sp: two warpgroups multiply, and one thread starts the copies of
// activations, weights and metadata. 132 blocks take turns at 16 x 32 tiles of C,
// neighbours at those that share activations. A tile of C has 64 steps of the
// ring, which goes on from one tile to the next.
// CHECK-LABEL: func.func @sparse24
// CHECK: scf.forall (%[[BLOCK:.*]]) in (132) {
// CHECK: %[[FULL:.*]] = nm.barriers : <4>
// CHECK: %[[EMPTY:.*]] = nm.barriers : <4>
// CHECK: nm.warps 0 to 8 registers 232 {
// CHECK: scf.for %{{.*}} = %[[BLOCK]] to %{{.*}} iter_args(%[[FIRST:.*]] = %{{.*}}) -> (index)
// CHECK: linalg.fill
// CHECK: scf.for
// CHECK: nm.wait async_proxy %[[FULL]][%{{.*}}] : <4>
// CHECK: nm.spmm <2:4> packing #nm.sparse_operand<wgmma> schedule #nm.wgmma_sp<block = [256, 128, 64], warpgroup = [256, 64], stages = 4>
// CHECK: nm.signal <warpgroup> %[[EMPTY]][%{{.*}}] where %{{.*}} : <4>
// CHECK: nm.signal <warpgroup> %[[EMPTY]][%{{.*}}] : <4>
// CHECK: nm.warps 8 to 12 registers 32 {
// CHECK: nm.wait %[[EMPTY]][%{{.*}}] : <4>
// CHECK: %[[A:.*]] = nm.copy <tensor> %{{.*}} to %{{.*}} : memref<256x64xf16, strided<[4096, 1], offset: ?>> to memref<256x64xf16, #nm.tile_layout<[64, 1], offset = ?, panels = [64, 16384], xor = [1:3 with 0:0 for 3]>
// CHECK: %[[V:.*]] = nm.copy <tensor>
// CHECK: %[[M:.*]] = nm.copy <tensor>
// CHECK: nm.signal <thread> %[[FULL]][%{{.*}}] tokens %[[A]], %[[V]], %[[M]] : <4>
// CHECK: mapping = [#gpu.block<linear_dim_0>]
func.func @sparse24(%a: memref<4096x4096xf16>, %v: memref<64x64x2048xf16>, %meta: memref<64x64x512xi8>, %c: memref<4096x4096xf16>) {
  %zero = arith.constant 0.0 : f16
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c132 = arith.constant 132 : index
  %c256 = arith.constant 256 : index
  %c512 = arith.constant 512 : index
  scf.forall (%block) in (132) {
    %a_ring = memref.alloc() : !a_ring_24
    %v_ring = memref.alloc() : !v_ring_24
    %m_ring = memref.alloc() : !m_ring_24
    %full = nm.barriers : !nm.barriers<4>
    %empty = nm.barriers : !nm.barriers<4>
    nm.warps 0 to 8 registers 232 {
      %steps = scf.for %tile = %block to %c512 step %c132 iter_args(%first = %c0) -> (index) {
        %n_tile = arith.remui %tile, %c32 : index
        %m_tile = arith.divui %tile, %c32 : index
        %n = arith.muli %n_tile, %c128 : index
        %m = arith.muli %m_tile, %c256 : index
        %ct = memref.subview %c[%m, %n] [256, 128] [1, 1] : memref<4096x4096xf16> to !c_of_24
        linalg.fill ins(%zero : f16) outs(%ct : !c_of_24)
        scf.for %k = %c0 to %c64 step %c1 {
          %step = arith.addi %first, %k : index
          nm.wait async_proxy %full[%step] : !nm.barriers<4>
          %turn = arith.remui %step, %c4 : index
          %as = nm.slot %a_ring[%turn] : !a_ring_24 to !a_slot_24
          %vs = nm.slot %v_ring[%turn] : !v_ring_24 to !v_slot_24
          %ms = nm.slot %m_ring[%turn] : !m_ring_24 to !m_slot_24
          nm.spmm <2:4> packing #nm.sparse_operand<wgmma>
            schedule #nm.wgmma_sp<block = [256, 128, 64], warpgroup = [256, 64], stages = 4>
            ins(%as, %vs, %ms : !a_slot_24, !v_slot_24, !m_slot_24) outs(%ct : !c_of_24)
          %is_later = arith.cmpi ne, %k, %c0 : index
          %before = arith.subi %step, %c1 : index
          nm.signal <warpgroup> %empty[%before] where %is_later : !nm.barriers<4>
        }
        %last = arith.addi %first, %c63 : index
        nm.signal <warpgroup> %empty[%last] : !nm.barriers<4>
        %next = arith.addi %first, %c64 : index
        scf.yield %next : index
      }
    }
    nm.warps 8 to 12 registers 32 {
      %steps = scf.for %tile = %block to %c512 step %c132 iter_args(%first = %c0) -> (index) {
        %n_tile = arith.remui %tile, %c32 : index
        %m_tile = arith.divui %tile, %c32 : index
        %n_block = arith.muli %n_tile, %c2 : index
        %m = arith.muli %m_tile, %c256 : index
        scf.for %k = %c0 to %c64 step %c1 {
          %step = arith.addi %first, %k : index
          %row = arith.muli %k, %c64 : index
          %at = memref.subview %a[%m, %row] [256, 64] [1, 1] : memref<4096x4096xf16> to !a_of_24
          %vt = memref.subview %v[%n_block, %k, 0] [2, 1, 2048] [1, 1, 1] : memref<64x64x2048xf16> to !v_of_24
          %mt = memref.subview %meta[%n_block, %k, 0] [2, 1, 512] [1, 1, 1] : memref<64x64x512xi8> to !m_of_24
          %free = arith.subi %step, %c4 : index
          nm.wait %empty[%free] : !nm.barriers<4>
          %turn = arith.remui %step, %c4 : index
          %as = nm.slot %a_ring[%turn] : !a_ring_24 to !a_slot_24
          %vs = nm.slot %v_ring[%turn] : !v_ring_24 to !v_slot_24
          %ms = nm.slot %m_ring[%turn] : !m_ring_24 to !m_slot_24
          %t0 = nm.copy <tensor> %at to %as : !a_of_24 to !a_slot_24 -> !nm.token
          %t1 = nm.copy <tensor> %vt to %vs : !v_of_24 to !v_slot_24 -> !nm.token
          %t2 = nm.copy <tensor> %mt to %ms : !m_of_24 to !m_slot_24 -> !nm.token
          nm.signal <thread> %full[%step] tokens %t0, %t1, %t2 : !nm.barriers<4>
        }
        %next = arith.addi %first, %c64 : index
        scf.yield %next : index
      }
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

!a_of_32 = memref<128x128xf16, strided<[4096, 1], offset: ?>>
!v_of_32 = memref<8x32x32xf16, strided<[32768, 32, 1], offset: ?>>
!i_of_32 = memref<8x32x1xi8, strided<[1024, 1, 1], offset: ?>>
!a_ring_32 = memref<4x128x128xf16, #nm.tile_layout<[16384, 64, 1], panels = [64, 8192], xor = [2:3 with 1:0 for 3]>, #gpu.address_space<workgroup>>
!v_ring_32 = memref<4x8x32x32xf16, strided<[8192, 1024, 32, 1]>, #gpu.address_space<workgroup>>
!a_slot_32 = memref<128x128xf16, #nm.tile_layout<[64, 1], offset = ?, panels = [64, 8192], xor = [1:3 with 0:0 for 3]>, #gpu.address_space<workgroup>>
!v_slot_32 = memref<8x32x32xf16, strided<[1024, 32, 1], offset: ?>, #gpu.address_space<workgroup>>
!c_of_32 = memref<128x256xf16, strided<[4096, 1], offset: ?>>

// 8:32 in vectors of 32 by mma.sync: of an m-major A all rows of four windows
// come as they are, and ldmatrix picks those that indices name. Eight warps
// multiply, and free a slot each.
// CHECK-LABEL: func.func @mma_sync
// CHECK: %[[FULL:.*]] = nm.barriers : <4>
// CHECK: %[[EMPTY:.*]] = nm.barriers : <4>
// CHECK: nm.warps 0 to 8 registers 232 {
// CHECK: nm.wait %[[FULL]][%{{.*}}] : <4>
// CHECK: nm.spmm <8:32, block = 1x32> transpose_a packing #nm.packing<panel = 32, index_bits = 8> schedule #nm.mma_sync<block = [128, 256, 128], warp = [128, 32], stages = 4, packing = <panel = 32, index_bits = 8>>
// CHECK: nm.signal <warp> %[[EMPTY]][%{{.*}}] : <4>
// CHECK: nm.warps 8 to 12 registers 40 {
// CHECK: nm.wait %[[EMPTY]][%{{.*}}] : <4>
// CHECK: %[[A:.*]] = nm.copy <tensor> %{{.*}} to %{{.*}} : memref<128x128xf16, strided<[4096, 1], offset: ?>> to memref<128x128xf16, #nm.tile_layout<[64, 1], offset = ?, panels = [64, 8192], xor = [1:3 with 0:0 for 3]>
// CHECK: %[[V:.*]] = nm.copy <tensor>
// CHECK: nm.signal <thread> %[[FULL]][%{{.*}}] tokens %[[A]], %[[V]] : <4>
func.func @mma_sync(%a: memref<4096x4096xf16>, %v: memref<128x1024x32xf16>, %i: memref<128x1024x1xi8>, %c: memref<4096x4096xf16>) {
  %zero = arith.constant 0.0 : f16
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %c132 = arith.constant 132 : index
  %c256 = arith.constant 256 : index
  %c512 = arith.constant 512 : index
  scf.forall (%block) in (132) {
    %a_ring = memref.alloc() : !a_ring_32
    %v_ring = memref.alloc() : !v_ring_32
    %full = nm.barriers : !nm.barriers<4>
    %empty = nm.barriers : !nm.barriers<4>
    nm.warps 0 to 8 registers 232 {
      %steps = scf.for %tile = %block to %c512 step %c132 iter_args(%first = %c0) -> (index) {
        %n_tile = arith.remui %tile, %c16 : index
        %m_tile = arith.divui %tile, %c16 : index
        %n = arith.muli %n_tile, %c256 : index
        %m = arith.muli %m_tile, %c128 : index
        %panel = arith.muli %n_tile, %c8 : index
        %ct = memref.subview %c[%m, %n] [128, 256] [1, 1] : memref<4096x4096xf16> to !c_of_32
        linalg.fill ins(%zero : f16) outs(%ct : !c_of_32)
        scf.for %k = %c0 to %c32 step %c1 {
          %step = arith.addi %first, %k : index
          %kept = arith.muli %k, %c32 : index
          %it = memref.subview %i[%panel, %kept, 0] [8, 32, 1] [1, 1, 1] : memref<128x1024x1xi8> to !i_of_32
          nm.wait %full[%step] : !nm.barriers<4>
          %turn = arith.remui %step, %c4 : index
          %as = nm.slot %a_ring[%turn] : !a_ring_32 to !a_slot_32
          %vs = nm.slot %v_ring[%turn] : !v_ring_32 to !v_slot_32
          nm.spmm <8:32, block = 1x32> transpose_a packing #nm.packing<panel = 32, index_bits = 8>
            schedule #nm.mma_sync<block = [128, 256, 128], warp = [128, 32], stages = 4, packing = <panel = 32, index_bits = 8>>
            ins(%as, %vs, %it : !a_slot_32, !v_slot_32, !i_of_32) outs(%ct : !c_of_32)
          nm.signal <warp> %empty[%step] : !nm.barriers<4>
        }
        %next = arith.addi %first, %c32 : index
        scf.yield %next : index
      }
    }
    nm.warps 8 to 12 registers 40 {
      %steps = scf.for %tile = %block to %c512 step %c132 iter_args(%first = %c0) -> (index) {
        %n_tile = arith.remui %tile, %c16 : index
        %m_tile = arith.divui %tile, %c16 : index
        %panel = arith.muli %n_tile, %c8 : index
        %m = arith.muli %m_tile, %c128 : index
        scf.for %k = %c0 to %c32 step %c1 {
          %step = arith.addi %first, %k : index
          %row = arith.muli %k, %c128 : index
          %kept = arith.muli %k, %c32 : index
          %at = memref.subview %a[%row, %m] [128, 128] [1, 1] : memref<4096x4096xf16> to !a_of_32
          %vt = memref.subview %v[%panel, %kept, 0] [8, 32, 32] [1, 1, 1] : memref<128x1024x32xf16> to !v_of_32
          %free = arith.subi %step, %c4 : index
          nm.wait %empty[%free] : !nm.barriers<4>
          %turn = arith.remui %step, %c4 : index
          %as = nm.slot %a_ring[%turn] : !a_ring_32 to !a_slot_32
          %vs = nm.slot %v_ring[%turn] : !v_ring_32 to !v_slot_32
          %t0 = nm.copy <tensor> %at to %as : !a_of_32 to !a_slot_32 -> !nm.token
          %t1 = nm.copy <tensor> %vt to %vs : !v_of_32 to !v_slot_32 -> !nm.token
          nm.signal <thread> %full[%step] tokens %t0, %t1 : !nm.barriers<4>
        }
        %next = arith.addi %first, %c32 : index
        scf.yield %next : index
      }
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}
