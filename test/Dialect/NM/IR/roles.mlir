// RUN: nm-opt %s | nm-opt | FileCheck %s
// RUN: nm-opt %s --mlir-print-op-generic | nm-opt | FileCheck %s

#gathered = #nm.tile_layout<[16384, 64, 1], panels = [64, 4096], xor = [2:3 with 1:0 for 3]>
!rows = memref<64x256xf16, #nm.tile_layout<[64, 1], offset = ?, panels = [64, 4096], xor = [1:3 with 0:0 for 3]>, #gpu.address_space<workgroup>>
!weights = memref<1x64x128xf16, strided<[8192, 128, 1], offset: ?>, #gpu.address_space<workgroup>>

// Exact gather with roles. Four warps copy the rows of A that a list names, and
// the weights by one bulk copy; eight multiply, and free the slot of a product
// when the one after it has started. The tile of C is theirs alone.
// CHECK-LABEL: func.func @exact_gather
// CHECK: %[[FULL:.*]] = nm.barriers : <4>
// CHECK: %[[EMPTY:.*]] = nm.barriers : <4>
// CHECK: nm.warps 0 to 8 registers 208 {
// CHECK: nm.wait async_proxy %[[FULL]][%{{.*}}] : <4>
// CHECK: nm.spmm <1:1, block = 64x128>
// CHECK: nm.signal <warpgroup> %[[EMPTY]][%{{.*}}] where %{{.*}} : <4>
// CHECK: nm.signal <warpgroup> %[[EMPTY]][%{{.*}}] : <4>
// CHECK: nm.warps 8 to 12 registers 88 {
// CHECK: nm.wait %[[EMPTY]][%{{.*}}] : <4>
// CHECK: %[[T0:.*]] = nm.copy <bulk> %{{.*}} to %{{.*}} : memref<1x64x128xf16, strided<[131072, 128, 1], offset: ?>> to
// CHECK: %[[T1:.*]] = nm.copy <direct> %{{.*}} to %{{.*}} rows
// CHECK: nm.signal <thread> %[[FULL]][%{{.*}}] tokens %[[T0]], %[[T1]] : <4>
func.func @exact_gather(%a: memref<4096x256xf16>, %v: memref<1x1024x128xf16>, %i: memref<1x1024x1xi8>, %c: memref<256x128xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c15 = arith.constant 15 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %a_ring = memref.alloc() : memref<4x64x256xf16, #gathered, #gpu.address_space<workgroup>>
  %v_ring = memref.alloc() : memref<4x1x64x128xf16, strided<[8192, 8192, 128, 1]>, #gpu.address_space<workgroup>>
  %full = nm.barriers : !nm.barriers<4>
  %empty = nm.barriers : !nm.barriers<4>
  nm.warps 0 to 8 registers 208 {
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
      %vt = memref.subview %v[0, %row, 0] [1, 64, 128] [1, 1, 1] : memref<1x1024x128xf16> to memref<1x64x128xf16, strided<[131072, 128, 1], offset: ?>>
      %it = memref.subview %i[0, %row, 0] [1, 64, 1] [1, 1, 1] : memref<1x1024x1xi8> to memref<1x64x1xi8, strided<[1024, 1, 1], offset: ?>>
      %free = arith.subi %step, %c4 : index
      %over = nm.wait %empty[%free] : !nm.barriers<4>
      %turn = arith.remui %step, %c4 : index
      %a_slot = nm.slot %a_ring[%turn] : memref<4x64x256xf16, #gathered, #gpu.address_space<workgroup>> to !rows
      %v_slot = nm.slot %v_ring[%turn] : memref<4x1x64x128xf16, strided<[8192, 8192, 128, 1]>, #gpu.address_space<workgroup>> to !weights
      %t0 = nm.copy <bulk> %vt to %v_slot after %over arrives %full[%step] : !nm.barriers<4> : memref<1x64x128xf16, strided<[131072, 128, 1], offset: ?>> to !weights -> !nm.token
      %t1 = nm.copy <direct> %at to %a_slot rows %it <pattern = <8:32, block = 1x128>, packing = <panel = 128, index_bits = 8>, windows = 8> : memref<1x64x1xi8, strided<[1024, 1, 1], offset: ?>> after %over arrives %full[%step] : !nm.barriers<4>
        : memref<256x256xf16, strided<[256, 1], offset: ?>> to !rows -> !nm.token
      nm.signal <thread> %full[%step] tokens %t0, %t1 : !nm.barriers<4>
    }
  }
  return
}

