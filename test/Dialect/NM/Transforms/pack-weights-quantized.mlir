// RUN: nm-opt %s --nm-pack-weights --canonicalize --cse --split-input-file 2>%t.log | FileCheck %s
// RUN: count 0 < %t.log

// Values of four bits and metadata are packed once, in the order of f16. Of the
// eight weights of a piece, one column's, all have the same scale.
// CHECK: #[[$EACH:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-LABEL: func.func @operand.pack
// CHECK: nm.pack <2:4> #nm.sparse_operand<wgmma, bits = 4> {{.*}} -> tensor<2x3x1024xi8>, tensor<2x3x512xi8>
// CHECK-LABEL: func.func @operand(
// CHECK-SAME: %[[V:[^:]*]]: tensor<2x3x1024xi8> {nm.packed_values_of = 1 : i64}, %[[I:[^:]*]]: tensor<2x3x512xi8> {nm.packed_indices_of = 1 : i64}, %[[S:[^:]*]]: tensor<2x100xf16>
// CHECK-NOT: nm.pack
// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<2x3x256x8xf16>
// CHECK: %[[W:.*]] = linalg.generic {indexing_maps = [#[[$EACH]]], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%[[EMPTY]]
// CHECK: %[[BLOCK:.*]] = linalg.index 0
// CHECK: %[[STEP:.*]] = linalg.index 1
// CHECK: %[[PIECE:.*]] = linalg.index 2
// CHECK: %[[FIRST:.*]] = arith.muli %[[PIECE]], %c8
// CHECK: %[[POSITION:.*]] = arith.addi %[[FIRST]]
// CHECK: %[[PLACE:.*]] = arith.divui %[[POSITION]], %c2
// CHECK: %[[BYTE:.*]] = tensor.extract %[[V]][%[[BLOCK]], %[[STEP]], %[[PLACE]]]
// CHECK: %[[FIELD:.*]] = arith.shrui %[[BYTE]]
// CHECK: arith.divui %[[FIRST]], %c512
// CHECK: %[[VALUE:.*]] = arith.xori %[[FIELD]], %c8_i8
// CHECK: %[[GROUP:.*]] = arith.minui %{{.*}}, %c1
// CHECK: %[[COLUMN:.*]] = arith.minui %{{.*}}, %c99
// CHECK: %[[SCALE:.*]] = tensor.extract %[[S]][%[[GROUP]], %[[COLUMN]]]
// CHECK: %[[BITS:.*]] = arith.trunci %[[VALUE]] : i8 to i4
// CHECK: %[[EXACT:.*]] = arith.sitofp %[[BITS]] : i4 to f16
// CHECK: %[[WEIGHT:.*]] = arith.mulf %[[EXACT]], %[[SCALE]]
// CHECK: linalg.yield %[[WEIGHT]]
// CHECK: %[[PACKED:.*]] = tensor.collapse_shape %[[W]] {{\[}}[0], [1], [2, 3]]
// CHECK: nm.spmm <2:4> packing #nm.sparse_operand<wgmma> schedule #nm.wgmma_sp<{{.*}} ins(%{{.*}}, %[[PACKED]], %[[I]] :
// CHECK-NOT: scales
func.func @operand(%a: tensor<64x192xf16>, %v: tensor<96x100xi8> {nm.values_of = 1 : i64}, %i: tensor<96x100xi8> {nm.indices_of = 1 : i64},
                   %s: tensor<2x100xf16>, %c: tensor<64x100xf16>) -> tensor<64x100xf16> {
  %r = nm.spmm <2:4> schedule #nm.wgmma_sp<block = [64, 64, 64], warpgroup = [64, 64], stages = 4> quantization <bits = 4, group = 128>
    ins(%a, %v, %i : tensor<64x192xf16>, tensor<96x100xi8>, tensor<96x100xi8>) scales(%s : tensor<2x100xf16>)
    outs(%c : tensor<64x100xf16>) -> tensor<64x100xf16>
  return %r : tensor<64x100xf16>
}

// -----

