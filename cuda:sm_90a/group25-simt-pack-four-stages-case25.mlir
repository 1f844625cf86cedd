func.func @case25(%a: tensor<94x144xf32>, %w: tensor<144x191xf32, #nm.encoding<9:12, block = 1x64, dim = 0>>, %c: tensor<94x191xf32>) -> tensor<94x191xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<94x191xf32>) -> tensor<94x191xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<94x144xf32>, tensor<144x191xf32, #nm.encoding<9:12, block = 1x64, dim = 0>>) outs(%start : tensor<94x191xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<94x191xf32>
  return %r : tensor<94x191xf32>
}
