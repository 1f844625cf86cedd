func.func @case78(%a: tensor<2x2x128x200xf16>, %w: tensor<128x192xf16, #nm.encoding<1:4, block = 1x32, dim = 0>>, %c: tensor<2x2x200x192xf16>) -> tensor<2x2x200x192xf16> {
  %zero = arith.constant 0.0 : f16
  %start = linalg.fill ins(%zero : f16) outs(%c : tensor<2x2x200x192xf16>) -> tensor<2x2x200x192xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d2)>, affine_map<(d0, d1, d2, d3, d4) -> (d4, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<2x2x128x200xf16>, tensor<128x192xf16, #nm.encoding<1:4, block = 1x32, dim = 0>>) outs(%start : tensor<2x2x200x192xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<2x2x200x192xf16>
  return %r : tensor<2x2x200x192xf16>
}
