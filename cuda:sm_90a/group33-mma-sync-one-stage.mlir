func.func @case33(%a: tensor<3x2x12x102xf16>, %w: tensor<139x102xf16, #nm.encoding<1:2, block = 1x8, dim = 1>>, %c: tensor<3x2x12x139xf16>) -> tensor<3x2x12x139xf16> {
  %zero = arith.constant 0.0 : f16
  %start = linalg.fill ins(%zero : f16) outs(%c : tensor<3x2x12x139xf16>) -> tensor<3x2x12x139xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<3x2x12x102xf16>, tensor<139x102xf16, #nm.encoding<1:2, block = 1x8, dim = 1>>) outs(%start : tensor<3x2x12x139xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<3x2x12x139xf16>
  return %r : tensor<3x2x12x139xf16>
}
