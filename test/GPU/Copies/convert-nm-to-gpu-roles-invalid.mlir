// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --convert-nm-to-gpu --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_90a --convert-nm-to-gpu --split-input-file

#gathered = #nm.tile_layout<[16384, 64, 1], panels = [64, 4096], xor = [2:3 with 1:0 for 3]>
!rows = memref<64x256xf16, #nm.tile_layout<[64, 1], offset = ?, panels = [64, 4096], xor = [1:3 with 0:0 for 3]>, #gpu.address_space<workgroup>>
!weights = memref<1x64x128xf16, strided<[8192, 128, 1], offset: ?>, #gpu.address_space<workgroup>>

// Lists are read in front of the wait for the slot.
func.func @no_wait(%a: memref<4096x256xf16>, %v: memref<1x1024x128xf16>, %i: memref<1x1024x1xi8>, %c: memref<256x128xf16>) {
  %zero = arith.constant 0.0 : f16
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c15 = arith.constant 15 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  scf.forall (%m, %n) in (1, 1) {
    %a_ring = memref.alloc() : memref<4x64x256xf16, #gathered, #gpu.address_space<workgroup>>
    %v_ring = memref.alloc() : memref<4x1x64x128xf16, strided<[8192, 8192, 128, 1]>, #gpu.address_space<workgroup>>
    %line = memref.alloc() : memref<256xf16, #gpu.address_space<workgroup>>
    %full = nm.barriers : !nm.barriers<4>
    %empty = nm.barriers : !nm.barriers<4>
    nm.warps 0 to 8 registers 208 {
      linalg.fill ins(%zero : f16) outs(%c : memref<256x128xf16>)
      scf.for %step = %c0 to %c16 step %c1 {
        nm.wait async_proxy %full[%step] : !nm.barriers<4>
        %turn = arith.remui %step, %c4 : index
        %a_slot = nm.slot %a_ring[%turn] : memref<4x64x256xf16, #gathered, #gpu.address_space<workgroup>> to !rows
        %v_slot = nm.slot %v_ring[%turn] : memref<4x1x64x128xf16, strided<[8192, 8192, 128, 1]>, #gpu.address_space<workgroup>> to !weights
        %one = memref.subview %i[0, 0, 0] [1, 1, 1] [1, 1, 1] : memref<1x1024x1xi8> to memref<1x1x1xi8, strided<[1024, 1, 1]>>
        nm.spmm <1:1, block = 64x128> transpose_a packing #nm.packing<panel = 128, index_bits = 8, tile_rows = 64>
          schedule #nm.wgmma<block = [256, 128, 256], warpgroup = [256, 64], stages = 4, producers = 4, packing = <panel = 128, index_bits = 8, tile_rows = 64>>
          ins(%a_slot, %v_slot, %one : !rows, !weights, memref<1x1x1xi8, strided<[1024, 1, 1]>>) outs(%c : memref<256x128xf16>)
        %is_later = arith.cmpi ne, %step, %c0 : index
        %before = arith.subi %step, %c1 : index
        nm.signal <warpgroup> %empty[%before] where %is_later : !nm.barriers<4>
      }
      nm.end_tile %c : memref<256x128xf16>
      nm.signal <warpgroup> %empty[%c15] : !nm.barriers<4>
    }
    nm.warps 8 to 12 registers 88 {
      scf.for %step = %c0 to %c16 step %c1 {
        %k = arith.muli %step, %c256 : index
        %row = arith.muli %step, %c64 : index
        %at = memref.subview %a[%k, 0] [256, 256] [1, 1] : memref<4096x256xf16> to memref<256x256xf16, strided<[256, 1], offset: ?>>
        %first = memref.subview %a[%k, 0] [1, 256] [1, 1] : memref<4096x256xf16> to memref<256xf16, strided<[1], offset: ?>>
        %it = memref.subview %i[0, %row, 0] [1, 64, 1] [1, 1, 1] : memref<1x1024x1xi8> to memref<1x64x1xi8, strided<[1024, 1, 1], offset: ?>>
        %free = arith.subi %step, %c4 : index
        %turn = arith.remui %step, %c4 : index
        %a_slot = nm.slot %a_ring[%turn] : memref<4x64x256xf16, #gathered, #gpu.address_space<workgroup>> to !rows
        // expected-error @+1 {{expected a wait for its slot, which it is 'after', but got none}}
        %t = nm.copy <direct> %at to %a_slot rows %it <pattern = <8:32, block = 1x128>, packing = <panel = 128, index_bits = 8>, windows = 8> : memref<1x64x1xi8, strided<[1024, 1, 1], offset: ?>> arrives %full[%step] : !nm.barriers<4>
          : memref<256x256xf16, strided<[256, 1], offset: ?>> to !rows -> !nm.token
        nm.signal <thread> %full[%step] tokens %t : !nm.barriers<4>
      }
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

#gathered = #nm.tile_layout<[16384, 64, 1], panels = [64, 4096], xor = [2:3 with 1:0 for 3]>
!rows = memref<64x256xf16, #nm.tile_layout<[64, 1], offset = ?, panels = [64, 4096], xor = [1:3 with 0:0 for 3]>, #gpu.address_space<workgroup>>
!weights = memref<1x64x128xf16, strided<[8192, 128, 1], offset: ?>, #gpu.address_space<workgroup>>

func.func @one_dimension(%a: memref<4096x256xf16>, %v: memref<1x1024x128xf16>, %i: memref<1x1024x1xi8>, %c: memref<256x128xf16>) {
  %zero = arith.constant 0.0 : f16
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c15 = arith.constant 15 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  scf.forall (%m, %n) in (1, 1) {
    %a_ring = memref.alloc() : memref<4x64x256xf16, #gathered, #gpu.address_space<workgroup>>
    %v_ring = memref.alloc() : memref<4x1x64x128xf16, strided<[8192, 8192, 128, 1]>, #gpu.address_space<workgroup>>
    %line = memref.alloc() : memref<256xf16, #gpu.address_space<workgroup>>
    %full = nm.barriers : !nm.barriers<4>
    %empty = nm.barriers : !nm.barriers<4>
    nm.warps 0 to 8 registers 208 {
      linalg.fill ins(%zero : f16) outs(%c : memref<256x128xf16>)
      scf.for %step = %c0 to %c16 step %c1 {
        nm.wait async_proxy %full[%step] : !nm.barriers<4>
        %turn = arith.remui %step, %c4 : index
        %a_slot = nm.slot %a_ring[%turn] : memref<4x64x256xf16, #gathered, #gpu.address_space<workgroup>> to !rows
        %v_slot = nm.slot %v_ring[%turn] : memref<4x1x64x128xf16, strided<[8192, 8192, 128, 1]>, #gpu.address_space<workgroup>> to !weights
        %one = memref.subview %i[0, 0, 0] [1, 1, 1] [1, 1, 1] : memref<1x1024x1xi8> to memref<1x1x1xi8, strided<[1024, 1, 1]>>
        nm.spmm <1:1, block = 64x128> transpose_a packing #nm.packing<panel = 128, index_bits = 8, tile_rows = 64>
          schedule #nm.wgmma<block = [256, 128, 256], warpgroup = [256, 64], stages = 4, producers = 4, packing = <panel = 128, index_bits = 8, tile_rows = 64>>
          ins(%a_slot, %v_slot, %one : !rows, !weights, memref<1x1x1xi8, strided<[1024, 1, 1]>>) outs(%c : memref<256x128xf16>)
        %is_later = arith.cmpi ne, %step, %c0 : index
        %before = arith.subi %step, %c1 : index
        nm.signal <warpgroup> %empty[%before] where %is_later : !nm.barriers<4>
      }
      nm.end_tile %c : memref<256x128xf16>
      nm.signal <warpgroup> %empty[%c15] : !nm.barriers<4>
    }
    nm.warps 8 to 12 registers 88 {
      scf.for %step = %c0 to %c16 step %c1 {
        %k = arith.muli %step, %c256 : index
        %row = arith.muli %step, %c64 : index
        %at = memref.subview %a[%k, 0] [256, 256] [1, 1] : memref<4096x256xf16> to memref<256x256xf16, strided<[256, 1], offset: ?>>
        %first = memref.subview %a[%k, 0] [1, 256] [1, 1] : memref<4096x256xf16> to memref<256xf16, strided<[1], offset: ?>>
        %it = memref.subview %i[0, %row, 0] [1, 64, 1] [1, 1, 1] : memref<1x1024x1xi8> to memref<1x64x1xi8, strided<[1024, 1, 1], offset: ?>>
        %free = arith.subi %step, %c4 : index
        %over = nm.wait %empty[%free] : !nm.barriers<4>
        %turn = arith.remui %step, %c4 : index
        %a_slot = nm.slot %a_ring[%turn] : memref<4x64x256xf16, #gathered, #gpu.address_space<workgroup>> to !rows
        // expected-error @+1 {{expected rows that 4 warps can share, but got 'memref<256xf16}}
        %t = nm.copy <direct> %first to %line after %over arrives %full[%step] : !nm.barriers<4> : memref<256xf16, strided<[1], offset: ?>> to memref<256xf16, #gpu.address_space<workgroup>> -> !nm.token
        nm.signal <thread> %full[%step] tokens %t : !nm.barriers<4>
      }
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

#gathered = #nm.tile_layout<[16384, 64, 1], panels = [64, 4096], xor = [2:3 with 1:0 for 3]>
!rows = memref<64x256xf16, #nm.tile_layout<[64, 1], offset = ?, panels = [64, 4096], xor = [1:3 with 0:0 for 3]>, #gpu.address_space<workgroup>>
!weights = memref<1x64x128xf16, strided<[8192, 128, 1], offset: ?>, #gpu.address_space<workgroup>>

// Warpgroups that do not wait for their products have no turns.
func.func @ordered(%a: memref<4096x256xf16>, %v: memref<1x1024x128xf16>, %i: memref<1x1024x1xi8>, %c: memref<256x128xf16>) {
  %zero = arith.constant 0.0 : f16
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c15 = arith.constant 15 : index
  %c16 = arith.constant 16 : index
  scf.forall (%m, %n) in (1, 1) {
    %a_ring = memref.alloc() : memref<4x64x256xf16, #gathered, #gpu.address_space<workgroup>>
    %v_ring = memref.alloc() : memref<4x1x64x128xf16, strided<[8192, 8192, 128, 1]>, #gpu.address_space<workgroup>>
    %full = nm.barriers : !nm.barriers<4>
    %empty = nm.barriers : !nm.barriers<4>
    // expected-error @+1 {{expected promoted sums for 'ordered', but its products are not waited for}}
    nm.warps 0 to 8 registers 208 ordered {
      linalg.fill ins(%zero : f16) outs(%c : memref<256x128xf16>)
      scf.for %step = %c0 to %c16 step %c1 {
        nm.wait async_proxy %full[%step] : !nm.barriers<4>
        %turn = arith.remui %step, %c4 : index
        %a_slot = nm.slot %a_ring[%turn] : memref<4x64x256xf16, #gathered, #gpu.address_space<workgroup>> to !rows
        %v_slot = nm.slot %v_ring[%turn] : memref<4x1x64x128xf16, strided<[8192, 8192, 128, 1]>, #gpu.address_space<workgroup>> to !weights
        %one = memref.subview %i[0, 0, 0] [1, 1, 1] [1, 1, 1] : memref<1x1024x1xi8> to memref<1x1x1xi8, strided<[1024, 1, 1]>>
        nm.spmm <1:1, block = 64x128> transpose_a packing #nm.packing<panel = 128, index_bits = 8, tile_rows = 64>
          schedule #nm.wgmma<block = [256, 128, 256], warpgroup = [256, 64], stages = 4, producers = 4, packing = <panel = 128, index_bits = 8, tile_rows = 64>>
          ins(%a_slot, %v_slot, %one : !rows, !weights, memref<1x1x1xi8, strided<[1024, 1, 1]>>) outs(%c : memref<256x128xf16>)
        %is_later = arith.cmpi ne, %step, %c0 : index
        %before = arith.subi %step, %c1 : index
        nm.signal <warpgroup> %empty[%before] where %is_later : !nm.barriers<4>
      }
      nm.end_tile %c : memref<256x128xf16>
      nm.signal <warpgroup> %empty[%c15] : !nm.barriers<4>
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

#gathered = #nm.tile_layout<[16384, 64, 1], panels = [64, 4096], xor = [2:3 with 1:0 for 3]>
!rows = memref<64x256xf16, #nm.tile_layout<[64, 1], offset = ?, panels = [64, 4096], xor = [1:3 with 0:0 for 3]>, #gpu.address_space<workgroup>>
!weights = memref<1x64x128xf16, strided<[8192, 128, 1], offset: ?>, #gpu.address_space<workgroup>>

// Who multiplies finds its part of the tile by the number of its warp.
func.func @other_warps(%a: memref<4096x256xf16>, %v: memref<1x1024x128xf16>, %i: memref<1x1024x1xi8>, %c: memref<256x128xf16>) {
  %zero = arith.constant 0.0 : f16
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c15 = arith.constant 15 : index
  %c16 = arith.constant 16 : index
  scf.forall (%m, %n) in (1, 1) {
    %a_ring = memref.alloc() : memref<4x64x256xf16, #gathered, #gpu.address_space<workgroup>>
    %v_ring = memref.alloc() : memref<4x1x64x128xf16, strided<[8192, 8192, 128, 1]>, #gpu.address_space<workgroup>>
    %full = nm.barriers : !nm.barriers<4>
    %empty = nm.barriers : !nm.barriers<4>
    // expected-error @+1 {{expected its product to be of warps 0 to 8, as the schedule says, but got warps 4 to 12}}
    nm.warps 4 to 12 registers 208 {
      linalg.fill ins(%zero : f16) outs(%c : memref<256x128xf16>)
      scf.for %step = %c0 to %c16 step %c1 {
        nm.wait async_proxy %full[%step] : !nm.barriers<4>
        %turn = arith.remui %step, %c4 : index
        %a_slot = nm.slot %a_ring[%turn] : memref<4x64x256xf16, #gathered, #gpu.address_space<workgroup>> to !rows
        %v_slot = nm.slot %v_ring[%turn] : memref<4x1x64x128xf16, strided<[8192, 8192, 128, 1]>, #gpu.address_space<workgroup>> to !weights
        %one = memref.subview %i[0, 0, 0] [1, 1, 1] [1, 1, 1] : memref<1x1024x1xi8> to memref<1x1x1xi8, strided<[1024, 1, 1]>>
        nm.spmm <1:1, block = 64x128> transpose_a packing #nm.packing<panel = 128, index_bits = 8, tile_rows = 64>
          schedule #nm.wgmma<block = [256, 128, 256], warpgroup = [256, 64], stages = 4, producers = 4, packing = <panel = 128, index_bits = 8, tile_rows = 64>>
          ins(%a_slot, %v_slot, %one : !rows, !weights, memref<1x1x1xi8, strided<[1024, 1, 1]>>) outs(%c : memref<256x128xf16>)
        %is_later = arith.cmpi ne, %step, %c0 : index
        %before = arith.subi %step, %c1 : index
        nm.signal <warpgroup> %empty[%before] where %is_later : !nm.barriers<4>
      }
      nm.end_tile %c : memref<256x128xf16>
      nm.signal <warpgroup> %empty[%c15] : !nm.barriers<4>
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
