// RUN: nm-opt %s --nm-tile-to-gpu-blocks --canonicalize --cse --split-input-file | FileCheck %s

// Parts of k of products of split floats: each says what its own sums can be made again
// from, all its rows of A and their weights, and a second loop adds them up.
// CHECK-LABEL: func.func @whole_parts
// CHECK: scf.forall (%[[P:.*]], %{{.*}}, %{{.*}}) = (0, 0, 0) to (2, 128, 128) step (1, 128, 128)
// CHECK: scf.for
// CHECK: nm.spmm <8:32, block = 1x128> transpose_a {{.*}} ins(%{{.*}} : tensor<128x384xbf16>, tensor<1x96x128xbf16>, tensor<1x32x1xi8>)
// CHECK: scf.yield
// CHECK: %[[K:.*]] = affine.apply #{{.*}}(%[[P]])
// CHECK: %[[A:.*]] = tensor.extract_slice %{{.*}}[%[[K]], 0] [256, 384]
// CHECK: nm.recompute_from <8:32, block = 1x128> {{.*}} ins(%[[A]], %{{.*}} : tensor<256x384xbf16>, tensor<1x192x128xbf16>, tensor<1x64x1xi8>)
// CHECK: scf.forall
// CHECK: nm.combine
func.func @whole_parts(%a: tensor<512x384xbf16>, %v: tensor<1x384x128xbf16>, %i: tensor<1x128x1xi8>, %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %r = nm.spmm <8:32, block = 1x128> transpose_a packing #nm.packing<panel = 128, index_bits = 8, tile_rows = 32, splits = 3>
    schedule #nm.wgmma<block = [128, 128, 128], warpgroup = [128, 64], stages = 4, split_k = 2, producers = 4, blocks = 132, packing = <panel = 128, index_bits = 8, tile_rows = 32, splits = 3>>
    ins(%a, %v, %i : tensor<512x384xbf16>, tensor<1x384x128xbf16>, tensor<1x128x1xi8>) outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %r : tensor<128x128xf32>
}

// -----

// Of five tiles, the second of two parts has two, and its third is the fifth
// once more, without rows of A. Tiles of weights are whole ones nevertheless.
// CHECK-LABEL: func.func @last_part_ends_before
// CHECK: scf.for
// CHECK: tensor.extract_slice %{{.*}}[%{{.*}}, 0] [%{{.*}}, 384]
// CHECK: nm.spmm <8:32, block = 1x128> transpose_a {{.*}} ins(%{{.*}} : tensor<?x384xbf16>, tensor<1x96x128xbf16>, tensor<1x32x1xi8>)
// CHECK: nm.recompute_from <8:32, block = 1x128> {{.*}} ins(%{{.*}} : tensor<?x384xbf16>, tensor<1x?x128xbf16>, tensor<1x?x1xi8>)
func.func @last_part_ends_before(%a: tensor<600x384xbf16>, %v: tensor<1x480x128xbf16>, %i: tensor<1x160x1xi8>, %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %r = nm.spmm <8:32, block = 1x128> transpose_a packing #nm.packing<panel = 128, index_bits = 8, tile_rows = 32, splits = 3>
    schedule #nm.wgmma<block = [128, 128, 128], warpgroup = [128, 64], stages = 4, split_k = 2, producers = 4, blocks = 132, packing = <panel = 128, index_bits = 8, tile_rows = 32, splits = 3>>
    ins(%a, %v, %i : tensor<600x384xbf16>, tensor<1x480x128xbf16>, tensor<1x160x1xi8>) outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %r : tensor<128x128xf32>
}
