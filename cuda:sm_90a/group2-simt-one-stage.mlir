func.func @case2(%a: tensor<112x?xf32>, %w: tensor<112x150xf32, #nm.encoding<3:8, block = 1x8, dim = 0>>, %c: tensor<?x150xf32>) -> tensor<?x150xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<112x?xf32>, tensor<112x150xf32, #nm.encoding<3:8, block = 1x8, dim = 0>>) outs(%c : tensor<?x150xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x150xf32>
  return %r : tensor<?x150xf32>
}
