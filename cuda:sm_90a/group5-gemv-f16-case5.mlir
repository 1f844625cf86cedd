func.func @case5(%a: tensor<3x16x198xf16>, %w: tensor<198x143xf16, #nm.encoding<2:2, block = 4x4, dim = 0>>, %c: tensor<3x16x143xf16>) -> tensor<3x16x143xf16> {
  %zero = arith.constant 0.0 : f16
  %start = linalg.fill ins(%zero : f16) outs(%c : tensor<3x16x143xf16>) -> tensor<3x16x143xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<3x16x198xf16>, tensor<198x143xf16, #nm.encoding<2:2, block = 4x4, dim = 0>>) outs(%start : tensor<3x16x143xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<3x16x143xf16>
  return %r : tensor<3x16x143xf16>
}