// Weights that skip two of each four, whose values, metadata and activations all
// come by bulk copies, which one warp starts; products by mma.sp read them.
// CHECK-LABEL: func.func @sparse_operand
// CHECK: nm.warps 4 to 5 {
// CHECK: nm.signal <thread> %{{.*}}[%{{.*}}] tokens %{{.*}}, %{{.*}}, %{{.*}} : <3>
// CHECK: nm.warps 0 to 4 {
// CHECK: nm.wait %{{.*}}[%{{.*}}] : <3>
// CHECK: nm.signal <warp> %{{.*}}[%{{.*}}] : <3>
func.func @sparse_operand(%a: memref<8x64x128xf16>, %v: memref<8x32x128xf16>, %meta: memref<8x128x8xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %a_ring = memref.alloc() : memref<3x1x64x128xf16, #gpu.address_space<workgroup>>
  %v_ring = memref.alloc() : memref<3x1x32x128xf16, #gpu.address_space<workgroup>>
  %meta_ring = memref.alloc() : memref<3x1x128x8xi8, #gpu.address_space<workgroup>>
  %full = nm.barriers : !nm.barriers<3>
  %empty = nm.barriers : !nm.barriers<3>
  nm.warps 4 to 5 {
    scf.for %step = %c0 to %c8 step %c1 {
      %free = arith.subi %step, %c3 : index
      %over = nm.wait %empty[%free] : !nm.barriers<3>
      %turn = arith.remui %step, %c3 : index
      %as = nm.slot %a_ring[%turn] : memref<3x1x64x128xf16, #gpu.address_space<workgroup>> to memref<1x64x128xf16, strided<[8192, 128, 1], offset: ?>, #gpu.address_space<workgroup>>
      %vs = nm.slot %v_ring[%turn] : memref<3x1x32x128xf16, #gpu.address_space<workgroup>> to memref<1x32x128xf16, strided<[4096, 128, 1], offset: ?>, #gpu.address_space<workgroup>>
      %ms = nm.slot %meta_ring[%turn] : memref<3x1x128x8xi8, #gpu.address_space<workgroup>> to memref<1x128x8xi8, strided<[1024, 8, 1], offset: ?>, #gpu.address_space<workgroup>>
      %at = memref.subview %a[%step, 0, 0] [1, 64, 128] [1, 1, 1] : memref<8x64x128xf16> to memref<1x64x128xf16, strided<[8192, 128, 1], offset: ?>>
      %vt = memref.subview %v[%step, 0, 0] [1, 32, 128] [1, 1, 1] : memref<8x32x128xf16> to memref<1x32x128xf16, strided<[4096, 128, 1], offset: ?>>
      %mt = memref.subview %meta[%step, 0, 0] [1, 128, 8] [1, 1, 1] : memref<8x128x8xi8> to memref<1x128x8xi8, strided<[1024, 8, 1], offset: ?>>
      %t0 = nm.copy <bulk> %at to %as after %over arrives %full[%step] : !nm.barriers<3> : memref<1x64x128xf16, strided<[8192, 128, 1], offset: ?>> to memref<1x64x128xf16, strided<[8192, 128, 1], offset: ?>, #gpu.address_space<workgroup>> -> !nm.token
      %t1 = nm.copy <bulk> %vt to %vs after %over arrives %full[%step] : !nm.barriers<3> : memref<1x32x128xf16, strided<[4096, 128, 1], offset: ?>> to memref<1x32x128xf16, strided<[4096, 128, 1], offset: ?>, #gpu.address_space<workgroup>> -> !nm.token
      %t2 = nm.copy <bulk> %mt to %ms after %over arrives %full[%step] : !nm.barriers<3> : memref<1x128x8xi8, strided<[1024, 8, 1], offset: ?>> to memref<1x128x8xi8, strided<[1024, 8, 1], offset: ?>, #gpu.address_space<workgroup>> -> !nm.token
      nm.signal <thread> %full[%step] tokens %t0, %t1, %t2 : !nm.barriers<3>
    }
  }
  nm.warps 0 to 4 {
    scf.for %step = %c0 to %c8 step %c1 {
      nm.wait %full[%step] : !nm.barriers<3>
      nm.signal <warp> %empty[%step] : !nm.barriers<3>
    }
  }
  return
}

// Warpgroups that start their products one after another.
// CHECK-LABEL: func.func @ordered
// CHECK: nm.warps 0 to 8 registers 232 ordered {
// CHECK: nm.warps 8 to 20 ordered {
func.func @ordered() {
  nm.warps 0 to 8 registers 232 ordered {
  }
  nm.warps 8 to 20 ordered {
  }
  return
}
