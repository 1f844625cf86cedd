// Tiles of A that are views: rows start where their strides and offsets say,
// whatever the sizes of what a reshape joined.

// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory | FileCheck %s

// CHECK-LABEL: func.func @joined
// CHECK: nm.copy <direct> %{{.*}} : memref<512x?xf16, strided<[1576, 1], offset: ?>>
func.func @joined(%parts: memref<512x8x197xf16>, %v: memref<1x128x64xf16>, %i: memref<1x128x1xi8>, %c: memref<1576x64xf16>) {
  %a = memref.collapse_shape %parts [[0], [1, 2]] : memref<512x8x197xf16> into memref<512x1576xf16>
  scf.forall (%b) in (25) {
    %at = affine.apply affine_map<(d) -> (d * 64)>(%b)
    %size = affine.min affine_map<(d) -> (d * -64 + 1576, 64)>(%b)
    %tile = memref.subview %a[0, %at] [512, %size] [1, 1] : memref<512x1576xf16> to memref<512x?xf16, strided<[1576, 1], offset: ?>>
    %out = memref.subview %c[%at, 0] [%size, 64] [1, 1] : memref<1576x64xf16> to memref<?x64xf16, strided<[64, 1], offset: ?>>
    nm.spmm <8:32, block = 1x64> transpose_a packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 128> schedule #nm.wgmma<block = [64, 64, 512], warpgroup = [64, 64], stages = 3, producers = 4, packing = <panel = 64, index_bits = 8, tile_rows = 128>>
      ins(%tile, %v, %i : memref<512x?xf16, strided<[1576, 1], offset: ?>>, memref<1x128x64xf16>, memref<1x128x1xi8>) outs(%out : memref<?x64xf16, strided<[64, 1], offset: ?>>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// Elements of rows that are apart go through registers.
// CHECK-LABEL: func.func @apart
// CHECK-SAME: %[[A:[^:]*]]: memref<64x64xf32, strided<[128, 2]>>
// CHECK: nm.load_tile <elements> %[[A]]
func.func @apart(%a: memref<64x64xf32, strided<[128, 2]>>, %v: memref<1x32x64xf32>, %i: memref<1x32x1xi8>, %c: memref<64x64xf32>) {
  scf.forall (%m) in (1) {
    nm.spmm <2:4, block = 1x64> transpose_a packing #nm.packing<panel = 64, index_bits = 8> schedule #nm.simt<block = [64, 64, 64], warp = [32, 64], thread = [8, 8], stages = 2, copy_a = direct, packing = <panel = 64, index_bits = 8>>
      ins(%a, %v, %i : memref<64x64xf32, strided<[128, 2]>>, memref<1x32x64xf32>, memref<1x32x1xi8>) outs(%c : memref<64x64xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}
