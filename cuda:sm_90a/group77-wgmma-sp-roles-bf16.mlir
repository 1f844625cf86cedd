func.func @case77(%a: tensor<299x48xbf16>, %w: tensor<39x48xbf16, #nm.encoding<2:8, block = 1x8, dim = 1>>, %c: tensor<299x39xf32>) -> tensor<299x39xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<299x48xbf16>, tensor<39x48xbf16, #nm.encoding<2:8, block = 1x8, dim = 1>>) outs(%c : tensor<299x39xf32>) {
  ^bb0(%x: bf16, %y: bf16, %z: f32):
    %x1 = arith.extf %x : bf16 to f32
    %y1 = arith.extf %y : bf16 to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<299x39xf32>
  return %r : tensor<299x39xf32>
}
