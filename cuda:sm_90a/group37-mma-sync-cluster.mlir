func.func @case37(%a: tensor<3x12x75xbf16>, %w: tensor<75x65xbf16, #nm.encoding<3:5, block = 8x16, dim = 0>>, %c: tensor<3x65x12xbf16>) -> tensor<3x65x12xbf16> {
  %zero = arith.constant 0.0 : bf16
  %start = linalg.fill ins(%zero : bf16) outs(%c : tensor<3x65x12xbf16>) -> tensor<3x65x12xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d2, d1)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<3x12x75xbf16>, tensor<75x65xbf16, #nm.encoding<3:5, block = 8x16, dim = 0>>) outs(%start : tensor<3x65x12xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %z: bf16):
    %p = arith.mulf %x, %y : bf16
    %s = arith.addf %z, %p : bf16
    linalg.yield %s : bf16
  } -> tensor<3x65x12xbf16>
  return %r : tensor<3x65x12xbf16>
}
