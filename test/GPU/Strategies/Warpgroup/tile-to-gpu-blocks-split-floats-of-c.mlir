// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-tile-to-gpu-blocks --canonicalize --cse --split-input-file | FileCheck %s

#wgmma = #nm.wgmma<block = [64, 64, 64], warpgroup = [64, 64], stages = 4, producers = 4, blocks = 132, split_c = true, packing = <panel = 64, index_bits = 8, tile_rows = 16, splits = 3>>

// The blocks of a product whose C is only split for the one behind it split their
// tile, of C^T: 64 rows of m have 192 columns. C is no tensor of its own.
// CHECK-LABEL: func.func @split
// CHECK-NOT: tensor.empty() : tensor<200x128xf32>
// CHECK: %[[T:.*]] = tensor.empty() : tensor<128x768xbf16>
// CHECK: %[[R:.*]] = scf.forall (%[[M:.*]], %[[N:.*]]) = (0, 0) to (200, 128) step (64, 64) shared_outs(%[[OUT:.*]] = %[[T]])
// CHECK: %[[C:.*]] = nm.spmm <8:32, block = 1x64> transpose_a transpose_c
// CHECK: nm.recompute_from
// CHECK: %[[SLICE:.*]] = tensor.extract_slice %[[OUT]][%[[N]], %{{.*}}] [64, %{{.*}}] [1, 1] : tensor<128x768xbf16> to tensor<64x?xbf16>
// CHECK: %[[S:.*]] = nm.split_floats 3 ins(%{{.*}} : tensor<64x?xf32>) outs(%[[SLICE]] : tensor<64x?xbf16>)
// CHECK: tensor.parallel_insert_slice %[[S]] into %[[OUT]][%[[N]],
// CHECK-NOT: nm.split_floats
// CHECK: return %[[R]]
func.func @split(%a: tensor<64x768xbf16>, %v: tensor<2x48x64xbf16>, %i: tensor<2x16x1xi8>) -> tensor<128x768xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<200x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<200x128xf32>) -> tensor<200x128xf32>
  %c = nm.spmm <8:32, block = 1x64> transpose_a packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 16, splits = 3> schedule #wgmma
    ins(%a, %v, %i : tensor<64x768xbf16>, tensor<2x48x64xbf16>, tensor<2x16x1xi8>) outs(%f : tensor<200x128xf32>) -> tensor<200x128xf32>
  %t = tensor.empty() : tensor<128x768xbf16>
  %s = nm.split_floats 3 transpose ins(%c : tensor<200x128xf32>) outs(%t : tensor<128x768xbf16>) -> tensor<128x768xbf16>
  return %s : tensor<128x768xbf16>
}

// -----

#wgmma = #nm.wgmma<block = [64, 64, 64], warpgroup = [64, 64], stages = 4, producers = 4, blocks = 132, split_c = true, packing = <panel = 64, index_bits = 8, tile_rows = 16, splits = 3>>

// Where someone else takes C, too, it is stored, and split behind.
// CHECK-LABEL: func.func @taken
// CHECK: scf.forall {{.*}} -> (tensor<200x128xf32>)
// CHECK-NOT: nm.split_floats
// CHECK: mapping
// CHECK: nm.split_floats 3 transpose
func.func @taken(%a: tensor<64x768xbf16>, %v: tensor<2x48x64xbf16>, %i: tensor<2x16x1xi8>) -> (tensor<128x768xbf16>, tensor<200x128xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<200x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<200x128xf32>) -> tensor<200x128xf32>
  %c = nm.spmm <8:32, block = 1x64> transpose_a packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 16, splits = 3> schedule #wgmma
    ins(%a, %v, %i : tensor<64x768xbf16>, tensor<2x48x64xbf16>, tensor<2x16x1xi8>) outs(%f : tensor<200x128xf32>) -> tensor<200x128xf32>
  %t = tensor.empty() : tensor<128x768xbf16>
  %s = nm.split_floats 3 transpose ins(%c : tensor<200x128xf32>) outs(%t : tensor<128x768xbf16>) -> tensor<128x768xbf16>
  return %s, %c : tensor<128x768xbf16>, tensor<200x128xf32>
}

// -----

#wgmma = #nm.wgmma<block = [64, 64, 64], warpgroup = [64, 64], stages = 4, producers = 4, blocks = 132, split_c = true, packing = <panel = 64, index_bits = 8, tile_rows = 16, splits = 3>>

// What is added to a C that has values stays a product and a split.
// CHECK-LABEL: func.func @adds
// CHECK: scf.forall {{.*}} -> (tensor<200x128xf32>)
// CHECK: nm.split_floats 3 transpose
func.func @adds(%a: tensor<64x768xbf16>, %v: tensor<2x48x64xbf16>, %i: tensor<2x16x1xi8>, %f: tensor<200x128xf32>) -> tensor<128x768xbf16> {
  %c = nm.spmm <8:32, block = 1x64> transpose_a packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 16, splits = 3> schedule #wgmma
    ins(%a, %v, %i : tensor<64x768xbf16>, tensor<2x48x64xbf16>, tensor<2x16x1xi8>) outs(%f : tensor<200x128xf32>) -> tensor<200x128xf32>
  %t = tensor.empty() : tensor<128x768xbf16>
  %s = nm.split_floats 3 transpose ins(%c : tensor<200x128xf32>) outs(%t : tensor<128x768xbf16>) -> tensor<128x768xbf16>
  return %s : tensor<128x768xbf16>
}
