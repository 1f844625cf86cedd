func.func @e3(%x: tensor<8x8xf32>, %w: tensor<8x8xf32, #nm.encoding<2:4>>) -> tensor<8x8xf32> { 
  %e = tensor.empty() : tensor<8x8xf32>
  %r = linalg.add ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32, #nm.encoding<2:4>>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32> }
