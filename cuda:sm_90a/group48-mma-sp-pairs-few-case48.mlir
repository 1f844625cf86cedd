func.func @case48(%a: tensor<104x3xbf16>, %w: tensor<104x117xbf16, #nm.encoding<1:4, block = 1x32, dim = 0>>, %c: tensor<3x117xbf16>) -> tensor<3x117xbf16> {
  %zero = arith.constant 0.0 : bf16
  %start = linalg.fill ins(%zero : bf16) outs(%c : tensor<3x117xbf16>) -> tensor<3x117xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<104x3xbf16>, tensor<104x117xbf16, #nm.encoding<1:4, block = 1x32, dim = 0>>) outs(%start : tensor<3x117xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %z: bf16):
    %p = arith.mulf %x, %y : bf16
    %s = arith.addf %z, %p : bf16
    linalg.yield %s : bf16
  } -> tensor<3x117xbf16>
  return %r : tensor<3x117xbf16>
}
