func.func @case29(%a: tensor<2x3x56x155xf32>, %w: tensor<160x155xf32, #nm.encoding<1:5, block = 1x64, dim = 1>>, %c: tensor<2x3x56x160xf32>) -> tensor<2x3x56x160xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<2x3x56x160xf32>) -> tensor<2x3x56x160xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<2x3x56x155xf32>, tensor<160x155xf32, #nm.encoding<1:5, block = 1x64, dim = 1>>) outs(%start : tensor<2x3x56x160xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x3x56x160xf32>
  return %r : tensor<2x3x56x160xf32>
}
