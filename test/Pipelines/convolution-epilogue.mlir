// RUN: nm-compile %s --emit=nm -o - 2>/dev/null | FileCheck %s

// What follows a convolution is its product's epilogue, also of one image: a scale and a
// shift of each channel, a residual, an activation.
// CHECK-LABEL: func.func @block
// CHECK: %[[R:.*]] = nm.spmm <2:4> transpose_a transpose_c
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: arith.addf
// CHECK: arith.maximumf
// CHECK: nm.yield
// CHECK-NOT: linalg.generic
// CHECK: %[[C:.*]] = tensor.expand_shape %[[R]]
// CHECK: return %[[C]]
#all = affine_map<(n, f, y, x) -> (n, f, y, x)>
#channel = affine_map<(n, f, y, x) -> (f)>
func.func @block(%x: tensor<1x16x10x10xf32>, %w: tensor<32x144xf32, #nm.encoding<2:4, dim = 1>>, %scale: tensor<32xf32>, %shift: tensor<32xf32>, %q: tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %f = tensor.expand_shape %w [[0], [1, 2, 3]] output_shape [32, 16, 3, 3] : tensor<32x144xf32, #nm.encoding<2:4, dim = 1>> into tensor<32x16x3x3xf32>
  %e = tensor.empty() : tensor<1x32x8x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32>
  %s = linalg.conv_2d_nchw_fchw ins(%x, %f : tensor<1x16x10x10xf32>, tensor<32x16x3x3xf32>) outs(%z : tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32>
  %r = linalg.generic {indexing_maps = [#all, #channel, #channel, #all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%s, %scale, %shift, %q : tensor<1x32x8x8xf32>, tensor<32xf32>, tensor<32xf32>, tensor<1x32x8x8xf32>) outs(%e : tensor<1x32x8x8xf32>) {
  ^bb0(%a: f32, %g: f32, %b: f32, %o: f32, %old: f32):
    %0 = arith.mulf %a, %g : f32
    %1 = arith.addf %0, %b : f32
    %2 = arith.addf %1, %o : f32
    %3 = arith.maximumf %2, %zero : f32
    linalg.yield %3 : f32
  } -> tensor<1x32x8x8xf32>
  return %r : tensor<1x32x8x8xf32>
}
