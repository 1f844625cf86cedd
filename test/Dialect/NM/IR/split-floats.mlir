// RUN: nm-opt %s | nm-opt | FileCheck %s
// RUN: nm-opt %s --mlir-print-op-generic | nm-opt | FileCheck %s

// CHECK-LABEL: func.func @split
// CHECK: nm.split_floats 3 transpose ins(%{{.*}} : tensor<100x512xf32>) outs(%{{.*}} : tensor<512x384xbf16>) -> tensor<512x384xbf16>
// CHECK: nm.split_floats 2 ins(%{{.*}} : memref<4x512x64xf32>) outs(%{{.*}} : memref<4x512x128xbf16>)
func.func @split(%a: tensor<100x512xf32>, %s: tensor<512x384xbf16>, %b: memref<4x512x64xf32>, %t: memref<4x512x128xbf16>) -> tensor<512x384xbf16> {
  %r = nm.split_floats 3 transpose ins(%a : tensor<100x512xf32>) outs(%s : tensor<512x384xbf16>) -> tensor<512x384xbf16>
  nm.split_floats 2 ins(%b : memref<4x512x64xf32>) outs(%t : memref<4x512x128xbf16>)
  return %r : tensor<512x384xbf16>
}

// 17 windows of 6 rows have two groups of 4 rows each.
// CHECK-LABEL: func.func @windows
// CHECK: nm.split_floats 3 transpose windows 6 ins(%{{.*}} : tensor<64x100xf32>) outs(%{{.*}} : tensor<136x192xbf16>) -> tensor<136x192xbf16>
func.func @windows(%a: tensor<64x100xf32>, %s: tensor<136x192xbf16>) -> tensor<136x192xbf16> {
  %r = nm.split_floats 3 transpose windows 6 ins(%a : tensor<64x100xf32>) outs(%s : tensor<136x192xbf16>) -> tensor<136x192xbf16>
  return %r : tensor<136x192xbf16>
}

// A of 100 rows has the columns of 128, three times.
// CHECK-LABEL: func.func @product
// CHECK: nm.pack <8:32, block = 1x128> #nm.packing<panel = 128, index_bits = 8, tile_rows = 32, splits = 3> ins(%{{.*}} : tensor<128x128xf32>, tensor<128x1xi8>)
// CHECK: nm.spmm <8:32, block = 1x128> transpose_a packing #nm.packing<panel = 128, index_bits = 8, tile_rows = 32, splits = 3> ins(%{{.*}} : tensor<512x384xbf16>, tensor<1x384x128xbf16>, tensor<1x128x1xi8>) outs(%{{.*}} : tensor<100x128xf32>)
// CHECK: nm.recompute_from <8:32, block = 1x128> packing #nm.packing<panel = 128, index_bits = 8, tile_rows = 32, splits = 3> ins(%{{.*}} : tensor<512x384xbf16>, tensor<1x384x128xbf16>, tensor<1x128x1xi8>)
func.func @product(%a: tensor<512x384xbf16>, %v: tensor<128x128xf32>, %i: tensor<128x1xi8>, %pv0: tensor<1x384x128xbf16>, %pi0: tensor<1x128x1xi8>, %c: tensor<100x128xf32>) -> tensor<100x128xf32> {
  %pv, %pi = nm.pack <8:32, block = 1x128> #nm.packing<panel = 128, index_bits = 8, tile_rows = 32, splits = 3>
    ins(%v, %i : tensor<128x128xf32>, tensor<128x1xi8>) outs(%pv0, %pi0 : tensor<1x384x128xbf16>, tensor<1x128x1xi8>)
    -> tensor<1x384x128xbf16>, tensor<1x128x1xi8>
  %r = nm.spmm <8:32, block = 1x128> transpose_a packing #nm.packing<panel = 128, index_bits = 8, tile_rows = 32, splits = 3>
    ins(%a, %pv, %pi : tensor<512x384xbf16>, tensor<1x384x128xbf16>, tensor<1x128x1xi8>) outs(%c : tensor<100x128xf32>) -> tensor<100x128xf32>
  %s = nm.recompute_from <8:32, block = 1x128> packing #nm.packing<panel = 128, index_bits = 8, tile_rows = 32, splits = 3>
    ins(%a, %pv, %pi : tensor<512x384xbf16>, tensor<1x384x128xbf16>, tensor<1x128x1xi8>) outs(%r : tensor<100x128xf32>) -> tensor<100x128xf32>
  return %s : tensor<100x128xf32>
}