// Two products share what is packed, and what it is dequantized to.
// CHECK-LABEL: func.func @shared.pack
// CHECK-COUNT-1: nm.pack
// CHECK-LABEL: func.func @shared(
// CHECK: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: %[[W:.*]] = tensor.collapse_shape
// CHECK: nm.spmm {{.*}} ins(%{{.*}}, %[[W]], %
// CHECK: nm.spmm {{.*}} ins(%{{.*}}, %[[W]], %
func.func @shared(%a: tensor<64x64xbf16>, %v: tensor<32x64xi8> {nm.values_of = 1 : i64}, %i: tensor<32x64xi8> {nm.indices_of = 1 : i64},
                  %s: tensor<1x64xbf16>, %c: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  %0 = nm.spmm <2:4> schedule #nm.wgmma_sp<block = [64, 64, 64], warpgroup = [64, 64], stages = 4> quantization <bits = 8, group = 64>
    ins(%a, %v, %i : tensor<64x64xbf16>, tensor<32x64xi8>, tensor<32x64xi8>) scales(%s : tensor<1x64xbf16>)
    outs(%c : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %1 = nm.spmm <2:4> schedule #nm.wgmma_sp<block = [64, 64, 64], warpgroup = [64, 64], stages = 4> quantization <bits = 8, group = 64>
    ins(%0, %v, %i : tensor<64x64xbf16>, tensor<32x64xi8>, tensor<32x64xi8>) scales(%s : tensor<1x64xbf16>)
    outs(%c : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return %1 : tensor<64x64xbf16>
}

// -----

// Of panels in tiles, bytes have an order of their own; lists and indices are
// packed once, too. A window of 32 rows of k has eight: 16 share a scale.
// CHECK-LABEL: func.func @tiles.pack
// CHECK: nm.pack <8:32, block = 1x64> #nm.packing<panel = 64, index_bits = 8, tile_rows = 32> {{.*}} -> tensor<2x64x64xi8>, tensor<2x64x1xi8>
// CHECK-LABEL: func.func @tiles(
// CHECK-SAME: %[[V:[^:]*]]: tensor<2x64x64xi8>
// CHECK: tensor.empty() : tensor<2x64x8x8xf16>
// CHECK: arith.xori
// CHECK: tensor.extract %[[V]]
// CHECK: arith.divui %{{.*}}, %c16
// CHECK: arith.mulf
// CHECK: nm.spmm <8:32, block = 1x64> transpose_a packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 32>
func.func @tiles(%a: tensor<256x64xf16>, %v: tensor<64x128xi8> {nm.values_of = 1 : i64}, %i: tensor<64x2xi8> {nm.indices_of = 1 : i64},
                 %s: tensor<4x100xf16>, %c: tensor<64x100xf16>) -> tensor<64x100xf16> {
  %r = nm.spmm <8:32, block = 1x64> transpose_a
    schedule #nm.wgmma<block = [64, 64, 128], warpgroup = [64, 64], stages = 4, producers = 4, packing = <panel = 64, index_bits = 8, tile_rows = 32>>
    quantization <bits = 8, group = 64>
    ins(%a, %v, %i : tensor<256x64xf16>, tensor<64x128xi8>, tensor<64x2xi8>) scales(%s : tensor<4x100xf16>)
    outs(%c : tensor<64x100xf16>) -> tensor<64x100xf16>
  return %r : tensor<64x100xf16>
}

// -----

// Scales of all of k have the longest group of whole windows, here of 40 rows.
// CHECK-LABEL: func.func @whole_column(
// CHECK: nm.spmm <2:5, block = 8x16> transpose_a packing
// CHECK-SAME: quantization <bits = 8, group = 1099511627760>
func.func @whole_column(%a: tensor<236x26xbf16>, %v: tensor<96x48xi8> {nm.values_of = 1 : i64}, %i: tensor<12x3xi8> {nm.indices_of = 1 : i64},
                        %s: tensor<1x48xbf16>, %c: tensor<26x48xbf16>) -> tensor<26x48xbf16> {
  %r = nm.spmm <2:5, block = 8x16> transpose_a
    schedule #nm.mma_sync<block = [16, 64, 240], warp = [16, 16], stages = 5, split_k = 1, cluster_k = 1, slice_k = 1, bits = 8, pack = false,
                          packing = <panel = 16, index_bits = 8, chunk_rows = 16>> quantization <bits = 8, group = 240>
    ins(%a, %v, %i : tensor<236x26xbf16>, tensor<96x48xi8>, tensor<12x3xi8>) scales(%s : tensor<1x48xbf16>)
    outs(%c : tensor<26x48xbf16>) -> tensor<26x48xbf16>
  return %r : tensor<26x48xbf16>
}
