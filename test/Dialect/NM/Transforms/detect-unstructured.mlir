// RUN: nm-opt %s --nm-detect-weights 2>&1 | FileCheck %s

// Of the zeros, 75 %, pattern 3:4 skips a quarter.
// CHECK: weight 'constant' (tensor<4x4xf32>) is taken as unstructured: its zeros (75.0 %) are anywhere; the sparsest N:M pattern that holds is 3:4, block = 1x2
// CHECK: arith.constant dense<{{.*}}> : tensor<4x4xf32, #nm.encoding<unstructured, kept = 4>>
func.func @anywhere(%a: tensor<2x4xf32>, %c: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %w = arith.constant dense<[[1.0, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0], [3.0, 0.0, 0.0, 0.0], [0.0, 0.0, 4.0, 0.0]]> : tensor<4x4xf32>
  %r = linalg.matmul ins(%a, %w : tensor<2x4xf32>, tensor<4x4xf32>) outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}
