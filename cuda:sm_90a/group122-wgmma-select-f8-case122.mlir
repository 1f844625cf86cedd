func.func @case122(%a: tensor<67x80xf8E4M3FN>, %w: tensor<80x160xf8E4M3FN, #nm.encoding<2:4, block = 1x48, dim = 0>>, %c: tensor<67x160xf32>) -> tensor<67x160xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<67x80xf8E4M3FN>, tensor<80x160xf8E4M3FN, #nm.encoding<2:4, block = 1x48, dim = 0>>) outs(%c : tensor<67x160xf32>) {
  ^bb0(%x: f8E4M3FN, %y: f8E4M3FN, %z: f32):
    %x1 = arith.extf %x : f8E4M3FN to f32
    %y1 = arith.extf %y : f8E4M3FN to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<67x160xf32>
  return %r : tensor<67x160xf32>
}
