func.func @case62(%a: tensor<1x2x97xf32>, %w: tensor<383x97xf32, #nm.encoding<1:2, block = 1x256, dim = 1>>, %c: tensor<1x2x383xf32>) -> tensor<1x2x383xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<1x2x97xf32>, tensor<383x97xf32, #nm.encoding<1:2, block = 1x256, dim = 1>>) outs(%c : tensor<1x2x383xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x2x383xf32>
  return %r : tensor<1x2x383xf32>
}