// The same of a sparse operand, whose splits of a step stand one behind the
// other.
// CHECK-LABEL: func.func @sparse
// CHECK: nm.pack <1:4> #nm.sparse_operand<wgmma_pairs, splits = 3> ins(%{{.*}} : tensor<128x128xf32>, tensor<128x128xi8>)
// CHECK: nm.spmm <2:4> transpose_a packing #nm.sparse_operand<wgmma_pairs, splits = 3> schedule #nm.wgmma_sp<block = [128, 128, 64], warpgroup = [128, 64], stages = 2, producers = 4, splits = 3> ins(%{{.*}} : tensor<512x384xbf16>, tensor<2x8x6144xbf16>, tensor<2x8x512xi8>) outs(%{{.*}} : tensor<100x128xf32>)
// CHECK: nm.recompute_from <2:4> packing #nm.sparse_operand<wgmma_pairs, splits = 3> ins(
func.func @sparse(%a: tensor<512x384xbf16>, %v: tensor<128x128xf32>, %i: tensor<128x128xi8>, %pv0: tensor<2x8x6144xbf16>, %pi0: tensor<2x8x512xi8>, %c: tensor<100x128xf32>) -> tensor<100x128xf32> {
  %pv, %pi = nm.pack <1:4> #nm.sparse_operand<wgmma_pairs, splits = 3>
    ins(%v, %i : tensor<128x128xf32>, tensor<128x128xi8>) outs(%pv0, %pi0 : tensor<2x8x6144xbf16>, tensor<2x8x512xi8>)
    -> tensor<2x8x6144xbf16>, tensor<2x8x512xi8>
  %r = nm.spmm <2:4> transpose_a packing #nm.sparse_operand<wgmma_pairs, splits = 3>
    schedule #nm.wgmma_sp<block = [128, 128, 64], warpgroup = [128, 64], stages = 2, producers = 4, splits = 3>
    ins(%a, %pv, %pi : tensor<512x384xbf16>, tensor<2x8x6144xbf16>, tensor<2x8x512xi8>) outs(%c : tensor<100x128xf32>) -> tensor<100x128xf32>
  %s = nm.recompute_from <2:4> packing #nm.sparse_operand<wgmma_pairs, splits = 3>
    ins(%a, %pv, %pi : tensor<512x384xbf16>, tensor<2x8x6144xbf16>, tensor<2x8x512xi8>) outs(%r : tensor<100x128xf32>) -> tensor<100x128xf32>
  return %s : tensor<100x128xf32>
}

// CHECK-LABEL: func.func @residuals
// CHECK: nm.spmm <8:32, block = 1x64> schedule #nm.wgmma<block = [64, 64, 128], warpgroup = [64, 64], stages = 3, producers = 4, compensated = true, packing = <panel = 64, index_bits = 8, tile_rows = 32, splits = 3>> ins
// CHECK: nm.spmm <2:4> schedule #nm.wgmma_sp<block = [64, 64, 64], warpgroup = [64, 64], stages = 3, producers = 4, splits = 3, compensated = false> ins
func.func @residuals(%a: memref<64x128xf32>, %v: memref<32x64xf32>, %i: memref<32x1xi8>, %sv: memref<64x64xf32>, %si: memref<64x64xi8>, %c: memref<64x64xf32>) {
  nm.spmm <8:32, block = 1x64>
    schedule #nm.wgmma<block = [64, 64, 128], warpgroup = [64, 64], stages = 3, producers = 4, compensated = true, packing = <panel = 64, index_bits = 8, tile_rows = 32, splits = 3>>
    ins(%a, %v, %i : memref<64x128xf32>, memref<32x64xf32>, memref<32x1xi8>) outs(%c : memref<64x64xf32>)
  nm.spmm <2:4>
    schedule #nm.wgmma_sp<block = [64, 64, 64], warpgroup = [64, 64], stages = 3, producers = 4, splits = 3, compensated = false>
    ins(%a, %sv, %si : memref<64x128xf32>, memref<64x64xf32>, memref<64x64xi8>) outs(%c : memref<64x64xf32>)
  return
}
