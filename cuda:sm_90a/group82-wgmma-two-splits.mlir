func.func @case82(%a: tensor<?x?x96xf32>, %w: tensor<96x247xf32, #nm.encoding<4:8, block = 3x64, dim = 0>>, %c: tensor<?x?x247xf32>) -> tensor<?x?x247xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<?x?x247xf32>) -> tensor<?x?x247xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<?x?x96xf32>, tensor<96x247xf32, #nm.encoding<4:8, block = 3x64, dim = 0>>) outs(%start : tensor<?x?x247xf32>) attrs = {nm.arithmetic = #nm.arithmetic<bf16x3>} {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x?x247xf32>
  return %r : tensor<?x?x247xf32>
}
