// RUN: nm-opt %s --nm-pack-weights --canonicalize --cse | FileCheck %s

// With `copy_a = bulk`, A is put into panels of 16 columns, whose rows are filled
// up to whole tiles: 200 to 256. Two products of one A share them.
// CHECK-LABEL: func.func @f(
// CHECK-SAME: %[[A:.*]]: tensor<200x512xi8>
// CHECK: %[[X:.*]] = tensor.expand_shape %[[A]] {{\[}}[0], [1, 2]] output_shape [200, 32, 16]
// CHECK: %[[E:.*]] = tensor.empty() : tensor<32x256x16xi8>
// CHECK: %[[S:.*]] = tensor.extract_slice %[[E]][0, 0, 0] [32, 200, 16] [1, 1, 1]
// CHECK: %[[T:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<200x32x16xi8>) outs(%[[S]] : tensor<32x200x16xi8>)
// CHECK: %[[P:.*]] = tensor.insert_slice %[[T]] into %[[E]][0, 0, 0] [32, 200, 16] [1, 1, 1]
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[P]] {{\[}}[0], [1, 2]] : tensor<32x256x16xi8> into tensor<32x4096xi8>
// CHECK-NOT: linalg.generic
// CHECK: nm.spmm <2:4, block = 16x64> panels_a 128 packing {{.*}} ins(%[[C]], {{.*}} outs(%{{.*}} : tensor<200x64xi32>)
// CHECK: nm.spmm <2:4, block = 16x64> panels_a 128 packing {{.*}} ins(%[[C]],
func.func @f(%a: tensor<200x512xi8>, %v: tensor<256x64xi8> {nm.values_of = 1 : i64}, %i: tensor<16x1xi8> {nm.indices_of = 1 : i64}, %c: tensor<200x64xi32>) -> (tensor<200x64xi32>, tensor<200x64xi32>) {
  %r = nm.spmm <2:4, block = 16x64>
    schedule #nm.wgmma<block = [128, 64, 256], warpgroup = [64, 64], stages = 3, producers = 4, copy_a = bulk, packing = <panel = 64, index_bits = 8, tile_rows = 128>>
    ins(%a, %v, %i : tensor<200x512xi8>, tensor<256x64xi8>, tensor<16x1xi8>) outs(%c : tensor<200x64xi32>) -> tensor<200x64xi32>
  %s = nm.spmm <2:4, block = 16x64>
    schedule #nm.wgmma<block = [128, 64, 256], warpgroup = [64, 64], stages = 3, producers = 4, copy_a = bulk, packing = <panel = 64, index_bits = 8, tile_rows = 128>>
    ins(%a, %v, %i : tensor<200x512xi8>, tensor<256x64xi8>, tensor<16x1xi8>) outs(%r : tensor<200x64xi32>) -> tensor<200x64xi32>
  return %r, %s : tensor<200x64xi32>, tensor<200x64xi32>
}

// Rows that are not known are filled up as well.
// CHECK-LABEL: func.func @unknown(
// CHECK: tensor.empty(%{{.*}}) : tensor<2x32x?x16xf8E4M3FN>
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2x32x?x16xf8E4M3FN>)
// CHECK: nm.spmm <2:4, block = 16x64> panels_a 128 {{.*}} : tensor<2x32x?xf8E4M3FN>
func.func @unknown(%a: tensor<2x?x512xf8E4M3FN>, %v: tensor<256x64xf8E4M3FN> {nm.values_of = 1 : i64}, %i: tensor<16x1xi8> {nm.indices_of = 1 : i64}, %c: tensor<2x?x64xf32>) -> tensor<2x?x64xf32> {
  %r = nm.spmm <2:4, block = 16x64>
    schedule #nm.wgmma<block = [128, 64, 256], warpgroup = [64, 64], stages = 3, producers = 4, copy_a = bulk, promote = true, packing = <panel = 64, index_bits = 8, tile_rows = 128>>
    ins(%a, %v, %i : tensor<2x?x512xf8E4M3FN>, tensor<256x64xf8E4M3FN>, tensor<16x1xi8>) outs(%c : tensor<2x?x64xf32>) -> tensor<2x?x64xf32>
  return %r : tensor<2x?x64xf32>
}

// Zeros fill k up to whole windows: of 528 rows, to 576.
// CHECK-LABEL: func.func @ragged(
// CHECK: tensor.empty() : tensor<36x128x16xf8E4M3FN>
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<33x128x16xf8E4M3FN>)
// CHECK: %[[REST:.*]] = tensor.extract_slice %{{.*}}[33, 0, 0] [3, 128, 16] [1, 1, 1]
// CHECK: %[[ZERO:.*]] = linalg.fill {{.*}} outs(%[[REST]] : tensor<3x128x16xf8E4M3FN>)
// CHECK: tensor.insert_slice %[[ZERO]] into %{{.*}}[33, 0, 0] [3, 128, 16] [1, 1, 1]
// CHECK: nm.spmm <2:4, block = 16x64> panels_a 128 {{.*}} : tensor<36x2048xf8E4M3FN>
func.func @ragged(%a: tensor<128x528xf8E4M3FN>, %v: tensor<288x64xf8E4M3FN> {nm.values_of = 1 : i64}, %i: tensor<18x1xi8> {nm.indices_of = 1 : i64}, %c: tensor<128x64xf32>) -> tensor<128x64xf32> {
  %r = nm.spmm <2:4, block = 16x64>
    schedule #nm.wgmma<block = [128, 64, 64], warpgroup = [64, 64], stages = 3, producers = 4, copy_a = bulk, promote = true, packing = <panel = 64, index_bits = 8, tile_rows = 32>>
    ins(%a, %v, %i : tensor<128x528xf8E4M3FN>, tensor<288x64xf8E4M3FN>, tensor<18x1xi8>) outs(%c : tensor<128x64xf32>) -> tensor<128x64xf32>
  return %r : tensor<128x64xf32>
}
