func.func @case141(%a: tensor<?x45xf16>, %w: tensor<45x118xf16, #nm.encoding<9:16, dim = 0>>, %c: tensor<?x118xf32>) -> tensor<?x118xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<?x45xf16>, tensor<45x118xf16, #nm.encoding<9:16, dim = 0>>) outs(%c : tensor<?x118xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %x1 = arith.extf %x : f16 to f32
    %y1 = arith.extf %y : f16 to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x118xf32>
  return %r : tensor<?x118xf32>
}
