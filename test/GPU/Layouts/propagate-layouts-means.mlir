// RUN: nm-opt %s --nm-attach-chip --nm-propagate-layouts="product-costs=100,99" | FileCheck %s

// Threads share the places of an image whose channels are last: it is not
// transposed for their mean.
// CHECK-LABEL: func @mean
// CHECK-NOT: linalg.transpose
// CHECK: %[[C:.*]] = nm.spmm <2:4> ins(
// CHECK: %[[IMAGE:.*]] = tensor.expand_shape %[[C]]
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%[[IMAGE]] : tensor<32x7x7x512xf16>)
func.func @mean(%x: tensor<1568x64xf16>, %v: tensor<32x512xf16>, %i: tensor<32x512xi8>, %w: tensor<256x64xf16>, %j: tensor<256x64xi8>, %c: tensor<1568x512xf16>, %d: tensor<32x64xf16>) -> tensor<32x64xf16> {
  %zero = arith.constant 0.0 : f16
  %r = nm.spmm <2:4> ins(%x, %v, %i : tensor<1568x64xf16>, tensor<32x512xf16>, tensor<32x512xi8>) outs(%c : tensor<1568x512xf16>) -> tensor<1568x512xf16>
  %image = tensor.expand_shape %r [[0, 1, 2], [3]] output_shape [32, 7, 7, 512] : tensor<1568x512xf16> into tensor<32x7x7x512xf16>
  %e = tensor.empty() : tensor<32x512xf16>
  %zeros = linalg.fill ins(%zero : f16) outs(%e : tensor<32x512xf16>) -> tensor<32x512xf16>
  %s = linalg.generic {indexing_maps = [affine_map<(n, c, y, x) -> (n, y, x, c)>, affine_map<(n, c, y, x) -> (n, c)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
    ins(%image : tensor<32x7x7x512xf16>) outs(%zeros : tensor<32x512xf16>) {
  ^bb0(%a: f16, %o: f16):
    %0 = arith.addf %a, %o : f16
    linalg.yield %0 : f16
  } -> tensor<32x512xf16>
  %y = nm.spmm <2:4> ins(%s, %w, %j : tensor<32x512xf16>, tensor<256x64xf16>, tensor<256x64xi8>) outs(%d : tensor<32x64xf16>) -> tensor<32x64xf16>
  return %y : tensor<32x64xf16>
}
