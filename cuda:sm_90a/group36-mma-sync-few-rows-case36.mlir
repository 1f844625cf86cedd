func.func @case36(%a: tensor<2x3x64x1xbf16>, %w: tensor<64x125xbf16, #nm.encoding<3:32, block = 1x64, dim = 0>>, %c: tensor<2x3x1x125xbf16>) -> tensor<2x3x1x125xbf16> {
  %zero = arith.constant 0.0 : bf16
  %start = linalg.fill ins(%zero : bf16) outs(%c : tensor<2x3x1x125xbf16>) -> tensor<2x3x1x125xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d2)>, affine_map<(d0, d1, d2, d3, d4) -> (d4, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<2x3x64x1xbf16>, tensor<64x125xbf16, #nm.encoding<3:32, block = 1x64, dim = 0>>) outs(%start : tensor<2x3x1x125xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %z: bf16):
    %p = arith.mulf %x, %y : bf16
    %s = arith.addf %z, %p : bf16
    linalg.yield %s : bf16
  } -> tensor<2x3x1x125xbf16>
  return %r : tensor<2x3x1x125xbf16>
}
