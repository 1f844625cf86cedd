// RUN: nm-opt %s --convert-nm-to-gpu | FileCheck %s

// What a release names is overwritten behind it, so that the products that read
// it are waited for, also where another op stands between.
// CHECK-LABEL: func.func @release
// CHECK: scf.for
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK-NEXT: nvvm.wgmma.wait.group.sync.aligned 0
#map = affine_map<(d0) -> (d0 floordiv 4)>
module attributes {nm.chip = #nm.chip<"sm_90a">} {
  func.func @release(%arg0: memref<256x128xf16>, %arg1: memref<1x64x128xf16>, %arg2: memref<1x64x1xi8>, %arg3: memref<128x128xf16>) {
    %cst = arith.constant 0.000000e+00 : f16
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    scf.forall (%arg4, %arg5) in (1, 1) {
      linalg.fill ins(%cst : f16) outs(%arg3 : memref<128x128xf16>)
      scf.for %arg6 = %c0 to %c256 step %c64 {
        %0 = affine.apply #map(%arg6)
        %subview = memref.subview %arg0[%arg6, 0] [64, 128] [1, 1] : memref<256x128xf16> to memref<64x128xf16, strided<[128, 1], offset: ?>>
        %subview_0 = memref.subview %arg1[0, %0, 0] [1, 16, 128] [1, 1, 1] : memref<1x64x128xf16> to memref<1x16x128xf16, strided<[8192, 128, 1], offset: ?>>
        %subview_1 = memref.subview %arg2[0, %0, 0] [1, 16, 1] [1, 1, 1] : memref<1x64x1xi8> to memref<1x16x1xi8, strided<[64, 1, 1], offset: ?>>
        %alloc = memref.alloc() : memref<16x128xf16, #nm.tile_layout<[64, 1], panels = [64, 1024], xor = [1:3 with 0:0 for 3]>, #gpu.address_space<workgroup>>
        %1 = nm.copy <direct> %subview to %alloc rows %subview_1 <pattern = <8:32, block = 1x128>, packing = <panel = 128, index_bits = 8>, windows = 2> : memref<1x16x1xi8, strided<[64, 1, 1], offset: ?>> : memref<64x128xf16, strided<[128, 1], offset: ?>> to memref<16x128xf16, #nm.tile_layout<[64, 1], panels = [64, 1024], xor = [1:3 with 0:0 for 3]>, #gpu.address_space<workgroup>> -> !nm.token
        %alloc_2 = memref.alloc() : memref<1x16x128xf16, #nm.tile_layout<[2048, 64, 1], panels = [64, 1024], xor = [2:3 with 1:0 for 3]>, #gpu.address_space<workgroup>>
        %2 = nm.copy <direct> %subview_0 to %alloc_2 : memref<1x16x128xf16, strided<[8192, 128, 1], offset: ?>> to memref<1x16x128xf16, #nm.tile_layout<[2048, 64, 1], panels = [64, 1024], xor = [2:3 with 1:0 for 3]>, #gpu.address_space<workgroup>> -> !nm.token
        %3 = nm.group %1, %2
        nm.await <block> async_proxy %3
        nm.spmm <8:32, block = 1x128> transpose_a gathered [2, 8] packing #nm.packing<panel = 128, index_bits = 8> schedule #nm.wgmma<block = [128, 128, 64], warpgroup = [128, 64], stages = 3, packing = <panel = 128, index_bits = 8>> ins(%alloc, %alloc_2, %subview_1 : memref<16x128xf16, #nm.tile_layout<[64, 1], panels = [64, 1024], xor = [1:3 with 0:0 for 3]>, #gpu.address_space<workgroup>>, memref<1x16x128xf16, #nm.tile_layout<[2048, 64, 1], panels = [64, 1024], xor = [2:3 with 1:0 for 3]>, #gpu.address_space<workgroup>>, memref<1x16x1xi8, strided<[64, 1, 1], offset: ?>>) outs(%arg3 : memref<128x128xf16>)
        %between = arith.constant 1 : index
        nm.release <block> %alloc, %alloc_2 : memref<16x128xf16, #nm.tile_layout<[64, 1], panels = [64, 1024], xor = [1:3 with 0:0 for 3]>, #gpu.address_space<workgroup>>, memref<1x16x128xf16, #nm.tile_layout<[2048, 64, 1], panels = [64, 1024], xor = [2:3 with 1:0 for 3]>, #gpu.address_space<workgroup>>
      }
    } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
    return
  }
}

