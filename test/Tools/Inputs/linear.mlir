func.func @linear(%x: tensor<?x64xf32>, %w: tensor<64x48xf32, #nm.encoding<2:4>>) -> tensor<?x48xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x48xf32>
  %y = linalg.fill ins(%zero : f32) outs(%e : tensor<?x48xf32>) -> tensor<?x48xf32>
  %r = linalg.matmul ins(%x, %w : tensor<?x64xf32>, tensor<64x48xf32, #nm.encoding<2:4>>)
                     outs(%y : tensor<?x48xf32>) -> tensor<?x48xf32>
  return %r : tensor<?x48xf32>
}
