// RUN: nm-opt %s --nm-tile-to-gpu-blocks --canonicalize --cse --split-input-file | FileCheck %s

// A tile of bytes has two of the eight kept units of a window: of a pattern that
// keeps just these, with all rows of the window. Its last window is ragged.
// CHECK-LABEL: func.func @units
// CHECK: scf.forall
// CHECK: scf.for %[[T:.*]] = %c0 to %c8 step %c1 iter_args
// CHECK: %[[W:.*]] = arith.divui %[[T]], %c4
// CHECK: %[[FIRST:.*]] = arith.muli %[[W]], %c2048
// CHECK: %[[REST:.*]] = arith.subi %c3000, %[[FIRST]]
// CHECK: %[[COUNT:.*]] = arith.minui %[[REST]], %c2048
// CHECK: %[[ROW:.*]] = arith.muli %[[T]], %c128
// CHECK: %[[UNIT:.*]] = arith.muli %[[T]], %c2
// CHECK: tensor.extract_slice %{{.*}}[0, %[[FIRST]]] [128, %[[COUNT]]]
// CHECK: tensor.extract_slice %{{.*}}[0, %[[ROW]], 0] [1, 128, 64]
// CHECK: tensor.extract_slice %{{.*}}[0, %[[UNIT]], 0] [1, 2, 1]
// CHECK: nm.spmm <2:32, block = 64x64> packing
// CHECK-SAME: tensor<128x?xi8>, tensor<1x128x64xi8>, tensor<1x2x1xi8>)
func.func @units(%a: tensor<128x3000xi8>, %v: tensor<2x1024x64xi8>, %i: tensor<2x16x1xi8>, %c: tensor<128x128xi32>) -> tensor<128x128xi32> {
  %r = nm.spmm <8:32, block = 64x64> packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 128>
    schedule #nm.wgmma<block = [128, 64, 128], warpgroup = [64, 64], stages = 4, producers = 4, packing = <panel = 64, index_bits = 8, tile_rows = 128>>
    ins(%a, %v, %i : tensor<128x3000xi8>, tensor<2x1024x64xi8>, tensor<2x16x1xi8>) outs(%c : tensor<128x128xi32>) -> tensor<128x128xi32>
  return %r : tensor<128x128xi32>
}

// -----

// A part of a unit has its rows side by side.
// CHECK-LABEL: func.func @part_of_unit
// CHECK: nm.spmm <1:1, block = 128x64> packing
// CHECK-SAME: tensor<64x128xi8>, tensor<1x128x64xi8>, tensor<1x1x1xi8>)
// Whole windows are cut as ever.
// CHECK-LABEL: func.func @windows
// CHECK: scf.for %{{.*}} = %c0 to %c1024 step %c256
// CHECK: nm.spmm <2:4, block = 16x64> packing
// CHECK-SAME: tensor<64x256xf8E4M3FN>, tensor<1x128x64xf8E4M3FN>, tensor<1x8x1xi8>)
func.func @part_of_unit(%a: tensor<64x1024xi8>, %v: tensor<1x512x64xi8>, %i: tensor<1x2x1xi8>, %c: tensor<64x64xi32>) -> tensor<64x64xi32> {
  %r = nm.spmm <2:4, block = 256x64> packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 128>
    schedule #nm.wgmma<block = [64, 64, 128], warpgroup = [64, 64], stages = 4, producers = 4, packing = <panel = 64, index_bits = 8, tile_rows = 128>>
    ins(%a, %v, %i : tensor<64x1024xi8>, tensor<1x512x64xi8>, tensor<1x2x1xi8>) outs(%c : tensor<64x64xi32>) -> tensor<64x64xi32>
  return %r : tensor<64x64xi32>
}

func.func @windows(%a: tensor<64x1024xf8E4M3FN>, %v: tensor<1x512x64xf8E4M3FN>, %i: tensor<1x32x1xi8>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = nm.spmm <2:4, block = 16x64> packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 128>
    schedule #nm.wgmma<block = [64, 64, 256], warpgroup = [64, 64], stages = 4, producers = 4, promote = true, packing = <panel = 64, index_bits = 8, tile_rows = 128>>
    ins(%a, %v, %i : tensor<64x1024xf8E4M3FN>, tensor<1x512x64xf8E4M3FN>, tensor<1x32x1xi8>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

// Beside cuBLAS, operands of our own product become f32, which has no fast
// accumulation.
// CHECK-LABEL: func.func @fast_accum
// CHECK: nm.spmm <1:1, block = 1x32> schedule #nm.cublas arithmetic <fast_accum>
// CHECK: nm.spmm <1:1, block = 1x32> schedule #nm.simt<{{[^>]*}}> ins({{.*}}xf32>
module attributes {nm.chip = #nm.chip<"sm_90a">} {
func.func @fast_accum(%a: tensor<100x64xf8E4M3FN>, %v: tensor<64x96xf8E4M3FN>, %i: tensor<64x3xi8>, %c: tensor<100x96xf32>) -> tensor<100x96xf32> {
  %r = nm.spmm <1:1, block = 1x32>
    schedule #nm.cublas<own = #nm.simt<block = [64, 128, 32], warp = [32, 64], thread = [8, 8], stages = 2>> arithmetic <fast_accum>
    ins(%a, %v, %i : tensor<100x64xf8E4M3FN>, tensor<64x96xf8E4M3FN>, tensor<64x3xi8>) outs(%c : tensor<100x96xf32>) -> tensor<100x96xf32>
  return %r : tensor<100x96xf32>
}
}
