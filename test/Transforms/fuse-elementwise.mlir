// RUN: nm-opt %s --nm-fuse-elementwise | FileCheck %s

// What makes A keeps the reshape in front of it, so that rows of A are those
// that the product has.
// CHECK-LABEL: func.func @a_of_product
// CHECK: %[[X:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] : tensor<3x145x64xi8> into tensor<435x64xi8>
// CHECK: %[[W:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<435x64xi8>) outs(%{{.*}} : tensor<64x435xf16>)
// CHECK: nm.spmm {{.*}} ins(%[[W]],
func.func @a_of_product(%a: tensor<3x145x64xi8>, %v: tensor<16x64xf16>, %i: tensor<16x1xi8>, %c: tensor<435x64xf32>) -> tensor<435x64xf32> {
  %x = tensor.collapse_shape %a [[0, 1], [2]] : tensor<3x145x64xi8> into tensor<435x64xi8>
  %e = tensor.empty() : tensor<64x435xf16>
  %w = linalg.generic {indexing_maps = [affine_map<(k, m) -> (m, k)>, affine_map<(k, m) -> (k, m)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<435x64xi8>) outs(%e : tensor<64x435xf16>) {
  ^bb0(%y: i8, %o: f16):
    %z = arith.sitofp %y : i8 to f16
    linalg.yield %z : f16
  } -> tensor<64x435xf16>
  %r = nm.spmm <8:32, block = 1x64> transpose_a ins(%w, %v, %i : tensor<64x435xf16>, tensor<16x64xf16>, tensor<16x1xi8>) outs(%c : tensor<435x64xf32>) -> tensor<435x64xf32>
  return %r : tensor<435x64xf32>
}

// All others are fused as upstream does it.
// CHECK-LABEL: func.func @others
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<3x145x64xi8>) outs(%{{.*}} : tensor<3x145x64xf32>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.sitofp %{{.*}} : i8 to f16
// CHECK-NEXT: arith.extf %{{.*}} : f16 to f32
// CHECK-NOT: linalg.generic
func.func @others(%a: tensor<3x145x64xi8>) -> tensor<435x64xf32> {
  %x = tensor.collapse_shape %a [[0, 1], [2]] : tensor<3x145x64xi8> into tensor<435x64xi8>
  %e = tensor.empty() : tensor<435x64xf16>
  %w = linalg.generic {indexing_maps = [affine_map<(k, m) -> (k, m)>, affine_map<(k, m) -> (k, m)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<435x64xi8>) outs(%e : tensor<435x64xf16>) {
  ^bb0(%y: i8, %o: f16):
    %z = arith.sitofp %y : i8 to f16
    linalg.yield %z : f16
  } -> tensor<435x64xf16>
  %f = tensor.empty() : tensor<435x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(k, m) -> (k, m)>, affine_map<(k, m) -> (k, m)>], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<435x64xf16>) outs(%f : tensor<435x64xf32>) {
  ^bb0(%y: f16, %o: f32):
    %z = arith.extf %y : f16 to f32
    linalg.yield %z : f32
  } -> tensor<435x64xf32>
  return %r : tensor<435x64xf32>
}
