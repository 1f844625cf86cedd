func.func @case67(%a: tensor<2x3x123xf16>, %w: tensor<123x10xf16, #nm.encoding<2:4, dim = 0>>, %c: tensor<2x3x10xf32>) -> tensor<2x3x10xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<2x3x123xf16>, tensor<123x10xf16, #nm.encoding<2:4, dim = 0>>) outs(%c : tensor<2x3x10xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %x1 = arith.extf %x : f16 to f32
    %y1 = arith.extf %y : f16 to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x3x10xf32>
  return %r : tensor<2x3x10xf32>
}
