// RUN: nm-opt %s --nm-fuse-elementwise=before-epilogues | FileCheck %s --check-prefixes=CHECK,BEFORE
// RUN: nm-opt %s --nm-fuse-elementwise | FileCheck %s --check-prefixes=CHECK,BEHIND

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

// What a sum reads of a product may be the product's epilogue, also behind a
// reshape; behind that choice it is the sum's.
// CHECK-LABEL: func.func @of_product(
// BEFORE: nm.spmm
// BEFORE: %[[E:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel"]}
// BEFORE-NEXT: ^bb0
// BEFORE-NEXT: math.absf
// BEFORE-NEXT: arith.negf
// BEFORE: %[[S:.*]] = tensor.collapse_shape %[[E]]
// BEFORE: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[S]] :
// BEFORE-NEXT: ^bb0
// BEFORE-NEXT: arith.addf
// BEHIND: nm.spmm
// BEHIND: linalg.generic {{.*}}"reduction"]}
// BEHIND-NEXT: ^bb0
// BEHIND-NEXT: math.absf
// BEHIND-NEXT: arith.negf
// BEHIND-NEXT: arith.addf
func.func @of_product(%a: tensor<8x64xf32>, %v: tensor<32x16xf32>, %i: tensor<32x16xi8>, %c: tensor<8x16xf32>) -> tensor<2xf32> {
  %zero = arith.constant 0.0 : f32
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<8x64xf32>, tensor<32x16xf32>, tensor<32x16xi8>) outs(%c : tensor<8x16xf32>) -> tensor<8x16xf32>
  %e = tensor.empty() : tensor<8x16xf32>
  %b = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%r : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = math.absf %x : f32
    linalg.yield %y : f32
  } -> tensor<8x16xf32>
  %t = tensor.expand_shape %b [[0, 1], [2]] output_shape [2, 4, 16] : tensor<8x16xf32> into tensor<2x4x16xf32>
  %u = tensor.collapse_shape %t [[0], [1, 2]] : tensor<2x4x16xf32> into tensor<2x64xf32>
  %f = tensor.empty() : tensor<2x64xf32>
  %n = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%u : tensor<2x64xf32>) outs(%f : tensor<2x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  } -> tensor<2x64xf32>
  %g = tensor.empty() : tensor<2xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<2xf32>) -> tensor<2xf32>
  %m = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]} ins(%n : tensor<2x64xf32>) outs(%h : tensor<2xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %o, %x : f32
    linalg.yield %y : f32
  } -> tensor<2xf32>
  return %m : tensor<2xf32>
}

// What no product makes is the sum's at once.
// CHECK-LABEL: func.func @of_argument(
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]}
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.negf
// CHECK-NEXT: arith.addf
func.func @of_argument(%s: tensor<2x64xf32>) -> tensor<2xf32> {
  %zero = arith.constant 0.0 : f32
  %f = tensor.empty() : tensor<2x64xf32>
  %n = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<2x64xf32>) outs(%f : tensor<2x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  } -> tensor<2x64xf32>
  %g = tensor.empty() : tensor<2xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<2xf32>) -> tensor<2xf32>
  %m = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]} ins(%n : tensor<2x64xf32>) outs(%h : tensor<2xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %o, %x : f32
    linalg.yield %y : f32
  } -> tensor<2xf32>
  return %m : tensor<2xf32>
}
