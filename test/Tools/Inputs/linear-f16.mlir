func.func @linear(%x: tensor<?x64xf16>, %w: tensor<64x48xf16, #nm.encoding<2:4>>) -> tensor<?x48xf16> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f16
  %m = tensor.dim %x, %c0 : tensor<?x64xf16>
  %e = tensor.empty(%m) : tensor<?x48xf16>
  %y = linalg.fill ins(%zero : f16) outs(%e : tensor<?x48xf16>) -> tensor<?x48xf16>
  %r = linalg.matmul ins(%x, %w : tensor<?x64xf16>, tensor<64x48xf16, #nm.encoding<2:4>>)
                     outs(%y : tensor<?x48xf16>) -> tensor<?x48xf16>
  return %r : tensor<?x48xf16>
}
