// RUN: nm-opt %s | nm-opt | FileCheck %s
// RUN: nm-opt %s --mlir-print-op-generic | nm-opt | FileCheck %s

!slots = memref<2x4x64x64xf16, #nm.tile_layout<[16384, 4096, 64, 1], panels = [64, 4096], xor = [3:3 with 2:0 for 3]>, #gpu.address_space<workgroup>>

// CHECK-LABEL: func.func @slots
// CHECK: nm.stage_stores %{{.*}} through %{{.*}} : memref<256x128xf16, strided<[4096, 1], offset: ?>> through memref<2x4x64x64xf16, #nm.tile_layout<[16384, 4096, 64, 1], panels = [64, 4096], xor = [3:3 with 2:0 for 3]>, #gpu.address_space<workgroup>>
func.func @slots(%c: memref<256x128xf16, strided<[4096, 1], offset: ?>>, %slots: !slots) -> memref<256x128xf16, strided<[4096, 1], offset: ?>> {
  %s = nm.stage_stores %c through %slots : memref<256x128xf16, strided<[4096, 1], offset: ?>> through !slots
  return %s : memref<256x128xf16, strided<[4096, 1], offset: ?>>
}

// CHECK-LABEL: func.func private @wgmma()
// CHECK: #nm.wgmma<block = [256, 128, 256], warpgroup = [256, 64], stages = 4, producers = 4, blocks = 132, group_n = 16, store_buffers = 2, packing = <panel = 128, index_bits = 8, tile_rows = 64>>
func.func private @wgmma() attributes {s = #nm.wgmma<block = [256, 128, 256], warpgroup = [256, 64], stages = 4, producers = 4, blocks = 132, group_n = 16, store_buffers = 2, packing = <panel = 128, index_bits = 8, tile_rows = 64>>}

// CHECK-LABEL: func.func private @wgmma_sp
// CHECK: #nm.wgmma_sp<producers = 4, group_n = 16, store_buffers = 2>
func.func private @wgmma_sp() attributes {s = #nm.wgmma_sp<producers = 4, group_n = 16, store_buffers = 2>}
