func.func @twice(%x: tensor<4xbf16>) -> (tensor<4xbf16>, tensor<4xbf16>) {
  %r = arith.addf %x, %x : tensor<4xbf16>
  return %r, %r : tensor<4xbf16>, tensor<4xbf16>
}
