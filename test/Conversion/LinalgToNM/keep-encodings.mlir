// RUN: nm-opt %s --nm-keep-encodings --canonicalize --split-input-file | FileCheck %s
// RUN: nm-opt %s --nm-keep-encodings --canonicalize --nm-decompose-convolutions --convert-linalg-to-nm --split-input-file | FileCheck %s --check-prefix=PRODUCT

// CHECK-LABEL: func.func @filter
// CHECK: %[[W:.*]] = arith.constant dense_resource<nm.E4A7D9CF54E46633> : tensor<4x2xf32, #nm.encoding<1:2>>
// CHECK: tensor.expand_shape %[[W]] {{.*}} : tensor<4x2xf32, #nm.encoding<1:2>> into tensor<4x1x1x2xf32>
// PRODUCT-LABEL: func.func @filter
// PRODUCT: nm.spmm <1:2> transpose_a transpose_c
func.func @filter(%x: tensor<1x4x3x3xf32>, %c: tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32> {
  %w = arith.constant dense<[[1.0, 0.0], [0.0, 2.0], [0.0, 4.0], [3.0, 0.0]]> : tensor<4x2xf32, #nm.encoding<1:2>>
  %v = tensor.expand_shape %w [[0, 1, 2], [3]] output_shape [4, 1, 1, 2] : tensor<4x2xf32, #nm.encoding<1:2>> into tensor<4x1x1x2xf32>
  %e = tensor.empty() : tensor<2x4x1x1xf32>
  %f = linalg.transpose ins(%v : tensor<4x1x1x2xf32>) outs(%e : tensor<2x4x1x1xf32>) permutation = [3, 0, 1, 2]
  %r = linalg.conv_2d_nchw_fchw ins(%x, %f : tensor<1x4x3x3xf32>, tensor<2x4x1x1xf32>) outs(%c : tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  return %r : tensor<1x2x3x3xf32>
}

// -----

// Without an encoding upstream folds as before.
// CHECK-LABEL: func.func @dense
// CHECK-NEXT: arith.constant dense<{{.*}}> : tensor<2x2x1xf32>
// CHECK-NEXT: return
func.func @dense() -> tensor<2x2x1xf32> {
  %w = arith.constant dense<[[1.0, 0.0], [0.0, 2.0]]> : tensor<2x2xf32>
  %v = tensor.expand_shape %w [[0], [1, 2]] output_shape [2, 2, 1] : tensor<2x2xf32> into tensor<2x2x1xf32>
  return %v : tensor<2x2x1xf32>
}
