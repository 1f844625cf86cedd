// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --canonicalize --cse --split-input-file | FileCheck %s

// Two units of each row of A, contiguous along k, are copied to a panel of 128
// bytes, swizzled; the list of them is of dimension 1.
// CHECK-LABEL: func.func @direct
// CHECK: %[[VS:.*]] = memref.alloc() : memref<1x128x64xi8, #gpu.address_space<workgroup>>
// CHECK: nm.copy <bulk> %{{.*}} to %[[VS]]
// CHECK: %[[AS:.*]] = memref.alloc() : memref<64x128xi8, #nm.tile_layout<[128, 1], panels = [128, 8192], xor = [1:4 with 0:0 for 3]>, #gpu.address_space<workgroup>>
// CHECK: nm.copy <direct> %{{.*}} to %[[AS]] rows %{{.*}} <pattern = <2:32, block = 64x64>, packing = <panel = 64, index_bits = 8, tile_rows = 128>, windows = 1, dim = 1>
// CHECK: nm.await <block> async_proxy
// CHECK: nm.spmm <2:32, block = 64x64> gathered [1, 2] packing
// Tensor copies take a unit each, to panels that are as wide, and write through
// wgmma's proxy.
// CHECK-LABEL: func.func @tensor
// CHECK: memref.alloc() : memref<64x128xi8, #nm.tile_layout<[64, 1], panels = [64, 4096], xor = [1:4 with 0:1 for 2]>, #gpu.address_space<workgroup>>
// CHECK: nm.copy <tensor> {{.*}} windows = 1, dim = 1>
// CHECK-NOT: async_proxy
// CHECK: nm.spmm <2:32, block = 64x64> gathered [1, 2]
func.func @direct(%a: memref<64x2048xi8>, %v: memref<1x128x64xi8>, %i: memref<1x2x1xi8>, %c: memref<64x64xi32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:32, block = 64x64> packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 128>
      schedule #nm.wgmma<block = [64, 64, 128], warpgroup = [64, 64], stages = 3, producers = 4, packing = <panel = 64, index_bits = 8, tile_rows = 128>>
      ins(%a, %v, %i : memref<64x2048xi8>, memref<1x128x64xi8>, memref<1x2x1xi8>)
      outs(%c : memref<64x64xi32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

func.func @tensor(%a: memref<64x2048xi8>, %v: memref<1x128x64xi8>, %i: memref<1x2x1xi8>, %c: memref<64x64xi32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:32, block = 64x64> packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 128>
      schedule #nm.wgmma<block = [64, 64, 128], warpgroup = [64, 64], stages = 3, producers = 4, copy_a = tensor, packing = <panel = 64, index_bits = 8, tile_rows = 128>>
      ins(%a, %v, %i : memref<64x2048xi8>, memref<1x128x64xi8>, memref<1x2x1xi8>)
      outs(%c : memref<64x64xi32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Units of 16 bytes are panels of their own, which have no swizzle.
// CHECK-LABEL: func.func @narrow
// CHECK: memref.alloc() : memref<64x128xf8E4M3FN, #nm.tile_layout<[16, 1], panels = [16, 1024]>, #gpu.address_space<workgroup>>
func.func @narrow(%a: memref<64x256xf8E4M3FN>, %v: memref<1x128x64xf8E4M3FN>, %i: memref<1x8x1xi8>, %c: memref<64x64xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:4, block = 16x64> packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 128>
      schedule #nm.wgmma<block = [64, 64, 256], warpgroup = [64, 64], stages = 3, producers = 4, copy_a = tensor, promote = true, packing = <panel = 64, index_bits = 8, tile_rows = 128>>
      ins(%a, %v, %i : memref<64x256xf8E4M3FN>, memref<1x128x64xf8E4M3FN>, memref<1x8x1xi8>)
      outs(%c : memref<64x64xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
