func.func @case8(%a: tensor<?x?x?x315xf32>, %w: tensor<315x205xf32, #nm.encoding<56:64, block = 2x6, dim = 0>>, %c: tensor<?x?x?x205xf32>) -> tensor<?x?x?x205xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<?x?x?x205xf32>) -> tensor<?x?x?x205xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d4, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<?x?x?x315xf32>, tensor<315x205xf32, #nm.encoding<56:64, block = 2x6, dim = 0>>) outs(%start : tensor<?x?x?x205xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x?x?x205xf32>
  return %r : tensor<?x?x?x205xf32>
}
