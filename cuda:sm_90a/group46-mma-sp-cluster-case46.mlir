func.func @case46(%a: tensor<44x172xbf16>, %w: tensor<172x179xbf16, #nm.encoding<1:2, block = 1x4, dim = 0>>, %c: tensor<44x179xbf16>) -> tensor<44x179xbf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<44x172xbf16>, tensor<172x179xbf16, #nm.encoding<1:2, block = 1x4, dim = 0>>) outs(%c : tensor<44x179xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %z: bf16):
    %p = arith.mulf %x, %y : bf16
    %s = arith.addf %z, %p : bf16
    linalg.yield %s : bf16
  } -> tensor<44x179xbf16>
  return %r : tensor<44x179xbf16>
}
