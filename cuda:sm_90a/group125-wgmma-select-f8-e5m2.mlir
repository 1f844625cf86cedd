func.func @case125(%a: tensor<291x80xf8E5M2>, %w: tensor<288x80xf8E5M2, #nm.encoding<4:8, block = 1x256, dim = 1>>, %c: tensor<291x288xf32>) -> tensor<291x288xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<291x80xf8E5M2>, tensor<288x80xf8E5M2, #nm.encoding<4:8, block = 1x256, dim = 1>>) outs(%c : tensor<291x288xf32>) {
  ^bb0(%x: f8E5M2, %y: f8E5M2, %z: f32):
    %x1 = arith.extf %x : f8E5M2 to f32
    %y1 = arith.extf %y : f8E5M2 to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<291x288xf32>
  return %r : tensor<291x288xf32>
}
