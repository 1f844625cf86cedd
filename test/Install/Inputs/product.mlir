func.func @product(%a: tensor<5x64xf32>,
                   %b: tensor<64x48xf32, #nm.encoding<2:4>>,
                   %c: tensor<5x48xf32>) -> tensor<5x48xf32> {
  %r = linalg.matmul
    ins(%a, %b : tensor<5x64xf32>, tensor<64x48xf32, #nm.encoding<2:4>>)
    outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
  return %r : tensor<5x48xf32>
}
