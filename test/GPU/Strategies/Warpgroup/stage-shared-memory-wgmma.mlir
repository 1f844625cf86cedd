// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --canonicalize --cse --split-input-file | FileCheck %s

// The rows of A that the weights keep, 16 of them and then the next 16, and the
// weights are copied to panels of 64 columns in 128-byte rows, swizzled. The
// asynchronous proxy reads them. The product says which rows of A it has.
// CHECK-LABEL: func.func @kept_rows
// CHECK-SAME: %[[A:[^:]*]]: memref<128x64xf16>, %[[V:[^:]*]]: memref<1x32x128xf16>, %[[I:[^:]*]]: memref<1x32x1xi8>, %[[C:[^:]*]]: memref<64x128xf32>
// CHECK: %[[AS:.*]] = memref.alloc() : memref<32x64xf16, #nm.tile_layout<[64, 1], panels = [64, 2048], xor = [1:3 with 0:0 for 3]>, #gpu.address_space<workgroup>>
// CHECK: %[[T0:.*]] = nm.copy <direct> %[[A]] to %[[AS]] rows %[[I]] <pattern = <8:32, block = 1x128>, packing = <panel = 128, index_bits = 8>, windows = 4> : memref<1x32x1xi8>
// CHECK: %[[VS:.*]] = memref.alloc() : memref<1x32x128xf16, #nm.tile_layout<[4096, 64, 1], panels = [64, 2048], xor = [2:3 with 1:0 for 3]>, #gpu.address_space<workgroup>>
// CHECK: %[[T1:.*]] = nm.copy <direct> %[[V]] to %[[VS]] :
// CHECK: %[[GROUP:.*]] = nm.group %[[T0]], %[[T1]]
// CHECK: nm.await <block> async_proxy %[[GROUP]]
// CHECK: nm.spmm <8:32, block = 1x128> transpose_a gathered [4, 8] packing
// CHECK-SAME: ins(%[[AS]], %[[VS]], %[[I]] :
// CHECK-SAME: outs(%[[C]] : memref<64x128xf32>)
func.func @kept_rows(%a: memref<128x64xf16>, %v: memref<1x32x128xf16>, %i: memref<1x32x1xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <8:32, block = 1x128> transpose_a packing #nm.packing<panel = 128, index_bits = 8>
      schedule #nm.wgmma<block = [64, 128, 128], warpgroup = [64, 64], stages = 3, packing = <panel = 128, index_bits = 8>>
      ins(%a, %v, %i : memref<128x64xf16>, memref<1x32x128xf16>, memref<1x32x1xi8>)
      outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Fifteen kept rows and one of zeros; a unit that is a tile needs no list.
// CHECK-LABEL: func.func @filled_up
// CHECK: nm.copy <direct> {{.*}} windows = 3> : memref<1x15x1xi8> : memref<48x64xbf16> to memref<16x64xbf16, #nm.tile_layout
// CHECK: nm.copy <direct> {{.*}} : memref<1x15x64xbf16> to memref<1x16x64xbf16, #nm.tile_layout
// CHECK: nm.spmm <5:16, block = 1x64> transpose_a gathered [3, 5] packing
// CHECK-LABEL: func.func @unit
// CHECK: nm.copy <direct> %{{[^ ]*}} to %{{[^ ]*}} : memref<64x64xbf16> to memref<64x64xbf16, #nm.tile_layout
// CHECK: nm.spmm <1:1, block = 64x64> transpose_a packing
func.func @filled_up(%a: memref<48x64xbf16>, %v: memref<1x15x64xbf16>, %i: memref<1x15x1xi8>, %c: memref<64x64xbf16>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <5:16, block = 1x64> transpose_a packing #nm.packing<panel = 64, index_bits = 8>
      schedule #nm.wgmma<block = [64, 64, 48], warpgroup = [64, 64], stages = 3, packing = <panel = 64, index_bits = 8>>
      ins(%a, %v, %i : memref<48x64xbf16>, memref<1x15x64xbf16>, memref<1x15x1xi8>)
      outs(%c : memref<64x64xbf16>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

func.func @unit(%a: memref<64x64xbf16>, %v: memref<1x64x64xbf16>, %i: memref<1x1x1xi8>, %c: memref<64x64xbf16>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <1:1, block = 64x64> transpose_a packing #nm.packing<panel = 64, index_bits = 8>
      schedule #nm.wgmma<block = [64, 64, 64], warpgroup = [64, 64], stages = 3, packing = <panel = 64, index_bits = 8>>
      ins(%a, %v, %i : memref<64x64xbf16>, memref<1x64x64xbf16>, memref<1x1x1xi8>)
      outs(%c : memref<64x64xbf16>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
