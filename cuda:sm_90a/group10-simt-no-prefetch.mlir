func.func @case10(%a: tensor<139x1xf32>, %w: tensor<114x139xf32, #nm.encoding<1:2, block = 1x2, dim = 1>>, %c: tensor<1x114xf32>) -> tensor<1x114xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<1x114xf32>) -> tensor<1x114xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<139x1xf32>, tensor<114x139xf32, #nm.encoding<1:2, block = 1x2, dim = 1>>) outs(%start : tensor<1x114xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x114xf32>
  return %r : tensor<1x114xf32>
}
