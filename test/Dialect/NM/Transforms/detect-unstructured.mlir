// RUN: nm-opt %s --nm-detect-weights 2>&1 | FileCheck %s --check-prefixes=CHECK,SHARE
// RUN: nm-opt %s --nm-detect-weights=by-bytes 2>&1 | FileCheck %s --check-prefixes=CHECK,BYTES

// Of the zeros, 75 %, pattern 3:4 skips a quarter.
// CHECK: weight 'constant' (tensor<4x4xf32>) is taken as unstructured: its zeros (75.0 %) are anywhere; the sparsest N:M pattern that holds is 3:4, block = 1x2
// CHECK: arith.constant dense<{{.*}}> : tensor<4x4xf32, #nm.encoding<unstructured, kept = 4>>
func.func @anywhere(%a: tensor<2x4xf32>, %c: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %w = arith.constant dense<[[1.0, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0], [3.0, 0.0, 0.0, 0.0], [0.0, 0.0, 4.0, 0.0]]> : tensor<4x4xf32>
  %r = linalg.matmul ins(%a, %w : tensor<2x4xf32>, tensor<4x4xf32>) outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// Half of the weights are zero. On a GPU estimates say whether that is enough.
// CHECK-LABEL: @half
// SHARE: arith.constant dense<{{.*}}> : tensor<4x4xf16>
// BYTES: arith.constant dense<{{.*}}> : tensor<4x4xf16, #nm.encoding<unstructured, kept = 8>>
func.func @half(%a: tensor<1x4xf16>, %c: tensor<1x4xf16>) -> tensor<1x4xf16> {
  %w = arith.constant dense<[[1.0, 0.0, 0.0, 2.0], [2.0, 0.0, 7.0, 0.0], [3.0, 5.0, 0.0, 0.0], [4.0, 0.0, 6.0, 0.0]]> : tensor<4x4xf16>
  %r = linalg.matmul ins(%a, %w : tensor<1x4xf16>, tensor<4x4xf16>) outs(%c : tensor<1x4xf16>) -> tensor<1x4xf16>
  return %r : tensor<1x4xf16>
}

// Where a tenth of the weights are zeros, values and places take more bytes than
// dense weights in f16; where an eighth are, they take fewer in f32.
// CHECK-LABEL: @tenth
// CHECK: arith.constant dense<{{.*}}> : tensor<5x2xf16>
func.func @tenth(%a: tensor<1x5xf16>, %c: tensor<1x2xf16>) -> tensor<1x2xf16> {
  %w = arith.constant dense<[[1.0, 1.0], [1.0, 1.0], [0.0, 1.0], [1.0, 1.0], [1.0, 1.0]]> : tensor<5x2xf16>
  %r = linalg.matmul ins(%a, %w : tensor<1x5xf16>, tensor<5x2xf16>) outs(%c : tensor<1x2xf16>) -> tensor<1x2xf16>
  return %r : tensor<1x2xf16>
}

// CHECK-LABEL: @eighth
// SHARE: arith.constant dense<{{.*}}> : tensor<2x4xf32>
// BYTES: arith.constant dense<{{.*}}> : tensor<2x4xf32, #nm.encoding<unstructured, kept = 7>>
func.func @eighth(%a: tensor<1x2xf32>, %c: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %w = arith.constant dense<[[1.0, 1.0, 0.0, 1.0], [1.0, 1.0, 1.0, 1.0]]> : tensor<2x4xf32>
  %r = linalg.matmul ins(%a, %w : tensor<1x2xf32>, tensor<2x4xf32>) outs(%c : tensor<1x4xf32>) -> tensor<1x4xf32>
  return %r : tensor<1x4xf32>
}
