func.func @case53(%a: tensor<362x4xf16>, %w: tensor<362x128xf16, #nm.encoding<1:4, block = 32x128, dim = 0>>, %c: tensor<4x128xf16>) -> tensor<4x128xf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<362x4xf16>, tensor<362x128xf16, #nm.encoding<1:4, block = 32x128, dim = 0>>) outs(%c : tensor<4x128xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<4x128xf16>
  return %r : tensor<4x128xf16>
}
