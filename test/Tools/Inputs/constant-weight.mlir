func.func @constant(%x: tensor<4x4xf32>, %y: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %w = arith.constant dense<[[1.0, 0.0], [0.0, 2.0], [3.0, 0.0], [0.0, 4.0]]> : tensor<4x2xf32>
  %r = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x2xf32>) outs(%y : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}
