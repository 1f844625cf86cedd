// RUN: nm-opt %s --nm-pack-weights --nm-fuse-elementwise --canonicalize --cse | FileCheck %s

// What quantizes activations writes the panels that the product takes, so that
// these cost nothing.
// CHECK-LABEL: func.func @quantized(
// CHECK-SAME: %[[X:.*]]: tensor<256x512xf16>
// CHECK: %[[E:.*]] = tensor.expand_shape %[[X]] {{\[}}[0], [1, 2]] output_shape [256, 32, 16]
// CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%[[E]] : tensor<256x32x16xf16>) outs(%{{.*}} : tensor<32x256x16xi8>)
// CHECK: arith.fptosi
// CHECK-NOT: linalg.generic
// CHECK: %[[A:.*]] = tensor.collapse_shape %[[P]]
// CHECK: nm.spmm <2:4, block = 16x64> panels_a 128 {{.*}} ins(%[[A]],
func.func @quantized(%x: tensor<256x512xf16>, %v: tensor<256x64xi8> {nm.values_of = 1 : i64}, %i: tensor<16x1xi8> {nm.indices_of = 1 : i64}, %c: tensor<256x64xi32>) -> tensor<256x64xi32> {
  %scale = arith.constant 8.0 : f16
  %empty = tensor.empty() : tensor<256x512xi8>
  %a = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<256x512xf16>) outs(%empty : tensor<256x512xi8>) {
  ^bb0(%e: f16, %old: i8):
    %s = arith.mulf %e, %scale : f16
    %q = arith.fptosi %s : f16 to i8
    linalg.yield %q : i8
  } -> tensor<256x512xi8>
  %r = nm.spmm <2:4, block = 16x64>
    schedule #nm.wgmma<block = [128, 64, 256], warpgroup = [64, 64], stages = 3, producers = 4, copy_a = bulk, packing = <panel = 64, index_bits = 8, tile_rows = 128>>
    ins(%a, %v, %i : tensor<256x512xi8>, tensor<256x64xi8>, tensor<16x1xi8>) outs(%c : tensor<256x64xi32>) -> tensor<256x64xi32>
  return %r : tensor<256x64xi32>
}
