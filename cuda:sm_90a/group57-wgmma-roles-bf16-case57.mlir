func.func @case57(%a: tensor<152x42xbf16>, %w: tensor<224x152xbf16, #nm.encoding<4:5, block = 1x128, dim = 1>>, %c: tensor<42x224xbf16>) -> tensor<42x224xbf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<152x42xbf16>, tensor<224x152xbf16, #nm.encoding<4:5, block = 1x128, dim = 1>>) outs(%c : tensor<42x224xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %z: bf16):
    %p = arith.mulf %x, %y : bf16
    %s = arith.addf %z, %p : bf16
    linalg.yield %s : bf16
  } -> tensor<42x224xbf16>
  return %r : tensor<42x224xbf16>
}
