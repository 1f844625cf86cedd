// RUN: nm-opt %s --nm-pack-weights | FileCheck %s
// CHECK: #[[$COLUMNS:.*]] = affine_map<()[s0] -> ((s0 ceildiv 64) * 192)>

// A product of f32 whose weights are packed as three bf16 splits takes A as
// splits, too, which are m-major and filled up: 100 rows have the columns of 128,
// three times. Two products of one A share them.
// CHECK-LABEL: func.func @f.pack
// CHECK: nm.pack <8:32, block = 1x128> #nm.packing<panel = 128, index_bits = 8, tile_rows = 32, splits = 3> ins({{.*}} : tensor<128x256xf32>, tensor<128x2xi8>) outs({{.*}} : tensor<2x384x128xbf16>, tensor<2x128x1xi8>)
// CHECK-LABEL: func.func @f(
// CHECK-SAME: %[[A:.*]]: tensor<100x512xf32>, %[[V:.*]]: tensor<2x384x128xbf16> {nm.packed_values_of = 1 : i64}, %[[I:.*]]: tensor<2x128x1xi8>
// CHECK: %[[S:.*]] = nm.split_floats 3 transpose ins(%[[A]] : tensor<100x512xf32>) outs(%{{.*}} : tensor<512x384xbf16>)
// CHECK: nm.spmm <8:32, block = 1x128> transpose_a packing #nm.packing<panel = 128, index_bits = 8, tile_rows = 32, splits = 3> {{.*}} ins(%[[S]], %[[V]], %[[I]] : {{.*}}) outs(%{{.*}} : tensor<100x256xf32>)
func.func @f(%a: tensor<100x512xf32>, %v: tensor<128x256xf32> {nm.values_of = 1 : i64}, %i: tensor<128x2xi8> {nm.indices_of = 1 : i64}, %c: tensor<100x256xf32>) -> tensor<100x256xf32> {
  %r = nm.spmm <8:32, block = 1x128>
    schedule #nm.wgmma<block = [128, 128, 128], warpgroup = [128, 64], stages = 4, producers = 4, packing = <panel = 128, index_bits = 8, tile_rows = 32, splits = 3>>
    ins(%a, %v, %i : tensor<100x512xf32>, tensor<128x256xf32>, tensor<128x2xi8>) outs(%c : tensor<100x256xf32>) -> tensor<100x256xf32>
  return %r : tensor<100x256xf32>
}

// Constants are split: 3 is 0x4040 in bf16, and 3 * 2^16 is 0x4840. What fills
// the tile up is zeros. An m-major A, of two batches, is not transposed.
// CHECK-LABEL: func.func @constant
// CHECK: arith.constant dense<"0x404840484048{{[04]+.*}}0000"> : tensor<1x32x64xbf16>
// CHECK: nm.split_floats 2 ins(%{{.*}} : tensor<2x4x64xf32>) outs(%{{.*}} : tensor<2x4x128xbf16>)
// CHECK: nm.spmm <1:4, block = 1x64> transpose_a packing {{.*}}splits = 2> {{.*}} arithmetic <bf16x3>
func.func @constant(%a: tensor<2x4x64xf32>, %c: tensor<2x64x64xf32>) -> tensor<2x64x64xf32> {
  %v = arith.constant dense<3.0> : tensor<1x64xf32>
  %i = arith.constant dense<2> : tensor<1x1xi8>
  %r = nm.spmm <1:4, block = 1x64> transpose_a
    schedule #nm.wgmma<block = [64, 64, 4], warpgroup = [64, 64], stages = 3, producers = 4, packing = <panel = 64, index_bits = 8, tile_rows = 1, splits = 2>>
    arithmetic <bf16x3>
    ins(%a, %v, %i : tensor<2x4x64xf32>, tensor<1x64xf32>, tensor<1x1xi8>) outs(%c : tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
  return %r : tensor<2x64x64xf32>
}

// Rows that are not known are filled up as well.
// CHECK-LABEL: func.func @unknown(
// CHECK: %[[M:.*]] = tensor.dim %{{.*}}, %c0
// CHECK: %[[SIZE:.*]] = affine.apply #[[$COLUMNS]]()[%[[M]]]
// CHECK: %[[E:.*]] = tensor.empty(%[[SIZE]]) : tensor<512x?xbf16>
// CHECK: nm.split_floats 3 transpose ins(%{{.*}} : tensor<?x512xf32>) outs(%[[E]] : tensor<512x?xbf16>)
func.func @unknown(%a: tensor<?x512xf32>, %v: tensor<128x256xf32> {nm.values_of = 1 : i64}, %i: tensor<128x2xi8> {nm.indices_of = 1 : i64}, %c: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %r = nm.spmm <8:32, block = 1x128>
    schedule #nm.wgmma<block = [128, 128, 128], warpgroup = [128, 64], stages = 4, producers = 4, packing = <panel = 128, index_bits = 8, tile_rows = 32, splits = 3>>
    ins(%a, %v, %i : tensor<?x512xf32>, tensor<128x256xf32>, tensor<128x2xi8>) outs(%c : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %r : tensor<?x256xf32>
}

// Of a sparse operand, too.
// CHECK-LABEL: func.func @sparse.pack
// CHECK: nm.pack <2:8> #nm.sparse_operand<wgmma_pairs, splits = 3> ins({{.*}} : tensor<128x256xf32>, tensor<128x256xi8>) outs({{.*}} : tensor<4x8x6144xbf16>, tensor<4x8x512xi8>)
// CHECK-LABEL: func.func @sparse(
// CHECK: %[[S:.*]] = nm.split_floats 3 transpose ins(%{{.*}} : tensor<100x512xf32>) outs(%{{.*}} : tensor<512x384xbf16>)
// CHECK: nm.spmm <2:4> transpose_a packing #nm.sparse_operand<wgmma_pairs, splits = 3> {{.*}} ins(%[[S]], {{.*}} outs(%{{.*}} : tensor<100x256xf32>)
func.func @sparse(%a: tensor<100x512xf32>, %v: tensor<128x256xf32> {nm.values_of = 1 : i64}, %i: tensor<128x256xi8> {nm.indices_of = 1 : i64}, %c: tensor<100x256xf32>) -> tensor<100x256xf32> {
  %r = nm.spmm <2:8>
    schedule #nm.wgmma_sp<block = [128, 128, 64], warpgroup = [128, 64], stages = 3, producers = 4, splits = 3>
    ins(%a, %v, %i : tensor<100x512xf32>, tensor<128x256xf32>, tensor<128x256xi8>) outs(%c : tensor<100x256xf32>) -> tensor<100x256xf32>
  return %r : tensor<100x256xf32>
}

// Of each group the first value is 3, and the second fills up: its splits are 0
// and -0, 0x8000. Eight values of a column stand side by side. A step has 2048
// of each split.
// CHECK-LABEL: func.func @sparse_constant
// CHECK: arith.constant dense<"0x{{(48400000|40480000)+(00000080)+}}"> : tensor<1x1x4096xbf16>
func.func @sparse_constant(%a: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %v = arith.constant dense<3.0> : tensor<16x64xf32>
  %i = arith.constant dense<0> : tensor<16x64xi8>
  %r = nm.spmm <1:4>
    schedule #nm.wgmma_sp<block = [64, 64, 64], warpgroup = [64, 64], stages = 3, producers = 4, splits = 2>
    arithmetic <bf16x3>
    ins(%a, %v, %i : tensor<64x64xf32>, tensor<16x64xf32>, tensor<16x64xi8>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
